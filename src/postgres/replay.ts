import type { ReplayResult, ReplaySelection } from '../ports/index.js'
import type { Session } from './session.js'
import { Conditions, moment } from './sql.js'

/** Queues events to a webhook once more; `schema` is quoted. */
export function createReplay (session: Session, schema: string) {
  return (tenantSlug: string, webhookId: number, selection: ReplaySelection): Promise<ReplayResult | null> =>
    session.transaction('replay', async (query) => {
      // Replays to one webhook wait for one another, or two of them would queue the same events.
      const [webhook] = await query<{ event_types: string }>(`
        select array_to_json(event_types)::text as event_types from ${schema}.webhooks
        where tenant_slug = $1 and id = $2 and status = 'active'
        for no key update`, [tenantSlug, webhookId])
      if (webhook === undefined) return null

      const types = (JSON.parse(webhook.event_types) as string[])
        .filter((type) => selection.eventTypes === null || selection.eventTypes.includes(type))
      const { text, values } = replayStatement(schema, tenantSlug, webhookId, types, selection)
      const [row] = await query<{ queued: string, wanted: string }>(text, values)
      return { queued: Number(row?.queued), truncated: Number(row?.wanted) > Number(row?.queued) }
    })
}

function replayStatement (
  schema: string,
  tenantSlug: string,
  webhookId: number,
  types: string[],
  { include, eventIds, since, until, limit }: ReplaySelection
): { text: string, values: unknown[] } {
  const where = new Conditions(
    ['e.tenant_slug = $', tenantSlug],
    ['e.type = any ($)', types],
    ['e.id = any ($)', eventIds === null ? undefined : [...eventIds]],
    ['e.recorded_at >= $::timestamptz', since ?? undefined],
    ['e.recorded_at <= $::timestamptz', until ?? undefined]
  )
  const webhook = where.bind(webhookId)
  const most = where.bind(limit)
  const isWanted = include === 'all' ? "is distinct from 'pending'" : "in ('failed', 'skipped')"
  const text = `
    with wanted as materialized (
      select e.seq from ${schema}.events e
      ${where} and (
        select d.status from ${schema}.deliveries d
        where d.event_seq = e.seq and d.webhook_id = ${webhook}
        order by d.id desc limit 1
      ) ${isWanted}
      order by e.seq
      limit ${most}::integer + 1
      -- Until this has committed, nobody prunes them.
      for key share of e
    ), queued as (
      insert into ${schema}.deliveries (webhook_id, event_seq, status, priority, next_attempt_at, created_at)
      select ${webhook}, wanted.seq, 'pending', 2, moment, moment
      from wanted, ${moment} as moment
      order by wanted.seq
      limit ${most}
      returning id
    )
    select (select count(*) from queued)::text as queued, (select count(*) from wanted)::text as wanted`
  return { text, values: where.values }
}
