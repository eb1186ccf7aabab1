import type { WebhookEvent } from './types.js'

/** The notification is not from the service, was changed on its way, or is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/** `Headers`, or an object as Node's `request.headers`. */
type WebhookHeaders = { get (name: string): string | null } | Record<string, string | string[] | undefined>

export interface VerifyOptions {
  /**
   * How much the time of the notification may differ from now, in seconds.
   * @default 300
   */
  toleranceSeconds?: number
  /** The time, in milliseconds since the epoch. @default Date.now */
  now?: () => number
}

const signedHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/**
 * Verifies a notification by Standard Webhooks and returns its event. `body` is the body exactly as it arrived:
 * parsed and formatted again, it no longer has the same signature. Throws a `WebhookVerificationError`: respond with
 * 401.
 */
export async function verifyWebhook<Data = Record<string, unknown>> (
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {}
): Promise<WebhookEvent<Data>> {
  const [id, timestamp, signatures] = signedHeaders.map((name) => readHeader(headers, name)) as [string, string, string]
  const ageSeconds = Math.abs(now() / 1000 - Number(timestamp))
  if (!/^\d+$/.test(timestamp) || ageSeconds > toleranceSeconds) {
    throw new WebhookVerificationError(`webhook-timestamp: more than ${toleranceSeconds} seconds from now`)
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  const key = await crypto.subtle.importKey('raw', readSecret(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify'
  ])
  // While a secret is rotated, there is a signature for each secret.
  for (const signature of signatures.split(' ')) {
    const bytes = signature.startsWith('v1,') ? decodeBase64(signature.slice(3)) : null
    if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, content))) {
      return JSON.parse(text) as WebhookEvent<Data>
    }
  }
  throw new WebhookVerificationError('webhook-signature: does not match the body and the secret')
}

function readHeader (headers: WebhookHeaders, name: typeof signedHeaders[number]): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name]
  if (typeof value !== 'string') throw new WebhookVerificationError(`${name}: missing`)
  return value
}

function readSecret (secret: string): Uint8Array<ArrayBuffer> {
  const bytes = secret.startsWith('whsec_') ? decodeBase64(secret.slice('whsec_'.length)) : null
  if (bytes === null || bytes.length === 0) throw new TypeError('secret: expected whsec_ and base64')
  return bytes
}

function decodeBase64 (text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
