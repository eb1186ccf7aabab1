import type { DeliveryStore, ReplaySelection } from '../../ports/index.js'
import type { Session } from '../session.js'
import { Conditions, moment } from '../sql.js'
import type { StopDeliveries } from './stop.js'

interface CountRow {
  webhooks: string
  wanted: string
}

interface ReplayRow extends CountRow {
  queued: string
  /** The lowest id of the new deliveries, or null. */
  first_id: string | null
}

/** Queues events for a webhook again, or counts them; `schema` is quoted. */
export function createReplay (session: Session, schema: string, stop: StopDeliveries): Pick<DeliveryStore, 'replay' | 'countReplay'> {
  return {
    async replay (tenantSlug, webhookId, selection) {
      const { text, values } = replayStatement(schema, select(schema, tenantSlug, webhookId, selection))
      const [row] = await session.query<ReplayRow>('replay', text, values)
      if (Number(row?.webhooks) === 0) return null
      if (typeof row?.first_id === 'string') await stop.sweepIfStopped(webhookId, row.first_id)
      return { queued: Number(row?.queued), truncated: Number(row?.wanted) > selection.limit }
    },

    async countReplay (tenantSlug, webhookId, selection) {
      const { text, values } = countStatement(select(schema, tenantSlug, webhookId, selection))
      const [row] = await session.query<CountRow>('count replay', text, values)
      if (Number(row?.webhooks) === 0) return null
      const wanted = Number(row?.wanted)
      return { queued: Math.min(wanted, selection.limit), truncated: wanted > selection.limit }
    }
  }
}

interface Selected {
  /** Selects the webhook if it is active. */
  webhook: string
  /** Selects the `seq` of each event to queue. Needs the result of `webhook` under this name. */
  wanted: string
  /** Parameters with the id of the webhook and the limit. */
  id: string
  most: string
  values: unknown[]
}

function select (
  schema: string,
  tenantSlug: string,
  webhookId: number,
  { include, eventTypes, eventIds, since, until, limit }: ReplaySelection
): Selected {
  const where = new Conditions(
    [`e.tenant_id = (select t.id from ${schema}.tenants t where t.slug = $)`, tenantSlug],
    ['e.type = any ($)', eventTypes === null ? undefined : [...eventTypes]],
    ['e.id = any ($)', eventIds === null ? undefined : [...eventIds]],
    ['e.recorded_at >= $::timestamptz', since ?? undefined],
    ['e.recorded_at <= $::timestamptz', until ?? undefined]
  )
  const id = where.bind(webhookId)
  const most = where.bind(limit)
  const isUndelivered = `(
    select d.status in ('failed', 'skipped') from ${schema}.deliveries d
    where d.event_seq = e.seq and d.webhook_id = ${id}::bigint
    order by d.id desc limit 1
  )`
  const webhook = `select event_types from ${schema}.webhooks where tenant_slug = $1 and id = ${id}::bigint and status = 'active'`
  const wanted = `
    select e.seq from ${schema}.events e
    ${where} and e.type = any ((select event_types from webhook)::text[])
      and not exists (select from ${schema}.queue q where q.event_seq = e.seq and q.webhook_id = ${id}::bigint)
      ${include === 'all' ? '' : `and ${isUndelivered}`}`
  return { webhook, wanted, id, most, values: where.values }
}

function replayStatement (schema: string, { webhook, wanted, id, most, values }: Selected): { text: string, values: unknown[] } {
  const text = `
    with webhook as materialized (${webhook}), wanted as materialized (
      ${wanted}
      order by e.seq
      limit ${most}::integer + 1
      -- Keeps them from being pruned until this commits.
      for key share of e
    ), queued as (
      insert into ${schema}.queue (event_seq, webhook_id, lane, is_replay, due_at, created_at)
      select wanted.seq, ${id}::bigint, 3, true, moment, moment
      from wanted, ${moment} as moment
      order by wanted.seq
      limit ${most}::integer
      on conflict (event_seq, webhook_id) do nothing
      returning id
    )
    select (select count(*) from webhook)::text as webhooks, (select count(*) from wanted)::text as wanted,
      (select count(*) from queued)::text as queued, (select min(id) from queued)::text as first_id`
  return { text, values }
}

/** Without an order, so that it stops at the limit. */
function countStatement ({ webhook, wanted, most, values }: Selected): { text: string, values: unknown[] } {
  const text = `
    with webhook as materialized (${webhook}), wanted as materialized (${wanted} limit ${most}::integer + 1)
    select (select count(*) from webhook)::text as webhooks, (select count(*) from wanted)::text as wanted`
  return { text, values }
}
