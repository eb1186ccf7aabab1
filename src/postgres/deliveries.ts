import type { DeliveryStats, DeliveryStore } from '../ports/index.js'
import { createClaim } from './claim.js'
import { createComplete } from './complete.js'
import { createDeliveryLog } from './delivery-log.js'
import type { Due } from './due.js'
import { leaseValues } from './leases.js'
import { parseRecorded, recordCall, recordValues } from './record.js'
import { createReplay } from './replay.js'
import type { Session } from './session.js'
import type { StopDeliveries } from './stop.js'
import { callInTransaction } from './transaction.js'

interface Sessions {
  session: Session
  /** For what may take longer. */
  patient: Session
}

/** Keeps deliveries in PostgreSQL; `schema` is quoted. */
export function createDeliveryStore ({ session, patient }: Sessions, schema: string, stop: StopDeliveries, due: Due): DeliveryStore {
  const recordEvent = recordCall(schema)
  const endLeases = `select ${schema}.end_leases($1, $2)`
  const eraseSubject = `${schema}.erase_subject($1, $2)`
  const replay = createReplay(patient, schema)

  return {
    ...createDeliveryLog(session, schema),
    claimDue: createClaim(session, schema),
    complete: createComplete(session, schema, stop),

    async record (tenantSlug, event, transaction) {
      const values = recordValues(tenantSlug, event)
      if (transaction === undefined) {
        const [row] = await session.query<{ recorded: string }>('record event', `select ${recordEvent} as recorded`, values)
        const recorded = parseRecorded(String(row?.recorded), event)
        if (recorded.deliveries > 0) due.notify()
        return recorded
      }
      const recorded = parseRecorded(await callInTransaction(transaction, recordEvent, values), event)
      if (recorded.deliveries > 0) due.notifyLater()
      return recorded
    },

    async release (leases) {
      if (leases.length === 0) return
      await session.query('release deliveries', endLeases, leaseValues(leases))
      due.notify()
    },

    async hasPending (withinMs) {
      const rows = await session.query('look for pending deliveries', pendingText(schema), [withinMs])
      return rows.length > 0
    },

    async replay (tenantSlug, webhookId, selection) {
      const result = await replay(tenantSlug, webhookId, selection)
      if (result !== null && result.queued > 0) due.notify()
      return result
    },

    async prune ({ retentionDays, limit }) {
      await stop.stopOrphans()
      const [row] = await patient.query<{ pruned: number }>('prune',
        `select ${schema}.prune($1, $2) as pruned`, [retentionDays, limit])
      return Number(row?.pruned)
    },

    async erase (tenantSlug, subject, transaction) {
      const values = [tenantSlug, subject]
      if (transaction !== undefined) return Number(await callInTransaction(transaction, eraseSubject, values))
      const [row] = await session.query<{ erased: number }>('erase subject', `select ${eraseSubject} as erased`, values)
      return Number(row?.erased)
    },

    async stats () {
      const [row] = await session.query<Record<keyof DeliveryStats, string>>('read stats', statsText(schema))
      return {
        pending: Number(row?.pending),
        due: Number(row?.due),
        leased: Number(row?.leased),
        oldestDueMs: Number(row?.oldestDueMs)
      }
    },

    onDue: due.onDue
  }
}

function pendingText (schema: string): string {
  return `
    select from ${schema}.leases where leased_until > clock_timestamp() and not delivery_ids <@ stopped_ids
    union all
    select from ${schema}.webhooks w
    cross join (select clock_timestamp() + $1 * interval '1 millisecond' as moment) as until
    where w.status = 'active' and (w.held_until is null or w.held_until <= until.moment) and exists (
      select from (values (0), (1), (2)) as lane (priority)
      cross join lateral (
        select from ${schema}.deliveries d
        where d.webhook_id = w.id and d.status = 'pending' and d.priority = lane.priority
          and d.next_attempt_at <= until.moment
        limit 1
      ) as due
    )
    limit 1`
}

function statsText (schema: string): string {
  return `
    with leased as materialized (
      select unnest(delivery_ids) as delivery_id from ${schema}.leases where leased_until > clock_timestamp()
    )
    select count(*)::text as pending,
      count(*) filter (where is_due)::text as due,
      count(*) filter (where is_leased)::text as leased,
      coalesce(floor(1000 * extract(epoch from max(moment - next_attempt_at) filter (where is_due))), 0)::text as "oldestDueMs"
    from (
      select d.next_attempt_at, moment, leased.delivery_id is not null as is_leased,
        leased.delivery_id is not null or (d.next_attempt_at <= moment and coalesce(w.held_until <= moment, true)) as is_due
      from clock_timestamp() as moment
      cross join ${schema}.deliveries d
      join ${schema}.webhooks w on w.id = d.webhook_id and w.status = 'active'
      left join leased on leased.delivery_id = d.id
      where d.status = 'pending'
    ) as waiting`
}
