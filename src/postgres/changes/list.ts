import type { ChangePage, ChangeSource } from '../../ports/index.js'
import type { Session } from '../session.js'
import { formatPosition, parsePosition } from './position.js'

interface ChangeRow {
  is_known: boolean
  /** The transaction at which everything has been read. `null` if the position asked for is not before it. */
  end: string | null
  /** `null` if there is no change. */
  id: string | null
  xid: string
}

/** Lists changes; `schema` is quoted. One statement, so that all it reads is of one snapshot. */
export function createListChanges (session: Session, schema: string): ChangeSource['list'] {
  const text = `
    select bounds.epoch = $3 and bounds.first_known <= $4::xid8 and bounds.horizon >= $4::xid8 as is_known,
      case when bounds.read_to > $4::xid8 then bounds.read_to::text end as end, change.id, change.xid::text
    from ${schema}.change_bounds_v1($1, $2) as bounds
    left join lateral (
      select c.id, c.xid
      from (select * from ${schema}.changes union all select * from ${schema}.recent_changes) as c
      where c.tenant_slug = $1 and c.kind = $2 and (c.xid, c.id) > ($4::xid8, $5) and c.xid < bounds.horizon
      order by c.xid, c.id
      limit $6
    ) as change on true
    order by change.xid, change.id`

  return async (tenantSlug, kind, { after, limit }) => {
    const position = parsePosition(after)
    if (position === null) return null
    const { epoch, xid, id } = position
    const rows = await session.query<ChangeRow>('list changes', text, [tenantSlug, kind, epoch, xid, id, limit + 1])
    return rows[0]?.is_known === true ? createPage(rows, limit, epoch, after) : null
  }
}

function createPage (rows: readonly ChangeRow[], limit: number, epoch: string, after: string): ChangePage {
  const changes = rows.flatMap(({ id, xid }) => id === null ? [] : [{ id, xid }])
  const page = changes.slice(0, limit)
  const last = page.at(-1)
  const hasMore = changes.length > limit
  const end = rows[0]?.end ?? null
  const next = hasMore && last !== undefined ? last : end === null ? null : { xid: end, id: '' }
  return { ids: page.map(({ id }) => id), position: next === null ? after : formatPosition({ ...next, epoch }), hasMore }
}
