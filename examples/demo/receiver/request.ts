import type { FastifyRequest } from 'fastify'
import { verifySignature } from './verify.js'

/** The body of a delivery. */
export interface WebhookEvent {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
  /** Only in a test from `dispatch_test`. */
  test?: true
}

/** A request to the receiver and its result. */
export interface Arrival {
  /** For example `acme`, or `acme/crm` for another webhook of acme. */
  path: string
  tenantSlug: string
  eventId: string
  eventType: string
  isTest: boolean
  isVerified: boolean
  /** Why the receiver rejected the request; empty if it did not. */
  reason: string
  /** The same in a few words. */
  label: string
  /** Signatures in the request: two during the grace period of a rotated secret. */
  signatures: number
  /** Whether the receiver had handled this event before. */
  isDuplicate: boolean
  /** The status of the receiver's response. */
  status: number
  headers: Record<string, string>
  body: string
}

const shownHeaders = ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
const shownBodyLength = 4096

/** Reads an unverified request. */
export function readArrival ({ params, headers, body }: FastifyRequest): Arrival {
  const { '*': path } = params as { '*': string }
  const text = Buffer.isBuffer(body) ? body.toString() : ''
  return {
    path,
    tenantSlug: tenantOf(path),
    eventId: String(headers['webhook-id'] ?? ''),
    eventType: /"type":"([\w.]{1,100})"/.exec(text)?.[1] ?? 'unknown',
    isTest: false,
    isVerified: false,
    reason: '',
    label: '',
    signatures: String(headers['webhook-signature'] ?? '')
      .split(' ')
      .filter((part) => part !== '').length,
    isDuplicate: false,
    status: 0,
    headers: Object.fromEntries(
      shownHeaders.filter((name) => name in headers).map((name) => [name, String(headers[name])])
    ),
    body: text.slice(0, shownBodyLength)
  }
}

/** Verifies signature and timestamp with one of the secrets. Throws a `VerificationError` unless both are valid. */
export function verify ({ body, headers }: FastifyRequest, secrets: readonly string[]): WebhookEvent {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const read = (name: string): string => String(headers[name] ?? '')
  verifySignature(
    bytes,
    { id: read('webhook-id'), timestamp: read('webhook-timestamp'), signature: read('webhook-signature') },
    secrets
  )
  return JSON.parse(bytes.toString()) as WebhookEvent
}

/** Returns the tenant of a receiver's path. */
export function tenantOf (path: string): string {
  return path.split('/')[0] ?? ''
}
