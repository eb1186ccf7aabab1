import type {
  AttemptError, DeliveryStatus, DeliveryStore, ErasedEvents, NewEvent, RecordedEvent, SubjectDelivery, SubjectEvent
} from '../../ports/index.js'
import {
  createClaim, createNotices, createPrune, createRecordAttempts, createRelease, type StopDeliveries
} from './queue.js'
import { createDeliveryLog } from './log.js'
import type { Due } from './due.js'
import { createReplay, createRetry } from './replay.js'
import { queryWithoutJit, type Session } from '../session.js'
import { createReadStats, createReadTenantStats, pendingText } from './stats.js'
import { callInTransaction, runInTransaction } from '../transactions.js'
import { tenantResting } from '../../shared/tenants.js'
import { formatFilterBody } from '../webhooks/filters.js'
import { toIso } from '../sql.js'

/** How many events of a subject a call erases. */
const mostErased = 200_000

interface Sessions {
  session: Session
  /** With a longer time limit. */
  patient: Session
}

/** Stores deliveries in PostgreSQL; `schema` is quoted. */
export function createDeliveryStore (
  { session, patient }: Sessions,
  schema: string,
  stop: StopDeliveries,
  due: Due
): DeliveryStore {
  const recordEvent = recordCall(schema)
  const eraseSubject = `${schema}.erase_subject_v1($1, $2, $3)`
  const notices = createNotices(session, schema, stop)
  const release = createRelease(session, schema)
  const { replay, countReplay } = createReplay(patient, schema, stop)
  const log = createDeliveryLog({ session, patient }, schema)
  const retry = createRetry(session, schema, stop, log.find)

  return {
    ...log,
    claimDue: createClaim(session, schema),
    recordAttempts: createRecordAttempts(session, schema, notices),
    claimNotices: notices.claimNotices,
    confirmNotice: notices.confirmNotice,
    prune: createPrune(patient, schema, stop),
    stats: createReadStats(session, schema),
    tenantStats: createReadTenantStats(session, schema),
    listSubjectEvents: createListSubjectEvents(session, schema),

    async record (tenant, event, transaction) {
      const values = recordValues(tenant, event)
      if (transaction === undefined) {
        const [row] = await session.query<{ recorded: string }>(
          'record event',
          `select ${recordEvent} as recorded`,
          values
        )
        const recorded = parseRecorded(String(row?.recorded), tenant, event)
        if (recorded.deliveries > 0) due.notify()
        return recorded
      }
      const recorded = parseRecorded(await callInTransaction(transaction, recordEvent, values), tenant, event)
      if (recorded.deliveries > 0) due.notifyLater()
      return recorded
    },

    async release (leases) {
      if (leases.length === 0) return
      await release(leases)
      due.notify()
    },

    async hasPending (withinMs) {
      const rows = await queryWithoutJit(session, 'look for pending deliveries', pendingText(schema), [withinMs])
      return rows.length > 0
    },

    async replay (tenant, webhookId, selection) {
      const result = await replay(tenant, webhookId, selection)
      if (result !== null && result.queued > 0) due.notify()
      return result
    },

    countReplay,

    async retry (tenant, webhookId, id) {
      const delivery = await retry(tenant, webhookId, id)
      if (delivery !== null) due.notify()
      return delivery
    },

    async erase (tenant, subject, transaction) {
      return runInTransaction(patient, 'erase subject', transaction, async (call) =>
        JSON.parse(await call(eraseSubject, [tenant, subject, mostErased])) as ErasedEvents
      )
    },

    onDue: due.onDue
  }
}

