import { isSecret } from '../webhooks/sending/signature.js'
import { type Sender, createSender } from '../webhooks/sending/sender.js'
import { createAddressRule, parseTargetUrl } from '../webhooks/ssrf/addresses.js'
import { type Context, type Flags, type Option, UsageError } from './command.js'
import { describeError } from './database.js'
import { readSecret, secretOptions } from './secrets.js'

/** The deadline of a request, as of the service. */
export const timeoutMs = 15_000

/** The developer named the address: other than for a webhook, it may be on this machine. */
const rules = { allowHttp: true, allowPrivateNames: true, isAllowedAddress: createAddressRule(['0.0.0.0/0', '::/0']) }

/** The options of commands that send events to a receiver. */
export const forwardOptions: Readonly<Record<string, Option>> = {
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
