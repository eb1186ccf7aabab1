import type { EventFeed, FeedPage } from '../../ports/index.js'
import { formatPosition, parsePosition } from '../changes/position.js'
import type { Session } from '../session.js'

/** How many events are read to find those of some types. If few match, the page is small and the client asks again. */
const readAtLeast = 1000

/** A page ends with the event that exceeds this size of all bodies. */
const maxPageBytes = 4 * 1024 * 1024

interface FeedRow {
  epoch: string
  /** Whether the server has reached the position, and no event after it was pruned. */
  is_known: boolean
  /** If everything was read: where the next page begins. */
  end_xid: string
  end_seq: string
  /** If there are more events to read: the last one that was read. */
  read_xid: string | null
  read_seq: string | null
  /** `null` if no event was found. */
  seq: string | null
  xid: string
  /** `null` if the events before it fill the page. */
  body: string | null
}

/** Reads events in the order of their transactions; `schema` is quoted. */
export function createEventFeed (session: Session, schema: string, tokenSecret: EventFeed['tokenSecret']): EventFeed {
  // One statement, so that all it reads is of one snapshot.
  const text = `
    with bounds as materialized (
      select b.*, coalesce($2::xid8, b.pruned_xid) as after_xid, coalesce($3::bigint, b.pruned_seq) as after_seq
      from ${schema}.feed_bounds_v1($1) as b
    ), read as materialized (
      select e.xid, e.seq, e.type
      from bounds b
      cross join lateral (
        select e.xid, e.seq, e.type
        from ${schema}.events e
        where e.tenant_key = b.tenant_key and (e.xid, e.seq) > (b.after_xid, b.after_seq) and e.xid < b.horizon
        order by e.xid, e.seq
        limit $5
      ) as e
    )
    select b.epoch,
      (b.after_xid, b.after_seq) >= (b.pruned_xid, b.pruned_seq) and b.after_xid <= b.horizon as is_known,
      greatest(b.read_to, b.after_xid)::text as end_xid,
      case when b.read_to > b.after_xid then '0' else b.after_seq::text end as end_seq,
      last.xid::text as read_xid, last.seq::text as read_seq,
      e.seq::text, e.xid::text,
      case when coalesce(sum(octet_length(e.body)) over (order by e.xid, e.seq rows between unbounded preceding and 1 preceding), 0) < ${maxPageBytes}
        then e.body end as body
    from bounds b
    left join (select r.xid, r.seq from read r order by r.xid, r.seq offset $5 - 1) as last on true
    left join (
      select r.seq from read r where $4::text[] is null or r.type = any ($4) order by r.xid, r.seq limit $6
    ) as page on true
    left join ${schema}.events e on e.seq = page.seq
    order by e.xid, e.seq`

  const latestText = `
    select body
    from (
      select latest.xid, latest.seq, e.body, sum(octet_length(e.body)) over (order by latest.xid desc, latest.seq desc) as bytes
      from (
        select e.xid, e.seq, e.type
        from ${schema}.events e
        where e.tenant_key = coalesce((select t.key from ${schema}.tenants t where t.tenant = $1), $1)
        order by e.xid desc, e.seq desc
        limit $3
      ) as latest
      join ${schema}.events e on e.seq = latest.seq
      where $2::text[] is null or latest.type = any ($2)
      order by latest.xid desc, latest.seq desc
      limit $4
    ) as found
    where bytes <= ${maxPageBytes}
    order by xid desc, seq desc`

  return {
    async end (tenant) {
      const [row] = await session.query<{ epoch: string, xid: string }>('read position of events',
        `select epoch, read_to::text as xid from ${schema}.feed_bounds_v1($1)`, [tenant])
      return formatPosition({ xid: String(row?.xid), id: '0', epoch: String(row?.epoch) })
    },

    async list (tenant, { after, limit, eventTypes }) {
      const position = after === null ? null : parsePosition(after)
      if (after !== null && !isNumber(position?.id)) return null
      const readLimit = eventTypes === null ? limit + 1 : Math.max(limit + 1, readAtLeast)
      const rows = await session.query<FeedRow>('list events', text, [tenant, position?.xid, position?.id, eventTypes, readLimit, limit + 1])
      return rows[0]?.is_known === true && (position === null || position.epoch === rows[0].epoch) ? createPage(rows[0], rows, limit) : null
    },

    async latest (tenant, { limit, eventTypes }) {
      const rows = await session.query<{ body: string }>('read latest events', latestText, [tenant, eventTypes, readAtLeast, limit])
      return rows.map(({ body }) => body)
    },

    tokenSecret
  }
}

function createPage (bounds: FeedRow, rows: readonly FeedRow[], limit: number): FeedPage {
  const { epoch, end_xid: endXid, end_seq: endSeq, read_xid: readXid, read_seq: readSeq } = bounds
  const found = rows.filter(({ seq }) => seq !== null).length
  const page = rows.slice(0, limit).flatMap(({ seq, xid, body }) => seq === null || body === null ? [] : [{ seq, xid, body }])
  const bodies = page.map(({ body }) => body)
  const last = page.at(-1)
  if (found > page.length && last !== undefined) return { bodies, position: formatPosition({ xid: last.xid, id: last.seq, epoch }), hasMore: true }
  if (readXid !== null && readSeq !== null) return { bodies, position: formatPosition({ xid: readXid, id: readSeq, epoch }), hasMore: true }
  return { bodies, position: formatPosition({ xid: endXid, id: endSeq, epoch }), hasMore: false }
}

/** Returns whether a position's id is the number of an event. */
function isNumber (id: string | undefined): boolean {
  return id !== undefined && /^\d{1,18}$/.test(id)
}
