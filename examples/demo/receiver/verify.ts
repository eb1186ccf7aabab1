import { createHmac, timingSafeEqual } from 'node:crypto'

export interface SignedHeaders {
  id: string
  timestamp: string
  /** Signatures with their versions, separated by spaces. */
  signature: string
}

/** Why the receiver rejects a request. */
export class VerificationError extends Error {
  /** A few words for a list. */
  readonly label: string
  readonly status: number

  constructor (label: string, message: string, status = 401) {
    super(message)
    this.label = label
    this.status = status
  }
}

const toleranceSeconds = 300

/**
 * Verifies the timestamp and the signature by Standard Webhooks, with any of the secrets. Throws a `VerificationError`
 * with the reason. Your customers use a library: examples/04-verify-webhook.ts.
 */
export function verifySignature (
  body: Buffer,
  { id, timestamp, signature }: SignedHeaders,
  secrets: readonly string[]
): void {
  if (id === '' || timestamp === '' || signature === '') {
    throw new VerificationError(
      'not signed', 'the headers webhook-id, webhook-timestamp and webhook-signature are missing')
  }
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!(ageSeconds <= toleranceSeconds)) {
    throw new VerificationError('old timestamp', `the timestamp is more than ${toleranceSeconds / 60} minutes off`)
  }
  const given = signature.split(' ').map((part) => Buffer.from(part))
  const isSigned = secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const expected = Buffer.from(
      `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
    )
    return given.some((part) => part.length === expected.length && timingSafeEqual(part, expected))
  })
  if (isSigned) return
  throw new VerificationError(
    'no trusted secret matches',
    'none of the receiver\'s secrets matches the signature. If the webhook is yours, add its secret to the receiver'
  )
}
