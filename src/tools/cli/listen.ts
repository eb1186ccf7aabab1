import { ApiError, type Client, createClient, type Event, type EventType } from '../../around/client/index.js'
import { omitUndefined, readField } from '../../core/shared/fields.js'
import { findNearestName } from '../../core/shared/read-options.js'
import { decodePart, parseUrl } from '../../core/shared/text.js'
import { generateEventId } from '../../core/shared/event-id.js'
import { postTest, type TestResult } from '../../core/webhooks/sending/send-test.js'
import { createSender, type Sender, type SendResult } from '../../core/webhooks/sending/sender.js'
import { generateSecret, isSecret, signHeaders } from '../../core/webhooks/sending/signature.js'
import { createAddressRule, parseTargetUrl } from '../../core/webhooks/ssrf/addresses.js'
import {
  type Context, type Flags, type Io, type LocalCommand, type Options, CommandError, UsageError
} from './command.js'
import { describeError, readMessage } from './database.js'
import { readSecret, secretOptions } from './secrets.js'
import { formatRecord, showResult, writeJsonLine, writeLines } from './terminal.js'

type LocalContext = Pick<Context, 'io' | 'flags'>

const urlVariable = 'RECRUITING_URL'

/** The options of commands that call a service's API, as its customers do. */
const serviceOptions: Options = {
  url: {
    value: 'URL',
    about: 'the API of your tenant, such as https://ats.example.com/api/v1/public/acme',
    isRequired: true,
    variables: [urlVariable]
  },
  ...secretOptions('key', 'KEY', 'your API key')
}

async function openService (context: LocalContext, signal: AbortSignal) {
  const { io, flags } = context
  const address = flags.has('url')
    ? readAddress(flags.required('url'), '--url')
    : readAddress(String(io.env[urlVariable]), urlVariable)
  const key = await readKey(context)
  const client = createClient({
    ...address,
    key,
    fetch: (input, init) => {
      const signals = [init?.signal, signal].filter((one) => one instanceof AbortSignal)
      return fetch(input, { ...init, signal: AbortSignal.any(signals) })
    },
    async sleep (ms, failure) {
      const isBusy = failure instanceof ApiError && (failure.status === 429 || failure.status === 503)
      // Other failures are shown immediately.
      if (!isBusy) throw failure
      writeLines(io.err, [`the service is busy: trying again in ${Math.ceil(ms / 1000)} s`])
      await io.sleep(ms, signal)
    }
  })
  return { client, tenantSlug: address.tenantSlug }
}

/** Errors never contain the key. */
async function readKey (context: LocalContext): Promise<string> {
  const secret = await readSecret(context, 'key')
  if (secret === null) throw new UsageError('--key: missing, set RECRUITING_API_KEY or add --key-file FILE')
  const key = secret.text.trim()
  if (!/^[\w.~+/-]+=*$/.test(key)) throw new UsageError(`${secret.source}: expected an API key`)
  return key
}

