import { RecruitingApiError } from '../errors.js'
import type { NewEvent, RecordedEvent } from '../ports/index.js'
import type { PgQueryable } from './pool.js'

/** The statement that records an event; `schema` is quoted. */
export function recordText (schema: string): string {
  return `select id, deliveries, fingerprint from ${schema}.record_event($1, $2, $3, $4, $5, $6, $7, $8)`
}

/** The values of `recordText`. */
export function recordValues (tenantSlug: string, event: NewEvent): unknown[] {
  const { id, type, body, tombstone, subject, idempotencyKey, fingerprint } = event
  return [tenantSlug, id, type, body, tombstone, subject, idempotencyKey, fingerprint]
}

/** The one row that `recordText` gives. */
export function parseRecorded ([row]: RecordedEvent[]): RecordedEvent {
  // Under repeatable read the event of an earlier transaction may be out of sight.
  if (row === undefined) throw new Error('the idempotency key is used by an event that this transaction cannot see')
  return { id: row.id, deliveries: Number(row.deliveries), fingerprint: row.fingerprint }
}

/** The host's own transaction. Throws `invalid_event`. */
export function parseTransaction (transaction: unknown): PgQueryable {
  if (isQueryable(transaction)) return transaction
  throw new RecruitingApiError('invalid_event', 'transaction: expected a client with a method query(text, values)', 'transaction')
}

function isQueryable (value: unknown): value is PgQueryable {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function'
}
