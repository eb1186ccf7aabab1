import { ApiError, type Client, createClient } from '../client/index.js'
import { readField } from '../shared/fields.js'
import { parseUrl } from '../shared/text.js'
import { type Sender, createSender } from '../webhooks/sending/sender.js'
import { isSecret } from '../webhooks/sending/signature.js'
import { createAddressRule, parseTargetUrl } from '../webhooks/ssrf/addresses.js'
import { type Context, type Io, type Options, RefusedError, UsageError, type Flags } from './command.js'
import { readMessage, describeError } from './database.js'
import { readSecret, secretOptions } from './secrets.js'
import { writeLines } from './terminal.js'

const urlVariable = 'RECRUITING_URL'

/** The options of commands that call the API of a service, as its customers do. */
export const serviceOptions: Options = {
  url: {
    value: 'URL',
    about: 'the API of your tenant, such as https://ats.example.com/api/v1/public/acme',
    isRequired: true,
    variables: [urlVariable]
  },
  ...secretOptions('key', 'KEY', 'your API key')
}

/** The API of one tenant. */
export interface Service {
  client: Client
  tenantSlug: string
}

/** Opens the service of the options. Its requests end when the signal is aborted. */
export async function openService (context: Pick<Context, 'io' | 'flags'>, signal: AbortSignal): Promise<Service> {
  const { io, flags } = context
  const address = readAddress(
    flags.has('url')
      ? { text: flags.required('url'), source: '--url' }
      : { text: String(io.env[urlVariable]), source: urlVariable }
  )
  const key = await readKey(context)
  const client = createClient({
    ...address,
    key,
    fetch: (input, init) =>
      fetch(input, {
        ...init,
        signal: AbortSignal.any([init?.signal, signal].filter((one) => one instanceof AbortSignal))
      }),
    sleep: (ms, failure) => {
      const isBusy = failure instanceof ApiError && (failure.status === 429 || failure.status === 503)
      // The user sees other failures at once.
      return isBusy ? waitForService(io, ms, signal) : Promise.reject(failure)
    }
  })
  return { client, tenantSlug: address.tenantSlug }
}

/** Errors never contain the key. */
async function readKey (context: Pick<Context, 'io' | 'flags'>): Promise<string> {
  const secret = await readSecret(context, 'key')
  if (secret === null) throw new UsageError('--key: missing, set RECRUITING_API_KEY or add --key-file FILE')
  const key = secret.text.trim()
  if (!/^[\w.~+/-]+=*$/.test(key)) throw new UsageError(`${secret.source}: expected an API key`)
  return key
}

function waitForService (io: Io, ms: number, signal: AbortSignal): Promise<void> {
  writeLines(io.err, [`the service is busy: trying again in ${Math.ceil(ms / 1000)} s`])
  return io.sleep(ms, signal)
}

/** Separates the name of the tenant, which is the last part of the path. */
function readAddress ({ text, source }: { text: string, source: string }): { baseUrl: string, tenantSlug: string } {
  const [, baseUrl = '', part = ''] =
    /^(https?:\/\/[^/?#@\s]+(?:\/[^/?#\s]+)*)\/([^/?#\s]+)\/?$/.exec(text.trim()) ?? []
  const tenantSlug = decodePart(part)
  if (tenantSlug === '' || parseUrl(baseUrl) === null) {
    throw new UsageError(`${source}: expected a URL such as https://ats.example.com/api/v1/public/acme`)
  }
  return { baseUrl, tenantSlug }
}

/** Decodes a part of a path; '' for one that is malformed. */
function decodePart (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

const remedies: Readonly<Record<number, string>> = {
  200: 'check --url',
  204: 'check --url',
  400: 'check the names in --types',
  401: 'check the key and --url, which ends in the name of the tenant',
  403: 'the key needs the scope webhooks:read, for trigger also webhooks:write',
  404: 'check --url; or the service has an older version'
}

/** Describes why a request failed in one line; `null` if the reason is not the service. */
export function describeFailure (error: unknown): string | null {
  if (error instanceof ApiError) {
    const { status, code, message, details } = error
    const faults = details.map((detail) => `; ${detail.field}: ${detail.message}`).join('')
    const remedy = remedies[status]
    return `${message}${code === 'unknown' ? '' : ` (${status})`}${faults}${remedy === undefined ? '' : `: ${remedy}`}`
  }
  if (readField(error, 'name') === 'TimeoutError') return 'the service does not respond'
  const cause = readField(error, 'cause')
  return error instanceof TypeError && cause !== undefined
    ? `the service cannot be reached: ${readMessage(cause)}`
    : null
}

/** Whether a request that failed may succeed later. */
export function isTemporary (error: unknown): boolean {
  return error instanceof ApiError
    ? error.status === 429 || error.status >= 500
    : describeFailure(error) !== null
}

/** Turns the failure of a request into the refusal of the command. `notFound` describes a 404. */
export async function callService<Result> (call: Promise<Result>, notFound: string | null = null): Promise<Result> {
  return call.catch((error: unknown) => {
    const isNotFound = error instanceof ApiError && error.status === 404
    const text = isNotFound && notFound !== null ? notFound : describeFailure(error)
    throw text === null ? error : new RefusedError(text)
  })
}

/** The deadline of a request, as of the service. */
export const timeoutMs = 15_000

/** The developer named the address: other than for a webhook, it may be on this machine. */
const rules = { allowHttp: true, allowPrivateNames: true, isAllowedAddress: createAddressRule(['0.0.0.0/0', '::/0']) }

/** The options of commands that send events to a receiver. */
export const forwardOptions: Options = {
  forward: { value: 'URL', about: 'where your receiver is, such as http://localhost:4000/hooks' },
  ...secretOptions('secret', 'SECRET', 'the secret of your receiver, whsec_ and base64')
}

/** Reads the address of `--forward`; `null` without it. */
export function readReceiver (flags: Flags): string | null {
  const text = flags.text('forward')
  if (text === undefined) return null
  try {
    return parseTargetUrl(text, rules).href
  } catch (error) {
    throw new UsageError(`--forward: ${describeError(error)}`)
  }
}

/** Reads the secret that signs; `null` if none is given. Errors never contain it. */
export async function readSigningSecret (context: Pick<Context, 'io' | 'flags'>): Promise<string | null> {
  const secret = await readSecret(context, 'secret')
  if (secret === null) return null
  const text = secret.text.trim()
  if (!isSecret(text)) throw new UsageError(`${secret.source}: expected whsec_ and 24 to 64 bytes in base64`)
  return text
}

/** Runs a task with the sender of the service, whose requests end when the signal is aborted. */
export async function withSender<Result> (
  signal: AbortSignal,
  work: (sender: Sender) => Promise<Result>
): Promise<Result> {
  const sender = createSender(rules, timeoutMs)
  signal.addEventListener('abort', sender.abort)
  return work(sender).finally(() => sender.close())
}
