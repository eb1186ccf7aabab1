import type { FastifyRequest } from 'fastify'
import type { Webhook } from 'standardwebhooks'

/** The body of every delivery. */
export interface WebhookEvent {
  id: string
  type: string
  timestamp: string
  data: Record<string, unknown>
  /** Only in a test from `dispatch_test`. */
  test?: true
}

/** A request to the receiver, and what the receiver did with it. */
export interface Arrival {
  /** For example `acme`, or `acme/crm` for another webhook of acme. */
  path: string
  tenantSlug: string
  /** The webhook that points to the path. */
  webhookId: number | null
  eventId: string
  eventType: string
  isTest: boolean
  isVerified: boolean
  /** Why the signature is invalid; empty if it is valid. */
  reason: string
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

/** Reads a request that is not verified yet. */
export function readArrival ({ params, headers, body }: FastifyRequest): Arrival {
  const { '*': path } = params as { '*': string }
  const text = Buffer.isBuffer(body) ? body.toString() : ''
  return {
    path,
    tenantSlug: tenantOf(path),
    webhookId: null,
    eventId: String(headers['webhook-id'] ?? ''),
    eventType: /"type":"([\w.]{1,100})"/.exec(text)?.[1] ?? 'unknown',
    isTest: false,
    isVerified: false,
    reason: '',
    signatures: String(headers['webhook-signature'] ?? '').split(' ').filter((part) => part !== '').length,
    isDuplicate: false,
    status: 0,
    headers: Object.fromEntries(shownHeaders.filter((name) => name in headers).map((name) => [name, String(headers[name])])),
    body: text.slice(0, shownBodyLength)
  }
}

/** Verifies the signature and the timestamp. Throws unless both are valid. */
export function verify ({ body, headers }: FastifyRequest, verifier: Webhook | undefined): WebhookEvent {
  if (verifier === undefined) throw new Error('no webhook points to this path')
  if (!Buffer.isBuffer(body)) throw new Error('the body is missing')
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const signature = Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]))
  return verifier.verify(body, signature) as WebhookEvent
}

/** Returns the tenant of a path of the receiver. */
export function tenantOf (path: string): string {
  return path.split('/')[0] ?? ''
}
