import type { NewEvent, RecordedEvent } from '../../ports/index.js'
import { tenantResting } from '../../shared/tenants.js'
import { formatFilterBody } from '../webhooks/filters.js'

/** Returns the SQL call that records an event; `schema` is quoted. */
export function recordCall (schema: string): string {
  return `${schema}.record_event_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
}

export function recordValues (tenant: string, event: NewEvent): unknown[] {
  const {
    id,
    type,
    body,
    tombstone,
    subject,
    otherSubjects = [],
    idempotencyKey,
    fingerprint,
    traceParent = null
  } = event
  const others = otherSubjects.length === 0 ? null : JSON.stringify(otherSubjects)
  const filterBody = formatFilterBody(body)
  return [tenant, id, type, body, tombstone, subject, others, idempotencyKey, fingerprint, traceParent, filterBody]
}

/**
 * Reads the result of `recordCall`: `event` was recorded, or an earlier one with the same idempotency key. Throws
 * `tenant_resting`.
 */
export function parseRecorded (result: string, tenant: string, { id, fingerprint }: NewEvent): RecordedEvent {
  const recorded = JSON.parse(result) as number | string | [string, number, string]
  if (typeof recorded === 'string') throw tenantResting(tenant, recorded)
  if (typeof recorded === 'number') return { id, deliveries: recorded, fingerprint }
  const [earlierId, deliveries, earlierFingerprint] = recorded
  return { id: earlierId, deliveries, fingerprint: earlierFingerprint }
}
