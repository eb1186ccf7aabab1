import type { Delivery, DeliveryStore, ReplaySelection } from '../../ports/index.js'
import type { Session } from '../session.js'
import { Conditions, moment } from '../sql.js'
import type { StopDeliveries } from './stop.js'

/** A call reads no more events, the oldest first: otherwise it could hold a connection for minutes. */
const maxRead = 200_000

interface CountRow {
  webhooks: string
  read: string
  wanted: string
}

interface SelectedRow {
  webhooks: string
  read: string
  /** A JSON array. */
  seqs: string
}

interface QueuedRow {
  queued: string
  /** The lowest id of the new deliveries, or null. */
  first_id: string | null
}

/** Queues events for a webhook again, or counts them; `schema` is quoted. */
export function createReplay (
  session: Session,
  schema: string,
  stop: StopDeliveries
): Pick<DeliveryStore, 'replay' | 'countReplay'> {
  return {
    async replay (tenant, webhookId, selection) {
      const { text, values } = selectStatement(select(schema, tenant, webhookId, selection))
      const { selected, seqs, queued } = await session.transaction('replay', async (query) => {
        const [selected] = await query<SelectedRow>(text, values)
        const seqs = JSON.parse(String(selected?.seqs)) as string[]
        const [queued] = await query<QueuedRow>(queueText(schema, selection), [
          webhookId,
          seqs.slice(0, selection.limit)
        ])
        return { selected, seqs, queued }
      })
      if (Number(selected?.webhooks) === 0) return null
      if (typeof queued?.first_id === 'string') await stop.sweepIfStopped(webhookId, queued.first_id)
      return {
        queued: Number(queued?.queued),
        truncated: seqs.length > selection.limit || Number(selected?.read) === maxRead
      }
    },

    async countReplay (tenant, webhookId, selection) {
      const { text, values } = countStatement(select(schema, tenant, webhookId, selection))
      const [row] = await session.query<CountRow>('count replay', text, values)
      if (Number(row?.webhooks) === 0) return null
      const wanted = Number(row?.wanted)
      return {
        queued: Math.min(wanted, selection.limit),
        truncated: wanted > selection.limit || Number(row?.read) === maxRead
      }
    }
  }
}

interface Selected {
  /** Selects the webhook if it is active. */
  webhook: string
  /** Selects the `seq` of each event of the period, up to a bound. */
  read: string
  /**
   * Selects the `seq` of each event to queue, and one more. Needs the results of `webhook` and `read` under these
   * names.
   */
  wanted: (lock: string) => string
  values: unknown[]
}

function select (
  schema: string,
  tenant: string,
  webhookId: number,
  { include, eventTypes, eventIds, since, until, limit }: ReplaySelection
): Selected {
  const where = new Conditions(
    [
      (value) => `e.tenant_key = coalesce((select t.key from ${schema}.tenants t where t.tenant = ${value}), ${value})`,
      tenant
    ],
    [(value) => `e.id = any (${value})`, eventIds === null ? undefined : [...eventIds]],
    [(value) => `e.recorded_at >= ${value}::timestamptz`, since ?? undefined],
    [(value) => `e.recorded_at <= ${value}::timestamptz`, until ?? undefined]
  )
  const id = where.bind(webhookId)
  const most = where.bind(limit)
  const types = where.bind(eventTypes)
  const read = `
    select e.seq from ${schema}.events e ${where} order by e.recorded_at limit ${where.bind(maxRead)}::integer`
  const isMatch = `case when (select filter_path is null from webhook) then true
    else ${schema}.event_json_v1(coalesce(e.filter_body, e.body)) @@ (select filter_path from webhook) end`
  const webhook = `select event_types, filter_path from ${schema}.webhooks where tenant = $1 and id = ${id}::bigint and status = 'active'`
  // Only those that match are locked.
  const wanted = (lock: string): string => `
    select matched.seq from read cross join lateral (
      select e.seq from ${schema}.events e
      where e.seq = read.seq and e.type = any ((select event_types from webhook)::text[])
        and (${types}::text[] is null or e.type = any (${types}))
        and not exists (select from ${schema}.queue q where q.event_seq = e.seq and q.webhook_id = ${id}::bigint)
        and ${include === 'all' ? isMatch : `case when ${isUndelivered(schema, id)} then ${isMatch} else false end`}
      limit 1 ${lock}
    ) as matched
    limit ${most}::integer + 1`
  return { webhook, read, wanted, values: where.values }
}

/** Returns the condition that the last delivery of an event `e` to a webhook failed or was skipped. */
function isUndelivered (schema: string, id: string): string {
  return `(
    select d.status in ('failed', 'skipped') from ${schema}.deliveries d
    where d.event_seq = e.seq and d.webhook_id = ${id}::bigint
    order by d.id desc limit 1
  )`
}

