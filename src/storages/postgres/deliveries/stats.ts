import type { DeliveryStats, DeliveryStore, TenantDeliveryStats } from '../../../core/ports/index.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'

// Counting stops here.
const most = 10_000

export function createStats (
  session: Session, schema: string
): Pick<DeliveryStore, 'stats' | 'tenantStats' | 'hasPending'> {
  const texts = { queue: statsText(schema), tenant: tenantStatsText(schema), pending: pendingText(schema) }

  /**
   * Runs a statement that only searches indexes, without JIT compilation. The planner does not expect these searches to
   * stop early, so it would spend seconds compiling a statement that takes milliseconds.
   */
  function search<Row> (operation: string, text: string, values?: unknown[]): Promise<Row[]> {
    return session.transaction(operation, async (query) => {
      await query("select set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)")
      return query<Row>(text, values)
    })
  }

  return {
    async stats (): Promise<DeliveryStats> {
      const [row] = await search<{ json: string }>('read stats', texts.queue)
      return JSON.parse(String(row?.json))
    },
    async tenantStats (tenant): Promise<TenantDeliveryStats> {
      const [row] = await search<{ json: string }>('read stats of a tenant', texts.tenant, [tenant])
      return JSON.parse(String(row?.json))
    },
    async hasPending (withinMs) {
      const rows = await search('look for pending deliveries', texts.pending, [withinMs])
      return rows.length > 0
    }
  }
}

/** Selects a row if a delivery is leased, or due within `$1` milliseconds; `schema` is quoted. */
function pendingText (schema: string): string {
  return `
    select from (select clock_timestamp() + $1 * interval '1 millisecond' as time) as until
    where exists (
      select from ${schema}.ready_webhooks_v1() as ready
      cross join lateral (${findActive(schema, 'ready.webhook_id')}) as w
      cross join lateral ${lanesOf('ready')}
      cross join lateral (
        select from ${schema}.queue q
        where q.webhook_id = w.id and q.lane = of.lane::smallint and q.id >= of.first_id
          and ((q.lane = 0 and q.leased_until > clock_timestamp())
            or (w.paused_until <= until.time and q.id >= w.skip_before))
        limit 1
      ) as found
    ) or exists (
      select from ${schema}.queue q cross join lateral (${findActive(schema, 'q.webhook_id')}) as w
      where ${isScheduled} and q.due_at <= until.time and q.id >= w.skip_before and w.paused_until <= until.time
      order by q.due_at
      limit 1
    ) or exists (
      select from ${schema}.paused_webhooks p cross join lateral (${findActive(schema, 'p.webhook_id')}) as w
      where p.until <= until.time and w.paused_until <= until.time and exists (
        select from ${schema}.queue q where q.webhook_id = w.id and q.paused_lane is not null and q.id >= w.skip_before
      )
    )`
}

// Not set aside, so the index of due times contains it.
const isScheduled = 'q.lane is null and q.paused_lane is null'

/** Lists the lanes of a row of `ready_webhooks_v1`, and the lowest id that a delivery can have there. */
function lanesOf (row: string): string {
  return `(values (0, ${row}.first_leased), (1, ${row}.first_fresh), (2, 0), (3, 0)) as of (lane, first_id)`
}

function findActive (schema: string, id: string): string {
  return `
      select w.id, w.skip_before,
        case when w.is_suspended then 'infinity' else coalesce(h.paused_until, '-infinity') end as paused_until
      from ${schema}.webhooks w
      left join ${schema}.webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      where w.id = ${id} and w.status = 'active'
      limit 1`
}

function ageOf (time: string): string {
  return `coalesce(floor(1000 * extract(epoch from clock_timestamp() - ${time})), 0)`
}

/**
 * Selects the statistics; materialized, because each is used twice. Each count stops at `most`. Pending deliveries are
 * counted without a look at each webhook's status: only stopped ones do not count, and their webhooks are listed until
 * none is left.
 */
