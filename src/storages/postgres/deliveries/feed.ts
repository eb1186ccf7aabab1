import type { EventFeed, FeedPage } from '../../../core/ports/index.js'
import { createReadBound, createReadHeldBack, formatPosition, parsePosition } from '../changes/position.js'
import { readValue, type Session } from '../session.js'
import { equals, planWithValues } from '../sql.js'
import { formatFilterPath } from '../webhooks.js'

/**
 * How many events to read for a filter by type. If few match, the page is small and the client requests the next one.
 */
const readAtLeast = 1000

/** The same for a filter by data, which reads bodies. */
const readBodiesAtLeast = 500

/** A page ends before the event that takes the bodies over this size. */
const maxPageBytes = 4 * 1024 * 1024

interface FeedRow {
  epoch: string
  /** Whether the server has reached the position and no later event was pruned. */
  is_known: boolean
  /** Where the next page begins, if everything was read. */
  end: string
  /** The last event that was read, if there are more. */
  last_read: string | null
  seq: string | null
  /** `null` if the previous events fill the page. */
  body: string | null
}

/** Reads events in the order in which they were recorded; `schema` is quoted. */
export function createEventFeed (session: Session, schema: string, tokenSecret: EventFeed['tokenSecret']): EventFeed {
  const readBound = createReadBound(session, schema, 'events')
  // One statement reads the events and checks the position, so that both see one snapshot.
  const text = `
    with bounds as materialized (
      select b.*, coalesce($4::bigint, b.pruned) as after
      from ${schema}.feed_bounds_v1($1, $2) as b
    ), read as materialized (
      select e.seq, e.type
      from ${schema}.events e
      where e.tenant_key ${equals('(select b.tenant_key from bounds b)')}
        -- The planner knows both numbers, but not how far events were pruned.
        and e.seq > coalesce($4::bigint, 0) and e.seq <= $2::bigint
        and (e.seq > (select b.after from bounds b)) is true
      order by e.tenant_key, e.seq
      limit $6
    )
    select b.epoch, b.after >= b.pruned and b.after <= $3::bigint as is_known,
      greatest(b.read_to, b.after)::text as end, last.seq::text as last_read, e.seq::text,
      case when row_number() over (order by e.seq) = 1 or sum(octet_length(e.body)) over (order by e.seq) <= $8::bigint
        then e.body end as body
    from bounds b
    left join (select r.seq from read r order by r.seq offset $6 - 1) as last on true
    left join (
      select r.seq from read r
      where ($5::text[] is null or r.type = any ($5)) and ($9::jsonpath is null or (
        select ${schema}.event_json_v1(coalesce(e.filter_body, e.body)) @@ $9 from ${schema}.events e
        where e.seq = r.seq limit 1
      ))
      order by r.seq limit $7
    ) as page on true
    left join lateral (select e.seq, e.body from ${schema}.events e where e.seq = page.seq limit 1) as e on true
    where ${planWithValues}
    order by e.seq`

  // Concurrent events may have dates in another order than seq, so several events are read.
  const beforeText = `
    with bounds as materialized (
      select * from ${schema}.feed_bounds_v1($1, $2)
    )
    select b.epoch, greatest(b.pruned, $4::bigint, least(b.read_to, (
      select min(dated.seq) - 1 from (
        select e.seq from ${schema}.events e
        where e.tenant_key ${equals('(select b.tenant_key from bounds b)')} and e.recorded_at >= $3
        order by e.tenant_key, e.recorded_at, e.seq
        limit ${readAtLeast}
      ) as dated
    )))::text as seq
    from bounds b`

  const keyOf = `coalesce((select t.key from ${schema}.tenants t where t.tenant = $1), $1)`
  const latestText = `
    select body
    from (
      select page.seq, e.body, sum(octet_length(e.body)) over (order by page.seq desc) as bytes
      from (
        select latest.seq
        from (
          select e.seq, e.type from ${schema}.events e
          where e.tenant_key ${equals(keyOf)}
          order by e.tenant_key desc, e.seq desc
          limit $3
        ) as latest
        where $2::text[] is null or latest.type = any ($2)
        order by latest.seq desc
        limit $4
      ) as page
      cross join lateral (select e.body from ${schema}.events e where e.seq = page.seq limit 1) as e
    ) as found
    where bytes <= ${maxPageBytes}
    order by seq desc`

  return {
    async end (tenant) {
      const { bound } = await readBound()
      const [row] = await session.query<{ epoch: string, seq: string }>('read position of events',
        `select epoch, read_to::text as seq from ${schema}.feed_bounds_v1($1, $2)`, [tenant, bound])
      return formatPosition({ seq: String(row?.seq), epoch: String(row?.epoch) })
    },

    async endBefore (tenant, since, after = '') {
      const { bound } = await readBound()
      const [row] = await session.query<{ epoch: string, seq: string }>(
        'find position of events', beforeText, [tenant, bound, since, parsePosition(after)?.seq]
      )
      return formatPosition({ seq: String(row?.seq), epoch: String(row?.epoch) })
    },

    find: (tenant, id, { omitBody = false } = {}) => readValue(session, 'find event', `
      select ${omitBody ? "''" : 'e.body'} from ${schema}.events e
      where e.id = $2 and e.tenant_key = ${keyOf}`, [tenant, id]),

    async list (tenant, { after, limit, eventTypes, filters = null, maxBytes = maxPageBytes }) {
      const position = after === null ? null : parsePosition(after)
      if (after !== null && position === null) return null
      const least = filters !== null ? readBodiesAtLeast : eventTypes === null ? 0 : readAtLeast
      const readLimit = Math.max(limit + 1, least)
      const { bound, last } = await readBound()
      const bytes = Math.min(maxBytes, maxPageBytes)
      const path = filters === null ? null : formatFilterPath(filters)
      const values = [tenant, bound, last, position?.seq, eventTypes, readLimit, limit + 1, bytes, path]
      const rows = await session.prepared<FeedRow>('list events', text, values)
      const [first] = rows
      if (first?.is_known !== true || (position !== null && position.epoch !== first.epoch)) return null
      return createPage(first, rows, limit)
    },

    async latest (tenant, { limit, eventTypes }) {
      const rows = await session.query<{ body: string }>(
        'read latest events', latestText, [tenant, eventTypes, readAtLeast, limit]
      )
      return rows.map(({ body }) => body)
    },

    stats: createReadHeldBack(session, schema, 'events'),

    tokenSecret
  }
}

function createPage ({ epoch, end, last_read: lastRead }: FeedRow, rows: readonly FeedRow[], limit: number): FeedPage {
  const found = rows.filter(({ seq }) => seq !== null).length
  const page = rows.slice(0, limit).flatMap(({ seq, body }) => seq === null || body === null ? [] : [{ seq, body }])
  const bodies = page.map(({ body }) => body)
  const last = page.at(-1)
  const isFull = found > page.length && last !== undefined
  const seq = isFull ? last.seq : lastRead ?? end
  return { bodies, position: formatPosition({ seq, epoch }), hasMore: isFull || lastRead !== null }
}
