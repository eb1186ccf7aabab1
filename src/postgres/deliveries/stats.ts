import type { DeliveryStats, TenantDeliveryStats } from '../../ports/index.js'
import type { Session } from '../session.js'

// Counting stops here.
const most = 10_000

interface StatsRow {
  ready: string
  scheduled: string
  due: string
  leased: string
  oldest_due_ms: string
}

/** Selects a row if a delivery is leased, or due within `$1` milliseconds; `schema` is quoted. */
export function pendingText (schema: string): string {
  return `
    select from ${activeWebhooks(schema)}
    cross join (select clock_timestamp() + $1 * interval '1 millisecond' as time) as until
    where exists (select from ${schema}.queue q where q.webhook_id = w.id and q.lane = 0 and q.leased_until > clock_timestamp())
      or (w.paused_until <= until.time and (
        exists (select from ${schema}.queue q where q.webhook_id = w.id and q.lane is not null and q.id >= w.skip_before)
        or exists (select from ${schema}.queue q where q.webhook_id = w.id and q.lane is null and q.id >= w.skip_before and q.due_at <= until.time)
      ))
    limit 1`
}

/** Reads the figures of the queue; `schema` is quoted. */
export function createReadStats (session: Session, schema: string): () => Promise<DeliveryStats> {
  const text = statsText(schema)
  return async () => {
    const [row] = await session.query<StatsRow>('read stats', text)
    const pending = Number(row?.ready) + Number(row?.scheduled)
    const due = Number(row?.due)
    return {
      pending: Math.min(pending, most),
      due: Math.min(due, most),
      leased: Number(row?.leased),
      oldestDueMs: Number(row?.oldest_due_ms),
      atLeast: { pending: pending > most, due: due > most }
    }
  }
}

function activeWebhooks (schema: string): string {
  return `(
      select w.id, w.skip_before, coalesce(h.paused_until, '-infinity') as paused_until
      from ${schema}.webhooks w
      left join ${schema}.webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      where w.status = 'active'
    ) as w`
}

function statsText (schema: string): string {
  const waiting = (condition: string, where = 'true'): string => `(
      select count(*) from (
        select from webhook w
        cross join lateral (
          select from ${schema}.queue q where q.webhook_id = w.id and q.id >= w.skip_before and ${condition} limit ${most + 1}
        ) as found
        where ${where}
        limit ${most + 1}
      ) as bounded
    )`
  const isLeased = 'q.lane = 0 and q.leased_until > w.now'
  return `
    with webhook as materialized (
      select w.*, now, w.paused_until > now as is_paused from clock_timestamp() as now, ${activeWebhooks(schema)}
    ), figures as (
      select ${waiting('q.lane is not null')} as ready,
        ${waiting('q.lane is null')} as scheduled,
        ${waiting('q.lane is null and q.due_at <= w.now', 'not w.is_paused')} as overdue,
        ${waiting(`q.lane is not null and not (${isLeased})`, 'not w.is_paused')} as unleased,
        ${waiting(isLeased)} as leased,
        (
          select min(first.due_at) from webhook w
          cross join generate_series(0, 3) as n (lane)
          cross join lateral (
            select q.due_at from ${schema}.queue q
            where q.webhook_id = w.id and q.lane = n.lane::smallint and q.id >= w.skip_before
              and (not w.is_paused or ${isLeased})
            order by q.id limit 1
          ) as first
        ) as oldest_ready,
        (
          select q.due_at from ${schema}.queue q join webhook w on w.id = q.webhook_id and not w.is_paused
          where q.lane is null and q.due_at <= w.now and q.id >= w.skip_before
          order by q.due_at limit 1
        ) as oldest_scheduled
    )
    select ready::text, scheduled::text, (leased + unleased + overdue)::text as due, leased::text,
      coalesce(floor(1000 * extract(epoch from clock_timestamp() - least(oldest_ready, oldest_scheduled))), 0)::text as oldest_due_ms
    from figures`
}

type TenantStatsRow = Record<'ready' | 'scheduled' | 'delivered' | 'failed' | 'failing' | 'oldest_due_ms', string>

/** Reads the figures of a tenant; `schema` is quoted. */
export function createReadTenantStats (session: Session, schema: string): (tenant: string) => Promise<TenantDeliveryStats> {
  const text = tenantStatsText(schema)
  return async (tenant) => {
    const [row] = await session.query<TenantStatsRow>('read stats of a tenant', text, [tenant])
    const pending = Number(row?.ready) + Number(row?.scheduled)
    const delivered = Number(row?.delivered)
    const failed = Number(row?.failed)
    return {
      pending: Math.min(pending, most),
      oldestDueMs: Number(row?.oldest_due_ms),
      failing: Number(row?.failing),
      delivered: Math.min(delivered, most),
      failed: Math.min(failed, most),
      atLeast: { pending: pending > most, delivered: delivered > most, failed: failed > most }
    }
  }
}

/**
 * Selects the figures of the tenant `$1`. Each count reads only an index, and no more than it counts.
 */
function tenantStatsText (schema: string): string {
  const count = (rows: string): string => `(
      select count(*) from (
        select from webhook w cross join lateral (select from ${rows} limit ${most + 1}) as found limit ${most + 1}
      ) as bounded
    )`
  const queued = (condition: string): string => `${schema}.queue q where w.is_active and q.webhook_id = w.id and q.id >= w.skip_before and ${condition}`
  const ended = (status: string): string => `
    ${schema}.deliveries d where d.webhook_id = w.id and d.status = '${status}' and d.ended_at > w.now - interval '1 hour'`
  return `
    with webhook as materialized (
      select w.id, w.skip_before, now, w.status = 'active' as is_active,
        w.status = 'disabled' or (w.status = 'active' and h.webhook_id is not null) as is_failing,
        coalesce(h.paused_until > now, false) as is_paused
      from clock_timestamp() as now, ${schema}.webhooks w
      left join ${schema}.webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      where w.tenant = $1
    ), figures as (
      select ${count(queued('q.lane is not null'))} as ready,
        ${count(queued('q.lane is null'))} as scheduled,
        ${count(ended('delivered'))} as delivered,
        ${count(ended('failed'))} as failed,
        (select count(*) from webhook w where w.is_failing) as failing,
        (
          select min(first.due_at) from webhook w
          cross join generate_series(0, 3) as n (lane)
          cross join lateral (
            select q.due_at from ${queued('q.lane = n.lane::smallint and (not w.is_paused or q.lane = 0 and q.leased_until > w.now)')}
            order by q.id limit 1
          ) as first
        ) as oldest_ready,
        (
          select min(first.due_at) from webhook w
          cross join lateral (select q.due_at from ${queued('q.lane is null and q.due_at <= w.now')} order by q.due_at limit 1) as first
          where not w.is_paused
        ) as oldest_scheduled
    )
    select ready::text, scheduled::text, delivered::text, failed::text, failing::text,
      coalesce(floor(1000 * extract(epoch from clock_timestamp() - least(oldest_ready, oldest_scheduled))), 0)::text as oldest_due_ms
    from figures`
}
