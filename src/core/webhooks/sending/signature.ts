import { createHmac, randomBytes } from 'node:crypto'
import type { LegacySignature } from '../../api/webhooks.js'
import { InputError } from '../../shared/errors.js'

const secretPrefix = 'whsec_'

/** Generates a signing secret: `whsec_` and 32 random bytes in base64. */
export function generateSecret (): string {
  return secretPrefix + randomBytes(32).toString('base64')
}

/** Returns whether text is a Standard Webhooks secret: `whsec_` and 24 to 64 bytes in base64. */
export function isSecret (text: string): boolean {
  const bytes = Buffer.from(text.slice(secretPrefix.length), 'base64')
  const [full, bare] = [text, secretPrefix + bytes.toString('base64')].map((one) => one.replace(/=+$/, ''))
  return full === bare && bytes.length >= 24 && bytes.length <= 64
}

/** Returns whether two secrets are the same key. The padding of base64 is optional. */
export function isSameSecret (one: string, other: string): boolean {
  return one.replace(/=+$/, '') === other.replace(/=+$/, '')
}

const hexadecimal = /^(?:whsec_)?(?:[0-9a-f]{2}){16,}$/i

/** Explains why a hexadecimal secret is probably not the receiver's key; `null` for other secrets. */
export function hintForSecret (secret: string): string | null {
  return hexadecimal.test(secret)
    ? 'it is hexadecimal, but whsec_ is followed by base64. If the receiver uses the text as its key, pass it as ' +
      'legacy.secret. If it uses the bytes, convert them: Buffer.from(secret, \'hex\').toString(\'base64\')'
    : null
}

/** The signature of another system, with its key. */
export interface LegacyKey extends LegacySignature {
  secret: string
}

/** Returns the signature with its key. Throws an `InputError` for fields that a schema cannot check. */
export function readLegacy (legacy: LegacySignature, secret: string | undefined, nowMs: number): LegacyKey {
  const key = legacy.secret ?? secret
  if (key === undefined) throw new InputError('legacy.secret', 'is required without a secret')
  assertPlaceholders('template', legacy.template, ['signature', 'id', 'timestamp'])
  assertPlaceholders('content', legacy.content, ['body', 'id', 'timestamp'])
  const { secret_encoding: encoding } = legacy
  if (encoding !== 'text' && decode(key, encoding).toString(encoding).replace(/=+$/, '') !== bare(key, encoding)) {
    const field = legacy.secret === undefined ? 'secret' : 'legacy.secret'
    const format = encoding === 'hex' ? 'hexadecimal' : 'base64'
    throw new InputError(field, `must be ${format}, because legacy.secret_encoding is ${encoding}`)
  }
  if (Date.parse(legacy.until) <= nowMs) throw new InputError('legacy.until', 'must be in the future')
  return { ...legacy, secret: key }
}

function assertPlaceholders (field: 'template' | 'content', text: string, names: [needed: string, ...string[]]): void {
  const found = [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  if (found.includes(names[0]) && found.every((name) => names.includes(name))) return
  const [needed, ...others] = names.map((name) => `{${name}}`)
  const problem = `must contain ${needed}, and no other placeholders than ${others.join(' and ')}`
  throw new InputError(`legacy.${field}`, problem)
}

function bare (secret: string, encoding: 'base64' | 'hex'): string {
  const text = secret.replace(/^whsec_/, '').replace(/=+$/, '')
  return encoding === 'hex' ? text.toLowerCase() : text
}

function decode (secret: string, encoding: 'base64' | 'hex'): Buffer {
  return Buffer.from(bare(secret, encoding), encoding)
}

/** Signs a body as the previous system did. Returns `{}` without such a signature, and from its end. */
export function signLegacy (legacy: LegacyKey | null, id: string, body: string, nowMs: number): Record<string, string> {
  if (legacy === null || nowMs >= Date.parse(legacy.until)) return {}
  const { header, algorithm, encoding, secret, secret_encoding: from } = legacy
  const timestamp = String(Math.floor(nowMs / 1000))
  const fill = (text: string, values: Record<string, string>): string =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
  const key = from === 'text' ? secret : decode(secret, from)
  const content = fill(legacy.content, { body, id, timestamp })
  const signature = createHmac(algorithm, key).update(content).digest(encoding)
  return {
    [header]: fill(legacy.template, { signature, id, timestamp }),
    ...(legacy.id_header === undefined ? {} : { [legacy.id_header]: id }),
    ...(legacy.timestamp_header === undefined ? {} : { [legacy.timestamp_header]: timestamp })
  }
}

/**
 * Signs a body as specified by Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`, once with each secret. The
 * timestamp is in seconds. The signatures are separated by spaces.
 */
export function signHeaders (secrets: readonly string[], id: string, body: string, nowMs: number) {
  const timestamp = String(Math.floor(nowMs / 1000))
  const content = `${id}.${timestamp}.${body}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
