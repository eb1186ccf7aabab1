import type { DeliveryStore, ErasedEvents, NewEvent, RecordedEvent } from '../../../core/ports/index.js'
import { tenantResting } from '../../../core/shared/tenants.js'
import { isStorableText } from '../../../core/shared/text.js'
import type { Session } from '../session.js'
import { askInTransaction, runInTransaction } from '../transactions.js'
import type { Due } from './due.js'
import { createDeliveryLog } from './log.js'
import { createQueue, type StopDeliveries } from './queue.js'
import { createReplay, createRetry } from './replay.js'
import { createStats } from './stats.js'

/** How many of a subject's events one call erases. */
const mostErased = 200_000

/** Stores deliveries in PostgreSQL; `patient` has a longer timeout, `schema` is quoted. */
export function createDeliveryStore (
  { session, patient }: { session: Session, patient: Session }, schema: string, stop: StopDeliveries, due: Due
): DeliveryStore {
  const recordEvent = (isInTransaction: boolean): string =>
    `select ${schema}.record_event_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, null, ${isInTransaction})
      as result`
  const { replay, countReplay } = createReplay(patient, schema, stop)
  const log = createDeliveryLog({ session, patient }, schema)
  const retry = createRetry(session, schema, stop)

  return {
    ...createQueue({ session, patient, schema, stop, due }),
    ...createStats(session, schema),
    ...log,

    async record (tenant, event, transaction) {
      const values = recordValues(tenant, event)
      if (transaction !== undefined) {
        const recorded = parseRecorded(await askInTransaction(transaction, recordEvent(true), values), tenant, event)
        if (recorded.deliveries > 0) due.notifyLater()
        return recorded
      }
      const [row] = await session.prepared<{ result: string }>('record event', recordEvent(false), values)
      const recorded = parseRecorded(String(row?.result), tenant, event)
      if (recorded.deliveries > 0) due.notify()
      return recorded
    },

    async replay (...values) {
      const result = await replay(...values)
      if (result !== null && result.queued > 0) due.notify()
      return result
    },

    countReplay,

    async retry (...values) {
      const delivery = await retry(...values)
      if (delivery !== null) due.notify()
      return delivery
    },

    erase: (tenant, subject, transaction) =>
      runInTransaction(patient, 'erase subject', transaction, async (call): Promise<ErasedEvents> =>
        JSON.parse(await call(`${schema}.erase_subject_v1($1, $2, $3)`, [tenant, subject, mostErased])))
  }
}

function recordValues (tenant: string, event: NewEvent): unknown[] {
  const { id, type, body, tombstone, subject, otherSubjects = [], idempotencyKey, fingerprint } = event
  const { traceParent = null, sequenceAt = null } = event
  const others = otherSubjects.length === 0 ? null : JSON.stringify(otherSubjects)
  const at = sequenceAt ?? 0
  return [
    tenant, id, type, body.slice(at), tombstone?.slice(at) ?? null, subject, others, idempotencyKey, fingerprint,
    traceParent, formatFilterBody(body), sequenceAt === null ? null : body.slice(0, at)
  ]
}

/**
 * Parses the result of `record_event_v1`: `event` was recorded, or an earlier one with the same idempotency key. Throws
 * `tenant_resting`.
 */
function parseRecorded (result: string, tenant: string, { id, fingerprint }: NewEvent): RecordedEvent {
  const recorded = JSON.parse(result) as number | string | [string, number, string]
  if (typeof recorded === 'string') throw tenantResting(tenant, recorded)
  if (typeof recorded === 'number') return { id, deliveries: recorded, fingerprint }
  const [earlierId, deliveries, earlierFingerprint] = recorded
  return { id: earlierId, deliveries, fingerprint: earlierFingerprint }
}

/**
 * Returns an event's body in a form that `jsonb` accepts; `null` if it accepts the body itself. `jsonb` rejects text
 * with NUL or half a surrogate pair, which no filter can match. Such values become `[]`, and such names become `.`,
 * which is not a name in any path. Takes time linear in the body's length, none of it in the database.
 */
export function formatFilterBody (body: string): string | null {
  if (!/\\u(?:0000|d[89a-f])/i.test(body)) return null
  // Then each quotation mark begins or ends a string.
  const plain = body.replaceAll('\\\\', '\\u005c').replaceAll('\\"', '\\u0022')
  return plain.replaceAll(/("[^"]*")(\s*:)?/g, (all, text: string, colon?: string) => {
    if (!text.includes('\\u') || isStorableText(parseText(text))) return all
    return colon === undefined ? '[]' : `"."${colon}`
  })
}

/** Parses a JSON string. Returns unstorable text for invalid JSON: a storage accepts any text as a body. */
function parseText (text: string): string {
  try {
    return JSON.parse(text)
  } catch {
    return '\0'
  }
}
