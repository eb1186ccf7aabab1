import { createHmac, randomBytes } from 'node:crypto'

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