function statsText (schema: string): string {
  const count = (rows: string): string => `(select count(*) from (${rows} limit ${most + 1}) as bounded)`
  const waiting = (webhooks: string, condition: string): string =>
    count(`
        select from ${webhooks} w
        cross join lateral (
          select from ${schema}.queue q where q.webhook_id = w.id and q.id >= w.skip_before
            and ${condition} limit ${most + 1}
        ) as found`)
  const inLanes = (webhooks: string, columns: string, condition: string, bounds: string): string => `
        select ${columns} from ${webhooks} w
        cross join lateral ${lanesOf('w')}
        cross join lateral (
          select q.webhook_id, q.due_at from ${schema}.queue q
          where q.webhook_id = w.id and q.id >= of.first_id and ${condition} ${bounds}
        ) as found`
  const ready = (condition: string): string =>
    count(inLanes('ready', '', `q.lane = of.lane::smallint and q.id >= w.skip_before and ${condition}`, `limit ${most + 1}`))
  const oldest = (webhooks: string, condition: string): string =>
    `(${inLanes(webhooks, 'min(found.due_at)', `q.id >= w.skip_before and ${condition}`, 'order by q.id limit 1')})`
  const overdue = (columns: string): string => `
        select ${columns} from now, ${schema}.queue q
        cross join lateral (${findActive(schema, 'q.webhook_id')}) as w
        where ${isScheduled} and q.due_at <= now.time and q.id >= w.skip_before and w.paused_until <= now.time
        order by q.due_at`
  const isLeased = 'q.lane = 0 and q.leased_until > w.now'
  return `
    with now as materialized (
      select clock_timestamp() as time
    ), queued as materialized (
      select q.webhook_id as id, q.first_leased, q.first_fresh from ${schema}.ready_webhooks_v1() as q
    ), ready as materialized (
      select w.*, queued.first_leased, queued.first_fresh, now.time as now, w.paused_until > now.time as is_paused
      from now, queued cross join lateral (${findActive(schema, 'queued.id')}) as w
    ), resumed as materialized (
      select w.*, 0 as first_leased, 0 as first_fresh
      from now, ${schema}.paused_webhooks p cross join lateral (${findActive(schema, 'p.webhook_id')}) as w
      where p.until <= now.time and w.paused_until <= now.time
    ), stopped as materialized (
      select w.* from ${schema}.stopped_webhooks s
      cross join lateral (${findActive(schema, 's.webhook_id')}) as w
    ), figures as materialized (
      select ${count(`
        select from (
          ${inLanes('queued', 'found.webhook_id', 'q.lane = of.lane::smallint', `limit ${most + 1}`)}
          union all
          select q.webhook_id from ${schema}.queue q where q.lane is null
        ) as q
        where (select not exists (select from ${schema}.stopped_webhooks))
          or not exists (select from ${schema}.stopped_webhooks s where s.webhook_id = q.webhook_id)`)} as running,
        ${waiting('stopped', 'true')} as left_over,
        ${count(overdue(''))} as overdue,
        ${waiting('resumed', 'q.paused_lane is not null')} as resumed,
        ${ready(`not w.is_paused and not (${isLeased})`)} as unleased,
        ${ready(isLeased)} as leased,
        least(
          ${oldest('ready', `q.lane = of.lane::smallint and (not w.is_paused or ${isLeased})`)},
          ${oldest('resumed', 'q.paused_lane = of.lane::smallint')},
          (${overdue('q.due_at')} limit 1)
        ) as oldest_due_at
    )
    select json_build_object(
      'pending', least(total.pending, ${most}), 'due', least(total.due, ${most}), 'leased', leased,
      'oldestDueMs', ${ageOf('oldest_due_at')},
      'atLeast', json_build_object('pending', total.pending > ${most}, 'due', total.due > ${most}),
      'suspendedTenants', (select count(*) from ${schema}.tenants t where t.suspended_at is not null)
    )::text as json
    from figures cross join lateral (
      select running + left_over as pending, leased + unleased + overdue + resumed as due
    ) as total`
}

/**
 * Selects the statistics of the tenant `$1`; materialized, because some are used twice. Each count reads only an index,
 * and only the rows it counts.
 */
function tenantStatsText (schema: string): string {
  const count = (rows: string): string => `(
      select count(*) from (
        select from webhook w cross join lateral (select from ${rows} limit ${most + 1}) as found limit ${most + 1}
      ) as bounded
    )`
  const queued = (condition: string): string =>
    `${schema}.queue q where w.is_active and q.webhook_id = w.id and q.id >= w.skip_before and ${condition}`
  const ended = (status: string): string => `
    ${schema}.deliveries d where d.webhook_id = w.id and d.status = '${status}'
      and d.ended_at > w.now - interval '1 hour'`
  return `
    with webhook as materialized (
      select w.id, w.skip_before, now, w.status = 'active' as is_active,
        w.subscription_id is null
          and (w.status = 'disabled' or (w.status = 'active' and h.webhook_id is not null)) as is_failing,
        w.is_suspended or coalesce(h.paused_until > now, false) as is_paused
      from clock_timestamp() as now, ${schema}.webhooks w
      left join ${schema}.webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      where w.tenant = $1
    ), figures as materialized (
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
          cross join lateral (select q.due_at from ${queued('q.lane is null and q.due_at <= w.now')}
            order by q.due_at limit 1) as first
          where not w.is_paused
        ) as oldest_scheduled
    )
    select json_build_object(
      'pending', least(ready + scheduled, ${most}), 'oldestDueMs', ${ageOf('least(oldest_ready, oldest_scheduled)')},
      'failing', failing, 'delivered', least(delivered, ${most}), 'failed', least(failed, ${most}),
      'atLeast', json_build_object('pending', ready + scheduled > ${most}, 'delivered', delivered > ${most},
        'failed', failed > ${most}),
      'suspendedSince', (select ${toIso('t.suspended_at')} from ${schema}.tenants t where t.tenant = $1)
    )::text as json
    from figures`
}
