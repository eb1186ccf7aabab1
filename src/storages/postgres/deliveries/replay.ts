import type { Delivery, DeliveryStore, ReplayResult, ReplaySelection } from '../../../core/ports/index.js'
import { storeAnswer } from '../requests.js'
import type { RunQuery, Session } from '../session.js'
import { Conditions, equals, moment } from '../sql.js'
import { findDelivery } from './log.js'
import type { StopDeliveries } from './queue.js'

/**
 * How much of a tenant's history a call reads, oldest events first. One statement reads a batch and parses the bodies
 * of possible matches. No batch starts after `ms`.
 */
const usualBounds = { events: 200_000, batch: 5_000, ms: 20_000 }

interface Batch {
  /** The position of the last event of the previous batch, or null. */
  after: string | null
  size: number
  /** How many more events may be queued. */
  limit: number
}

interface Found {
  isActive: boolean
  read: number
  /** The position of the last event that was read, or null. */
  last: string | null
  /** As text. One more than may be queued, if there are more. */
  seqs: string[]
}

/** Queues events for a webhook again, or counts them; `schema` is quoted. */
export function createReplay (
  session: Session, schema: string, stop: StopDeliveries, bounds = usualBounds
): Pick<DeliveryStore, 'replay' | 'countReplay'> {
  /** Queues a batch of events, and returns the id of their first delivery. */
  async function queueBatch (
    query: RunQuery, tenant: string, webhookId: number, selection: ReplaySelection, batch: Batch
  ): Promise<Found & { queued: number, firstId: string | null }> {
    // Keeps the events from being pruned until the transaction commits.
    const { text, values } = selectStatement(schema, tenant, webhookId, selection, batch, 'for key share of e')
    const [selected] = await query<{ json: string }>(text, values)
    const found: Found = JSON.parse(String(selected?.json))
    const [row] = await query<{ queued: string, first_id: string | null }>(
      queueText(schema, selection), [webhookId, found.seqs.slice(0, batch.limit)]
    )
    return { ...found, queued: Number(row?.queued), firstId: row?.first_id ?? null }
  }

  return {
    replay: async (tenant, webhookId, selection, answer) => {
      const first = { id: null as string | null }
      const queueAll = (run: Session['transaction']): Promise<ReplayResult | null> =>
        inBatches(bounds, selection.limit, async (batch) => {
          const found = await run('replay', (query) => queueBatch(query, tenant, webhookId, selection, batch))
          first.id ??= found.firstId
          return found
        })
      // With an answer to store, all batches are in its transaction.
      const result = answer === undefined
        ? await queueAll(session.transaction)
        : await session.transaction('replay', async (query) => {
          const queued = await queueAll((_operation, work) => work(query))
          if (queued !== null) await storeAnswer(query, schema, tenant, answer, queued)
          return queued
        })
      if (first.id !== null) await stop.sweepIfStopped(webhookId, first.id)
      return result
    },

    countReplay: (tenant, webhookId, selection) =>
      inBatches(bounds, selection.limit, async (batch) => {
        const { text, values } = selectStatement(schema, tenant, webhookId, selection, batch, '')
        const [row] = await session.query<{ json: string }>('count replay', text, values)
        const found: Found = JSON.parse(String(row?.json))
        return { ...found, queued: Math.min(found.seqs.length, batch.limit) }
      })
  }
}

async function inBatches (
  bounds: typeof usualBounds, limit: number, run: (batch: Batch) => Promise<Found & { queued: number }>
): Promise<ReplayResult | null> {
  const endAt = performance.now() + bounds.ms
  let after: string | null = null
  let read = 0
  let wanted = 0
  let queued = 0
  for (;;) {
    const batch: Batch = { after, size: Math.min(bounds.batch, bounds.events - read), limit: limit - wanted }
    const found = await run(batch)
    if (!found.isActive) return after === null ? null : { queued, truncated: true }
    queued += found.queued
    if (found.seqs.length > batch.limit) return { queued, truncated: true }
    if (found.read < batch.size) return { queued, truncated: false }
    wanted += found.seqs.length
    read += found.read
    after = found.last
    if (read >= bounds.events || performance.now() > endAt) return { queued, truncated: true }
  }
}

/**
 * Returns the statement that selects the `seq` of a batch's matching events, up to one more than its limit. A position
 * is an event's time and `seq`.
 */
