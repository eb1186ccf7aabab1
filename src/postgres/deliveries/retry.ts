import type { Delivery, DeliveryStore } from '../../ports/index.js'
import type { Session } from '../session.js'
import { moment } from '../sql.js'
import type { StopDeliveries } from './stop.js'

interface RetryRow {
  is_found: boolean
  /** The id of the pending delivery; `null` if another call queued the event at the same time. */
  id: string | null
  is_new: boolean
}

/** Makes a delivery due now, or queues its event again; `schema` is quoted. */
export function createRetry (session: Session, schema: string, stop: StopDeliveries, find: DeliveryStore['find']): DeliveryStore['retry'] {
  const text = retryStatement(schema)

  async function findPending (tenantSlug: string, webhookId: number, id: number): Promise<number | null> {
    for (;;) {
      const [row] = await session.query<RetryRow>('retry', text, [tenantSlug, webhookId, id])
      if (row?.is_found !== true) return null
      if (row.id === null) continue
      if (row.is_new) await stop.sweepIfStopped(webhookId, row.id)
      return Number(row.id)
    }
  }

  return async (tenantSlug, webhookId, id): Promise<Delivery | null> => {
    const pendingId = await findPending(tenantSlug, webhookId, id)
    const found = pendingId === null ? null : await find(tenantSlug, webhookId, pendingId)
    if (found === null) return null
    const { attempts, body, ...delivery } = found
    return delivery
  }
}

function retryStatement (schema: string): string {
  return `
    with wanted as materialized (
      select e.seq from ${schema}.events e
      where e.seq = (
        select event_seq from ${schema}.queue where webhook_id = $2::bigint and id = $3::bigint and lane is null
        union all
        select event_seq from ${schema}.queue where webhook_id = $2::bigint and id = $3::bigint and lane in (0, 1, 2, 3)
        union all
        select event_seq from ${schema}.deliveries where webhook_id = $2::bigint and id = $3::bigint
      ) and exists (select from ${schema}.webhooks where tenant_slug = $1 and id = $2::bigint and status = 'active')
      -- Keeps it from being pruned until this commits.
      for key share of e
    ), pending as (
      select q.ctid as place, q.id from ${schema}.queue q join wanted on q.event_seq = wanted.seq where q.webhook_id = $2::bigint
    ), hastened as (
      update ${schema}.queue q set lane = case when q.is_replay then 3 else 2 end, due_at = least(q.due_at, moment)
      from ${moment} as moment
      where q.ctid = any (array(
        select q.ctid from ${schema}.queue q
        where q.ctid = any (array(select place from pending)) and q.lane is null
        for update skip locked
      ))
    ), queued as (
      insert into ${schema}.queue (event_seq, webhook_id, lane, is_replay, due_at, created_at)
      select wanted.seq, $2::bigint, 3, true, moment, moment
      from wanted, ${moment} as moment
      where not exists (select from pending)
      on conflict (event_seq, webhook_id) do nothing
      returning id
    )
    select exists (select from wanted) as is_found, exists (select from queued) as is_new,
      (select id from pending union all select id from queued)::text as id`
}
