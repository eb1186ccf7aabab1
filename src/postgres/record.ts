import { RecruitingApiError } from '../errors.js'
import type { NewEvent, RecordedEvent } from '../ports/index.js'
import type { PgQueryable } from './pool.js'

/** The statement that records an event; `schema` is quoted. */
export function recordText (schema: string): string {
  return `select ${schema}.record_event($1, $2, $3, $4, $5, $6, $7, $8) as recorded`
}

/** The values of `recordText`. */
export function recordValues (tenantSlug: string, event: NewEvent): unknown[] {
  const { id, type, body, tombstone, subject, idempotencyKey, fingerprint } = event
  return [tenantSlug, id, type, body, tombstone, subject, idempotencyKey, fingerprint]
}

/** A row of `recordText`; there is one. */
export interface RecordedRow {
  recorded: string
}

/** What was recorded: `event`, or an earlier one with the same idempotency key. */
export function parseRecorded ([row]: RecordedRow[], { id, fingerprint }: NewEvent): RecordedEvent {
  const recorded = JSON.parse(String(row?.recorded)) as number | [string, number, string]
  if (typeof recorded === 'number') return { id, deliveries: recorded, fingerprint }
  const [earlierId, deliveries, earlierFingerprint] = recorded
  return { id: earlierId, deliveries, fingerprint: earlierFingerprint }
}

/** The host's own transaction. Throws `invalid_event`. */
export function parseTransaction (transaction: unknown): PgQueryable {
  if (isQueryable(transaction)) return transaction
  throw new RecruitingApiError('invalid_event', 'transaction: expected a client with a method query(text, values)', 'transaction')
}

function isQueryable (value: unknown): value is PgQueryable {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function'
}
