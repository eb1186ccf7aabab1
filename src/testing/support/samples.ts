import type {
  AttemptResult,
  ClaimedDelivery,
  HealthRule,
  Id,
  IdKind,
  ListQuery,
  NewEvent,
  NewWebhook,
  Tenant
} from '../../ports/index.js'

/** The form of ids. */
export type IdForm = 'integer' | 'text' | 'uuid'

// In code point order. A storage that orders by a language or ignores letter case confuses some of them.
const digits = '!\'*-09AMZ\\_abmz~'

/** Returns the form of ids of a kind. */
export function findForm (kind: IdKind, hasUuids: boolean): IdForm {
  if (kind === 'integer') return 'integer'
  return hasUuids ? 'uuid' : 'text'
}

/** Returns the id that stands for a positive integer. The ids are in the order of their integers. */
export function toSampleId (number: number, form: IdForm): Id {
  if (form === 'integer') return number
  const hex = number.toString(16).padStart(16, '0')
  if (form === 'text') return hex.replace(/./g, (digit) => digits.charAt(Number.parseInt(digit, 16)))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-8${hex.slice(15)}00-000000000000`
}

/** Returns the integer that an id stands for, or text that shows the id if it stands for none. */
export function fromSampleId (id: unknown, form: IdForm): unknown {
  if (form === 'integer') return id
  if (typeof id !== 'string') return `${typeof id} ${String(id)}`
  const hex =
    form === 'text' ? Array.from(id, (digit) => digits.indexOf(digit).toString(16)).join('') : id.replaceAll('-', '')
  const number = Number.parseInt(
    form === 'text' ? hex : `${hex.slice(0, 12)}${hex.slice(13, 16)}${hex.slice(17, 18)}`,
    16
  )
  return toSampleId(number, form) === id ? number : id
}

/** A rule that never disables a webhook and never warns. */
export const lenient: HealthRule = { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e8 }

/** A rule that disables a webhook at its second failed delivery and never warns. */
export const disableAtTwo: HealthRule = { failingForSeconds: 0, failedDeliveries: 2, warnAfterSeconds: 1e8 }

/** A rule that disables a webhook at its first failed attempt. */
export const disableAtOnce: HealthRule = { failingForSeconds: 0, failedDeliveries: 0, warnAfterSeconds: 0 }

/** The query for the first 200 rows by ascending id. */
export const firstRows: ListQuery<object, 'id'> = {
  filter: {},
  sort: [{ field: 'id', direction: 'asc' }],
  offset: 0,
  limit: 200
}

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
export function delivered ({ webhookId, deliveryId, fence, targetUrl }: Attempted): AttemptResult {
  return {
    webhookId,
    deliveryId,
    fence,
    targetUrl,
    outcome: 'delivered',
    durationMs: 20,
    responseStatus: 204,
    error: null,
    responseExcerpt: null
  }
}

/** Returns the result of an attempt that got a 503. By default the next attempt is due in an hour. */
export function retry (
  { webhookId, deliveryId, fence, targetUrl }: Attempted,
  waits: { retryInMs?: number, pauseMs?: number } = {}
): AttemptResult {
  const next = { outcome: 'retry' as const, retryInMs: 3_600_000, pauseMs: 0, ...waits }
  return {
    webhookId,
    deliveryId,
    fence,
    targetUrl,
    ...next,
    durationMs: 30,
    responseStatus: 503,
    error: 'http_status',
    responseExcerpt: null
  }
}

/** Returns the result of a last attempt, which timed out or got a 410. */
export function failed (
  { webhookId, deliveryId, fence, targetUrl }: Attempted, { isGone = false } = {}
): AttemptResult {
  const response = isGone
    ? { responseStatus: 410, error: 'http_status' as const }
    : { responseStatus: null, error: 'timeout' as const }
  return {
    webhookId,
    deliveryId,
    fence,
    targetUrl,
    outcome: 'failed',
    isGone,
    durationMs: 40,
    ...response,
    responseExcerpt: null
  }
}

/** Returns a tenant whose slug is its id. */
export function named (slug: string): Tenant {
  return { slug, id: slug }
}
