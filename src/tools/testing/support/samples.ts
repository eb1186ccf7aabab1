import type {
  AttemptResult, ClaimedDelivery, HealthRule, ListQuery, NewEvent, NewWebhook, SortItem, Tenant
} from '../../../core/ports/index.js'

/** A rule that never disables a webhook and never warns. */
export const lenient: HealthRule = { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e8 }

/** A rule that disables a webhook at its second failed delivery and never warns. */
export const disableAtTwo: HealthRule = { failingForSeconds: 0, failedDeliveries: 2, warnAfterSeconds: 1e8 }

/** A rule that disables a webhook at its first failed attempt. */
export const disableAtOnce: HealthRule = { failingForSeconds: 0, failedDeliveries: 0, warnAfterSeconds: 0 }

/** Returns a sort order by these fields. As in the API, `-id` means descending. */
export function order<Field extends string> (...fields: ReadonlyArray<Field | `-${Field}`>): Array<SortItem<Field>> {
  return fields.map((field) => ({
    field: field.replace('-', '') as Field, direction: field.startsWith('-') ? 'desc' : 'asc'
  }))
}

/** The query for the first 200 rows by ascending id. */
export const firstRows: ListQuery<object, 'id'> = { filter: {}, sort: order('id'), offset: 0, limit: 200 }

/** Returns a webhook for `candidate.created`. */
export function createWebhook (id: number, tenantSlug = 'acme'): NewWebhook {
  return {
    id,
    tenantSlug,
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

/** Returns the result of an attempt that got a 204. */
export function delivered (lease: Attempted): AttemptResult {
  return { ...sent(lease, 20, 204), outcome: 'delivered', error: null }
}

/** Returns the result of an attempt that got a 503. By default the next attempt is due in an hour. */
export function retry (lease: Attempted, waits: { retryInMs?: number, pauseMs?: number } = {}): AttemptResult {
  const next = { retryInMs: 3_600_000, pauseMs: 0, ...waits }
  return { ...sent(lease, 30, 503), outcome: 'retry', ...next, error: 'http_status' }
}

/** Returns the result of a last attempt, which timed out or got a 410. */
export function failed (lease: Attempted, { isGone = false } = {}): AttemptResult {
  const error = isGone ? 'http_status' : 'timeout'
  return { ...sent(lease, 40, isGone ? 410 : null), outcome: 'failed', isGone, error }
}

/** Returns the result of an attempt that could not be made. By default the delivery is due again in a minute. */
export function postponed (lease: Attempted, retryInMs = 60_000): AttemptResult {
  return { ...sent(lease, 10, null), outcome: 'postponed', retryInMs, error: 'connection' }
}

function sent<Status> (
  { webhookId, deliveryId, fence, targetUrl }: Attempted, durationMs: number, responseStatus: Status
) {
  return { webhookId, deliveryId, fence, targetUrl, durationMs, responseStatus, responseExcerpt: null }
}

/** Returns a tenant whose slug is its id. */
export function named (slug: string): Tenant {
  return { slug, id: slug }
}
