import type { AttemptResult, ClaimedDelivery, HealthRule, ListQuery, NewEvent, NewWebhook } from '../../ports/index.js'

/** A rule that never disables a webhook and never warns. */
export const lenient: HealthRule = { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e8 }

/** A rule that disables a webhook at its second failed delivery and never warns. */
export const disableAtTwo: HealthRule = { failingForSeconds: 0, failedDeliveries: 2, warnAfterSeconds: 1e8 }

/** A rule that disables a webhook at its first failed attempt. */
export const disableAtOnce: HealthRule = { failingForSeconds: 0, failedDeliveries: 0, warnAfterSeconds: 0 }

/** The query for the first 200 rows by ascending id. */
export const firstRows: ListQuery<object, 'id'> = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200 }

/** Returns a webhook for `candidate.created`. */
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

/** Returns a `candidate.created` event without a subject. */
export function createEvent (id: string): NewEvent {
  const nothing = { subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' }
  return { id, type: 'candidate.created', body: `{"id":"${id}"}`, ...nothing }
}

/** The lease of an attempt, and its address. */
export type Attempted = Pick<ClaimedDelivery, 'webhookId' | 'deliveryId' | 'fence' | 'targetUrl'>

/** Returns the result of an attempt answered with 204. */
export function delivered ({ webhookId, deliveryId, fence, targetUrl }: Attempted): AttemptResult {
  return { webhookId, deliveryId, fence, targetUrl, outcome: 'delivered', durationMs: 20, responseStatus: 204, error: null, responseExcerpt: null }
}

/** Returns the result of an attempt answered with 503. By default the next attempt is due in an hour. */
export function retry (
  { webhookId, deliveryId, fence, targetUrl }: Attempted,
  waits: { retryInMs?: number, pauseMs?: number } = {}
): AttemptResult {
  const next = { outcome: 'retry' as const, retryInMs: 3_600_000, pauseMs: 0, ...waits }
  return { webhookId, deliveryId, fence, targetUrl, ...next, durationMs: 30, responseStatus: 503, error: 'http_status', responseExcerpt: null }
}

/** Returns the result of a last attempt, which timed out or was answered with 410. */
export function failed ({ webhookId, deliveryId, fence, targetUrl }: Attempted, { isGone = false } = {}): AttemptResult {
  const response = isGone ? { responseStatus: 410, error: 'http_status' as const } : { responseStatus: null, error: 'timeout' as const }
  return { webhookId, deliveryId, fence, targetUrl, outcome: 'failed', isGone, durationMs: 40, ...response, responseExcerpt: null }
}
