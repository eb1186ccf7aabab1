import type { AttemptResult, ClaimedDelivery, HealthRule, NewEvent, NewWebhook } from '../../ports/index.js'

/** A rule by which nothing is ever disabled, and nobody warned. */
export const lenient: HealthRule = { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e8 }

/** A webhook for `candidate.created`. */
export function createWebhook (id: number): NewWebhook {
  return {
    id,
    name: `Webhook ${id}`,
    status: 'active',
    target_url: `https://hooks.example/${id}`,
    event_types: ['candidate.created'],
    secret: `secret-${id}`
  }
}

/** A `candidate.created` about nobody. */
export function createEvent (id: string): NewEvent {
  const nothing = { subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' }
  return { id, type: 'candidate.created', body: `{"id":"${id}"}`, ...nothing }
}

/** The lease of an attempt and the address that was attempted. */
export type Attempted = Pick<ClaimedDelivery, 'webhookId' | 'deliveryId' | 'fence' | 'targetUrl'>

/** The attempt was answered with 204. */
export function delivered ({ webhookId, deliveryId, fence, targetUrl }: Attempted): AttemptResult {
  return { webhookId, deliveryId, fence, targetUrl, outcome: 'delivered', durationMs: 20, responseStatus: 204, error: null }
}

/** The attempt was answered with 503; the next one comes in an hour unless `waits` says otherwise. */
export function retry (
  { webhookId, deliveryId, fence, targetUrl }: Attempted,
  waits: { retryInMs?: number, pauseMs?: number } = {}
): AttemptResult {
  const next = { outcome: 'retry' as const, retryInMs: 3_600_000, pauseMs: 0, ...waits }
  return { webhookId, deliveryId, fence, targetUrl, ...next, durationMs: 30, responseStatus: 503, error: 'http_status' }
}

/** The attempt timed out, or was answered with 410, and is the last. */
export function failed ({ webhookId, deliveryId, fence, targetUrl }: Attempted, { isGone = false } = {}): AttemptResult {
  const response = isGone ? { responseStatus: 410, error: 'http_status' as const } : { responseStatus: null, error: 'timeout' as const }
  return { webhookId, deliveryId, fence, targetUrl, outcome: 'failed', isGone, durationMs: 40, ...response }
}
