import type { WebhookEvent } from './types.js'

/** The notification is not from the service, was changed in transit, or is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/** `Headers`, or an object with names in any case, such as Node's `request.headers`. */
type WebhookHeaders = { get (name: string): string | null } | Record<string, string | string[] | undefined>

export interface VerifyOptions {
  /**
   * Maximum difference between the notification's time and now, in seconds.
   * @default 300
   */
  toleranceSeconds?: number
  /** The time, in milliseconds since the epoch. @default Date.now */
  now?: () => number
}

const signedHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/**
 * Verifies a notification by Standard Webhooks and returns its event. `body` is the body exactly as it arrived: parsing
 * and formatting it changes the signature. Throws a `WebhookVerificationError`: respond with 401.
 */
export async function verifyWebhook<Data = Record<string, unknown>> (
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {}
): Promise<WebhookEvent<Data>> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new WebhookVerificationError('body: expected the text or bytes that arrived')
  }
  if (!Number.isFinite(toleranceSeconds)) throw new WebhookVerificationError('toleranceSeconds: expected a number')
  const [id, timestamp, signatures] = signedHeaders.map((name) => readHeader(headers, name)) as [string, string, string]
  const ageSeconds = Math.abs(now() / 1000 - Number(timestamp))
  if (!/^\d+$/.test(timestamp) || !(ageSeconds <= toleranceSeconds)) {
    throw new WebhookVerificationError(`webhook-timestamp: more than ${toleranceSeconds} seconds from now`)
  }
  const signature = await sign(`${id}.${timestamp}.`, body, secret)
  // During a rotation, there is a signature for each secret.
  if (!signatures.split(' ').some((candidate) => isSame(candidate, signature))) {
    throw new WebhookVerificationError('webhook-signature: does not match the body and the secret')
  }
  return parseEvent(body) as WebhookEvent<Data>
}

/**
 * Returns whether an event is newer than the one with this sequence, or there is none. Store the sequence of the last
 * event that you applied to each record, and skip events that are not newer: they arrived late or twice. Handle
 * `erased` first: a tombstone has the sequence of its event.
 */
export function isNewer (event: Pick<WebhookEvent, 'sequence'>, last: string | null | undefined): boolean {
  return event.sequence > (last ?? '')
}

async function sign (prefix: string, body: string | Uint8Array, secret: string): Promise<string> {
  const start = new TextEncoder().encode(prefix)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const content = new Uint8Array(start.length + bytes.length)
  content.set(start)
  content.set(bytes, start.length)
  const key = await crypto.subtle.importKey('raw', readSecret(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign'
  ])
  const digest = await crypto.subtle.sign('HMAC', key, content)
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}

/** Compares two texts in constant time. */
function isSame (candidate: string, signature: string): boolean {
  if (candidate.length !== signature.length) return false
  let difference = 0
  for (let index = 0; index < signature.length; index++) {
    difference |= candidate.charCodeAt(index) ^ signature.charCodeAt(index)
  }
  return difference === 0
}

function parseEvent (body: string | Uint8Array): object {
  try {
    const event: unknown = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))
    if (typeof event === 'object' && event !== null) return event
  } catch {
    // Reported below.
  }
  throw new WebhookVerificationError('body: expected a JSON object')
}

function readHeader (headers: WebhookHeaders, name: typeof signedHeaders[number]): string {
  const value = typeof headers.get === 'function'
    ? headers.get(name)
    : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1]
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