/** Returns the SQL call that records an event; `schema` is quoted. */
function recordCall (schema: string): string {
  return `${schema}.record_event_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
}

function recordValues (tenant: string, event: NewEvent): unknown[] {
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
function parseRecorded (result: string, tenant: string, { id, fingerprint }: NewEvent): RecordedEvent {
  const recorded = JSON.parse(result) as number | string | [string, number, string]
  if (typeof recorded === 'string') throw tenantResting(tenant, recorded)
  if (typeof recorded === 'number') return { id, deliveries: recorded, fingerprint }
  const [earlierId, deliveries, earlierFingerprint] = recorded
  return { id: earlierId, deliveries, fingerprint: earlierFingerprint }
}

interface EventRow {
  position: string
  id: string
  type: string
  recorded_at: string
  is_erased: boolean
  /** A JSON array of `DeliveryItem`, or `null`. */
  deliveries: string | null
}

interface DeliveryItem {
  id: number
  webhook_id: number
  name: string | null
  target_url: string | null
  status: DeliveryStatus
  delivered_at: string | null
  attempts: Array<{ started_at: string, response_status: number | null, error: AttemptError | null }>
}

/** Lists events with a subject, with their deliveries; `schema` is quoted. */
function createListSubjectEvents (session: Session, schema: string): DeliveryStore['listSubjectEvents'] {
  const named = (table: string, seq: string): string => `
    select ${seq} as seq from ${schema}.${table}
    where tenant_key = coalesce((select t.key from ${schema}.tenants t where t.tenant = $1), $1) and subject = $2
      and ${seq} > $3::bigint
    order by ${seq} limit $4::bigint`
  const text = `
    select e.seq::text as position, e.id, e.type, ${toIso('e.recorded_at')} as recorded_at,
      e.body = coalesce(e.tombstone, '') as is_erased, sent.deliveries
    from (
      (${named('events', 'seq')}) union (${named('event_subjects', 'event_seq')}) order by seq limit $4::bigint
    ) as found
    join ${schema}.events e on e.seq = found.seq
    cross join lateral (
      select json_agg(json_build_object(
        'id', d.id, 'webhook_id', d.webhook_id, 'name', w.name, 'target_url', w.target_url, 'status', d.status,
        'delivered_at', case d.status when 'delivered' then ${toIso('d.ended_at')} end,
        'attempts', coalesce(d.earlier, '[]') || case when d.duration_ms is null then '[]' else jsonb_build_array(jsonb_build_object(
          'started_at', ${toIso("(d.ended_at - d.duration_ms * interval '1 millisecond')")},
          'response_status', d.response_status, 'error', d.error
        )) end
      ) order by d.id)::text as deliveries
      from (
        select q.id, q.webhook_id, 'pending' as status, q.attempts as earlier, null::timestamptz as ended_at,
          null::integer as duration_ms, null::integer as response_status, null as error
        from ${schema}.queue q where q.event_seq = e.seq
        union all
        select l.id, l.webhook_id, l.status, l.earlier, l.ended_at, l.duration_ms, l.response_status, l.error
        from ${schema}.deliveries l where l.event_seq = e.seq
      ) as d
      left join ${schema}.webhooks w on w.id = d.webhook_id
    ) as sent
    order by e.seq`

  return async (tenant, subject, { after, limit }) => {
    const rows = await session.query<EventRow>('list events of a subject', text, [tenant, subject, after, limit])
    return rows.map(parseEvent)
  }
}

function parseEvent (row: EventRow): SubjectEvent {
  const deliveries = JSON.parse(row.deliveries ?? '[]') as DeliveryItem[]
  return {
    position: Number(row.position),
    eventId: row.id,
    eventType: row.type,
    recordedAt: row.recorded_at,
    isErased: row.is_erased,
    deliveries: deliveries.map(parseDelivery)
  }
}

function parseDelivery ({
  id,
  webhook_id: webhookId,
  name,
  target_url: targetUrl,
  status,
  delivered_at: deliveredAt,
  attempts
}: DeliveryItem): SubjectDelivery {
  return {
    deliveryId: id,
    webhookId,
    webhookName: name,
    targetUrl,
    status,
    deliveredAt,
    attempts: attempts.map(({ started_at: startedAt, response_status: responseStatus, error }) => ({
      startedAt,
      responseStatus,
      error
    }))
  }
}