function selectStatement ({ webhook, read, wanted, values }: Selected): { text: string, values: unknown[] } {
  const text = `
    with webhook as materialized (${webhook}), read as materialized (${read}), wanted as materialized (
      -- Keeps them from being pruned until this commits.
      ${wanted('for key share')}
    )
    select (select count(*) from webhook)::text as webhooks, (select count(*) from read)::text as read,
      (select coalesce(json_agg(wanted.seq::text order by wanted.seq), '[]') from wanted)::text as seqs`
  return { text, values }
}

/**
 * Queues selected events. A separate statement, which sees what others queued and delivered while the first one
 * selected.
 */
function queueText (schema: string, { include }: ReplaySelection): string {
  return `
    with queued as (
      insert into ${schema}.queue (event_seq, webhook_id, event_type, lane, is_replay, due_at, created_at)
      select e.seq, $1::bigint, e.type, 3, true, moment, moment
      from unnest($2::bigint[]) as wanted (seq)
      join ${schema}.events e on e.seq = wanted.seq
      cross join ${moment} as moment
      where ${include === 'all' ? 'true' : isUndelivered(schema, '$1')}
      order by e.seq
      on conflict (event_seq, webhook_id) do nothing
      returning id
    )
    select (select count(*) from queued)::text as queued, (select min(id) from queued)::text as first_id`
}

function countStatement ({ webhook, read, wanted, values }: Selected): { text: string, values: unknown[] } {
  const text = `
    with webhook as materialized (${webhook}), read as materialized (${read}), wanted as materialized (${wanted('')})
    select (select count(*) from webhook)::text as webhooks, (select count(*) from read)::text as read,
      (select count(*) from wanted)::text as wanted`
  return { text, values }
}

interface RetryRow {
  is_found: boolean
  /** The id of the pending delivery; `null` if another call queued the event at the same time. */
  id: string | null
  is_new: boolean
}

/** Makes a delivery due now, or queues its event again; `schema` is quoted. */
export function createRetry (
  session: Session,
  schema: string,
  stop: StopDeliveries,
  find: DeliveryStore['find']
): DeliveryStore['retry'] {
  const text = retryStatement(schema)

  async function findPending (tenant: string, webhookId: number, id: number): Promise<number | null> {
    for (;;) {
      const [row] = await session.query<RetryRow>('retry', text, [tenant, webhookId, id])
      if (row?.is_found !== true) return null
      if (row.id === null) continue
      if (row.is_new) await stop.sweepIfStopped(webhookId, row.id)
      return Number(row.id)
    }
  }

  return async (tenant, webhookId, id): Promise<Delivery | null> => {
    const pendingId = await findPending(tenant, webhookId, id)
    const found = pendingId === null ? null : await find(tenant, webhookId, pendingId)
    if (found === null) return null
    const { attempts, body, ...delivery } = found
    return delivery
  }
}

function retryStatement (schema: string): string {
  return `
    with wanted as materialized (
      select e.seq, e.type from ${schema}.events e
      where e.seq = (
        select event_seq from ${schema}.queue where webhook_id = $2::bigint and id = $3::bigint and lane is null
        union all
        select event_seq from ${schema}.queue where webhook_id = $2::bigint and id = $3::bigint and lane in (0, 1, 2, 3)
        union all
        select event_seq from ${schema}.deliveries where webhook_id = $2::bigint and id = $3::bigint
      ) and exists (select from ${schema}.webhooks where tenant = $1 and id = $2::bigint and status = 'active')
      -- Keeps it from being pruned until this commits.
      for key share of e
    ), pending as (
      select q.ctid as place, q.id from ${schema}.queue q join wanted on q.event_seq = wanted.seq where q.webhook_id = $2::bigint
    ), hastened as (
      update ${schema}.queue q set lane = case when q.is_replay then 3 else 2 end, due_at = least(q.due_at, moment)
      from ${moment} as moment
      where q.ctid = any (array(
        select q.ctid from ${schema}.queue q
        -- Those of a paused webhook that were set aside are due already.
        where q.ctid = any (array(select place from pending)) and q.lane is null and q.paused_lane is null
        for update skip locked
      ))
    ), queued as (
      insert into ${schema}.queue (event_seq, webhook_id, event_type, lane, is_replay, due_at, created_at)
      select wanted.seq, $2::bigint, wanted.type, 3, true, moment, moment
      from wanted, ${moment} as moment
      where not exists (select from pending)
      on conflict (event_seq, webhook_id) do nothing
      returning id
    )
    select exists (select from wanted) as is_found, exists (select from queued) as is_new,
      (select id from pending union all select id from queued)::text as id`
}