function selectStatement (
  schema: string, tenant: string, webhookId: number,
  { include, eventTypes, eventIds, since, until }: ReplaySelection, { after, size, limit }: Batch,
  lock: string
): { text: string, values: unknown[] } {
  const where = new Conditions(
    [
      (value) => `e.tenant_key ${
        equals(`coalesce((select t.key from ${schema}.tenants t where t.tenant = ${value}), ${value})`)}`,
      tenant
    ],
    [(value) => `e.id = any (${value})`, eventIds === null ? undefined : [...eventIds]],
    [(value) => `e.recorded_at >= ${value}::timestamptz`, since ?? undefined],
    [(value) => `e.recorded_at <= ${value}::timestamptz`, until ?? undefined],
    [
      (value) =>
        `(e.recorded_at, e.seq) > (split_part(${value}, ' ', 1)::timestamptz, split_part(${value}, ' ', 2)::bigint)`,
      after ?? undefined
    ]
  )
  const id = where.bind(webhookId)
  const most = where.bind(limit)
  const types = where.bind(eventTypes)
  const isMatch = `case when (select filter_path is null and changed is null from webhook) then true
    else (
      select (w.filter_path is null or event @@ w.filter_path)
        and (w.changed is null or (jsonb_typeof(event -> 'changed') = 'array' and event -> 'changed' ?| w.changed))
      from webhook w, ${schema}.event_json_v1(coalesce(e.filter_body, e.body)) as event
    ) end
    and not (
      -- An event about the health of this webhook.
      e.type in ('webhook.failing', 'webhook.disabled')
      and e.body like '%,"data":{"webhook_id":' || ${id}::bigint || '}}'
    )`
  const text = `
    with webhook as materialized (
      select event_types, filter_path, changed from ${schema}.webhooks
      where tenant = $1 and id = ${id}::bigint and status = 'active' and subscription_id is null
    ), read as materialized (
      select e.seq, e.recorded_at from ${schema}.events e ${where}
      order by e.tenant_key, e.recorded_at, e.seq limit ${where.bind(size)}::integer
    ), wanted as materialized (
      -- Locks only matching events.
      select matched.seq from read cross join lateral (
        select e.seq from ${schema}.events e
        where e.seq = read.seq and e.type = any ((select event_types from webhook)::text[])
          and (${types}::text[] is null or e.type = any (${types}))
          and not exists (select from ${schema}.queue q where q.event_seq = e.seq and q.webhook_id = ${id}::bigint)
          and ${include === 'all' ? isMatch : `case when ${isUndelivered(schema, id)} then ${isMatch} else false end`}
        limit 1 ${lock}
      ) as matched
      limit ${most}::integer + 1
    )
    select json_build_object(
      'isActive', exists (select from webhook),
      'read', (select count(*) from read),
      'last', (
        select concat(to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), ' ', seq)
        from read order by recorded_at desc, seq desc limit 1
      ),
      'seqs', (select coalesce(json_agg(wanted.seq::text order by wanted.seq), '[]') from wanted)
    )::text as json`
  return { text, values: where.values }
}

/** Returns the condition that an event `e`'s last delivery to a webhook failed or was skipped. */
function isUndelivered (schema: string, id: string): string {
  return `(
    select d.status in ('failed', 'skipped') from ${schema}.deliveries d
    where d.event_seq = e.seq and d.webhook_id = ${id}::bigint
    order by d.id desc limit 1
  )`
}

/** Queues the selected events. A separate statement sees what others queued and delivered during the selection. */
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

/** Makes a delivery due now, or queues its event again; `schema` is quoted. */
export function createRetry (session: Session, schema: string, stop: StopDeliveries): DeliveryStore['retry'] {
  const text = retryStatement(schema)

  async function retry (query: RunQuery, values: unknown[]): Promise<{ is_new: boolean, id: string } | null> {
    for (;;) {
      const [row] = await query<{ is_found: boolean, is_new: boolean, id: string | null }>(text, values)
      if (row?.is_found !== true) return null
      const { is_new: isNew, id } = row
      // Otherwise another call has queued the event at the same time.
      if (id !== null) return { is_new: isNew, id }
    }
  }

  async function read (from: Pick<Session, 'query'>, ...ids: Parameters<DeliveryStore['find']>): Promise<Delivery | null> {
    const found = await findDelivery(from, schema, ...ids)
    if (found === null) return null
    const { attempts, body, ...delivery } = found
    return delivery
  }

  return async (tenant, webhookId, id, answer) => {
    const { pending, stored } = await session.transaction('retry', async (query) => {
      const pending = await retry(query, [tenant, webhookId, id])
      if (pending === null || answer === undefined) return { pending, stored: null }
      const own = { query: <Row>(_operation: string, text: string, values?: unknown[]) => query<Row>(text, values) }
      const stored = await read(own, tenant, webhookId, Number(pending.id))
      if (stored !== null) await storeAnswer(query, schema, tenant, answer, stored)
      return { pending, stored }
    })
    if (pending === null) return null
    if (pending.is_new) await stop.sweepIfStopped(webhookId, pending.id)
    return stored ?? read(session, tenant, webhookId, Number(pending.id))
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
      ) and exists (select from ${schema}.webhooks where tenant = $1 and id = $2::bigint
        and status = 'active' and subscription_id is null)
      -- Keeps it from being pruned until this commits.
      for key share of e
    ), pending as (
      select q.ctid as place, q.id from ${schema}.queue q join wanted on q.event_seq = wanted.seq
        where q.webhook_id = $2::bigint
    ), hastened as (
      update ${schema}.queue q set lane = case when q.is_replay then 3 else 2 end, due_at = least(q.due_at, moment)
      from ${moment} as moment
      where q.ctid = any (array(
        select q.ctid from ${schema}.queue q
        -- A paused webhook's deliveries that were set aside are already due.
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