/** Splits off the tenant's slug, the last part of the path. */
function readAddress (text: string, source: string): { baseUrl: string, tenantSlug: string } {
  const [, baseUrl = '', part = ''] =
    /^(https?:\/\/[^/?#@\s]+(?:\/[^/?#\s]+)*)\/([^/?#\s]+)\/?$/.exec(text.trim()) ?? []
  const tenantSlug = decodePart(part)
  if (tenantSlug === null || tenantSlug === '' || parseUrl(baseUrl) === null) {
    throw new UsageError(`${source}: expected a URL such as https://ats.example.com/api/v1/public/acme`)
  }
  return { baseUrl, tenantSlug }
}

const remedies: Readonly<Record<number, string>> = {
  200: 'check --url',
  204: 'check --url',
  400: 'check the names in --types',
  401: "check the key and --url, which ends with the tenant's slug",
  403: 'the key needs the scope webhooks:read, and for trigger also webhooks:write',
  404: 'check --url; or the service has an older version'
}

/** Describes why a request failed in one line; `null` if the reason is not the service. */
function describeFailure (error: unknown): string | null {
  if (error instanceof ApiError) {
    const { status, code, message, details } = error
    const faults = details.map((detail) => `; ${detail.field}: ${detail.message}`).join('')
    const remedy = remedies[status]
    return `${message}${code === 'unknown' ? '' : ` (${status})`}${faults}${remedy === undefined ? '' : `: ${remedy}`}`
  }
  if (readField(error, 'name') === 'TimeoutError') return 'the service does not respond'
  const cause = readField(error, 'cause')
  if (!(error instanceof TypeError) || cause === undefined) return null
  return `the service cannot be reached: ${readMessage(cause)}`
}

/** Converts a failed request to a `CommandError`. `notFound` describes a 404. */
async function callService<Result> (call: Promise<Result>, notFound: string | null = null): Promise<Result> {
  return call.catch((error: unknown) => {
    const isNotFound = error instanceof ApiError && error.status === 404
    const text = isNotFound && notFound !== null ? notFound : describeFailure(error)
    throw text === null ? error : new CommandError(text)
  })
}

/** The timeout of a request to a receiver: the default of `delivery.timeoutMs`. */
const timeoutMs = 15_000

/** The developer chose the address: unlike a webhook's, it may be on this machine. */
const rules = { allowHttp: true, allowPrivateNames: true, isAllowedAddress: createAddressRule(['0.0.0.0/0', '::/0']) }

const forwardOptions: Options = {
  forward: { value: 'URL', about: "your receiver's URL, such as http://localhost:4000/hooks" },
  ...secretOptions('secret', 'SECRET', 'the secret of your receiver, whsec_ and base64')
}

function readReceiver (flags: Flags): string | null {
  const text = flags.text('forward')
  if (text === undefined) return null
  try {
    return parseTargetUrl(text, rules).href
  } catch (error) {
    throw new UsageError(`--forward: ${describeError(error)}`)
  }
}

/** Reads the signing secret; `null` if none is given. Errors never contain it. */
async function readSigningSecret (context: LocalContext): Promise<string | null> {
  const secret = await readSecret(context, 'secret')
  if (secret === null) return null
  const text = secret.text.trim()
  if (!isSecret(text)) throw new UsageError(`${secret.source}: expected whsec_ and 24 to 64 bytes in base64`)
  return text
}

async function withSender<Result> (signal: AbortSignal, work: (sender: Sender) => Promise<Result>): Promise<Result> {
  const sender = createSender(rules, timeoutMs)
  signal.addEventListener('abort', sender.abort)
  return work(sender).finally(() => sender.close())
}

export const listen: LocalCommand = {
  options: {
    ...serviceOptions,
    ...forwardOptions,
    types: { value: 'A,B', about: 'only events of these types; the default is all' },
    'from-oldest': {
      value: null,
      about: 'starts with the oldest event that the service keeps instead of the next one'
    },
    replay: { value: 'ID', about: 'sends the event with this id again, then exits' },
    every: { value: 'SECONDS', about: 'how often to request new events; the default is 2' },
    json: { value: null, about: 'writes each event as a line of JSON, with its data' }
  },

  async runLocally (context) {
    const { io, flags } = context
    const everyMs = 1000 * (flags.integer('every', 1, 3600) ?? 2)
    const url = readReceiver(flags)
    const secret = await readSigningSecret(context)
    return io.untilInterrupted(async (signal) => {
      const { client, tenantSlug } = await openService(context, signal)
      return withSender(signal, async (sender) => {
        const receiver = url === null ? null : { url, secret: secret ?? generateSecret(), sender }
        if (receiver !== null) {
          writeLines(io.err, [`sending to ${url}, signed with ${secret === null ? receiver.secret : 'your secret'}`])
        }
        const handle = (event: Event): Promise<boolean> => handleEvent(context, receiver, event)
        const id = flags.text('replay')
        if (id !== undefined) return (await handle(await callService(findEvent(client, id)))) ? 0 : 1
        const from = flags.has('from-oldest') ? 'oldest' : 'now'
        const greeting = `listening for events of ${tenantSlug}; press Ctrl-C to stop`
        await follow({ io, client, signal, everyMs, handle, from, types: flags.optionalList('types'), greeting })
        return 0
      })
    })
  }
}

async function findEvent (client: Client, id: string): Promise<Event> {
  const event = await client.findEvent(id)
  if (event !== null) return event
  throw new CommandError(`--replay: the service has no event ${id}, or no longer keeps it`)
}

interface Receiver {
  url: string
  secret: string
  sender: Sender
}

/** Sends an event as the service does, and shows the result. Resolves to whether it succeeded. */
async function handleEvent ({ io, flags }: LocalContext, receiver: Receiver | null, event: Event): Promise<boolean> {
  const result = receiver === null ? null : await send(receiver, event, io.now())
  // The user stopped the program.
  if (result?.error === 'aborted') return false
  const { response_status: status, error, detail, duration_ms: durationMs }: Partial<Result> = result ?? {}
  const sent = result === null ? [] : [String(status ?? detail ?? error), `${durationMs} ms`]
  if (flags.has('json')) writeJsonLine(io, { event, delivery: result })
  else writeLines(io.out, [[event.timestamp, event.type.padEnd(25), event.id, ...sent].join('  ')])
  return result === null || result.error === null
}

interface Result extends Pick<SendResult, 'error'> {
  detail: SendResult['detail'] | null
  response_status: number | null
  duration_ms: number
}

async function send ({ url, secret, sender }: Receiver, event: Event, nowMs: number): Promise<Result> {
  const body = JSON.stringify(event)
  const { responseStatus, error, detail = null, durationMs } = await sender.send({
    url,
    headers: signHeaders([secret], event.id, body, nowMs),
    body,
    timeoutMs
  })
  return { response_status: responseStatus, error, detail, duration_ms: durationMs }
}

interface Following {
  io: Io
  client: Client
  signal: AbortSignal
  everyMs: number
  handle: (event: Event) => Promise<unknown>
  from: 'oldest' | 'now'
  types: string[] | undefined
  /** Shown as soon as no event can be missed. */
  greeting: string
}

/** Handles events, in order, until the signal is aborted. Throws for permanent failures. */
async function follow ({ io, client, signal, everyMs, handle, from, types, greeting }: Following): Promise<void> {
  let token: string | null = null
  let start = from
  let shown = ''

  function show (state: string): void {
    if (state !== shown) writeLines(io.err, [state])
    shown = state
  }

  async function read (): Promise<void> {
    const place = { load: () => token, save: (next: string) => { token = next } }
    for await (const { data } of client.events({ ...omitUndefined({ types }), ...place, from: start })) {
      show(greeting)
      for (const event of data) {
        if (signal.aborted) return
        await handle(event)
      }
    }
  }

  function handleFailure (error: unknown): number {
    if (signal.aborted) return 0
    const text = describeFailure(error)
    if (text === null) throw error
    if (token !== null && error instanceof ApiError && error.code === 'sync_token_expired') {
      token = null
      start = 'now'
      show('this position has expired: some events may have been missed; continuing with new ones')
      return 0
    }
    if (error instanceof ApiError && error.status !== 429 && error.status < 500) throw new CommandError(text)
    show(text)
    return error instanceof ApiError ? error.retryAfterMs ?? 0 : 0
  }

  while (!signal.aborted) {
    const waitMs = await read().then(() => 0, handleFailure)
    await io.sleep(Math.max(everyMs, waitMs), signal)
  }
}

export const trigger: LocalCommand = {
  args: ['TYPE'],
  options: {
    ...serviceOptions,
    webhook: { value: 'ID', about: 'the service sends the test to this webhook' },
    ...forwardOptions,
    json: { value: null, about: 'writes the result as JSON' }
  },

  async runLocally (context) {
    const { io, flags, args: [type = ''] } = context
    const send = await readTarget(context)
    const result = await io.untilInterrupted(async (signal) => {
      const service = await openService(context, signal)
      return send(service, await callService(findEventType(service.client, type)), signal)
    })
    showResult({ io, flags }, result, formatRecord(result))
    return result.status === 'delivered' ? 0 : 1
  }
}

type Service = Awaited<ReturnType<typeof openService>>
type Send = (service: Service, eventType: EventType, signal: AbortSignal) => Promise<TestResult>

async function readTarget (context: LocalContext): Promise<Send> {
  const { io, flags } = context
  const webhookId = flags.integer('webhook', 1)
  const url = readReceiver(flags)
  if (webhookId !== undefined && url === null) {
    return ({ client }, { name }) =>
      callService(client.webhooks.test(webhookId, { event_type: name }), `--webhook: there is no webhook ${webhookId}`)
  }
  if (webhookId !== undefined || url === null) throw new UsageError('--webhook, --forward: add one of them')
  const secret = await readSigningSecret(context)
  if (secret === null) {
    throw new UsageError('--secret: missing, add the secret of your receiver or set RECRUITING_WEBHOOK_SECRET')
  }
  return ({ tenantSlug }, { name, example }, signal) => withSender(signal, (sender) => {
    if (example === null) throw new UsageError(`TYPE: ${name} has no example that matches its schema`)
    const tenant = { slug: tenantSlug, id: tenantSlug }
    const target = { type: name, data: example, tenant, url, secrets: [secret], headers: { own: {}, legacy: null } }
    return postTest({ sender, clock: io }, target, generateEventId(io.now()), timeoutMs)
  })
}

/** Throws a `UsageError` that names the nearest type for an unknown one. */
async function findEventType (client: Client, name: string): Promise<EventType> {
  const known: string[] = []
  for await (const { data } of client.listEventTypes({ per_page: 200 })) {
    const found = data.find((one) => one.name === name)
    if (found !== undefined) return found
    known.push(...data.map((one) => one.name))
  }
  throw new UsageError(`TYPE: there is no event ${JSON.stringify(name)}, did you mean ${findNearestName(name, known)}?`)
}
