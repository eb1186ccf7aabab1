import type { NewEvent, RecordedEvent } from '../../ports/index.js'

/** Returns the SQL call that records an event; `schema` is quoted. */
export function recordCall (schema: string): string {
  return `${schema}.record_event_v1($1, $2, $3, $4, $5, $6, $7, $8)`
}

/** The values of `recordCall`. */
export function recordValues (tenantSlug: string, event: NewEvent): unknown[] {
  const { id, type, body, tombstone, subject, idempotencyKey, fingerprint } = event
  return [tenantSlug, id, type, body, tombstone, subject, idempotencyKey, fingerprint]
}

/** Reads the result of `recordCall`: `event` was recorded, or an earlier one with the same idempotency key. */
export function parseRecorded (result: string, { id, fingerprint }: NewEvent): RecordedEvent {
  const recorded = JSON.parse(result) as number | [string, number, string]
  if (typeof recorded === 'number') return { id, deliveries: recorded, fingerprint }
  const [earlierId, deliveries, earlierFingerprint] = recorded
  return { id: earlierId, deliveries, fingerprint: earlierFingerprint }
}
