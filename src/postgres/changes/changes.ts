import type { ChangePage, ChangeSource, ChangeStats } from '../../ports/index.js'
import { askInTransaction } from '../handles/transaction.js'
import type { Session } from '../session.js'
import { formatPosition, parsePosition } from './position.js'
import { listWatchedTables } from './watched-tables.js'

interface ChangeRow {
  is_known: boolean
  /** The transaction at which everything has been read. `null` if the position asked for is not before it. */
  end: string | null
  /** `null` if there is no change. */
  id: string | null
  xid: string
}

/** Lists changes; `schema` is quoted. One statement, so that all it reads is of one snapshot. */
function createListChanges (session: Session, schema: string): ChangeSource['list'] {
  const text = `
    select bounds.epoch = $3 and bounds.is_recorded and bounds.first_known <= $4::xid8 and bounds.horizon >= $4::xid8 as is_known,
      case when bounds.read_to > $4::xid8 then bounds.read_to::text end as end, change.id, change.xid::text
    from ${schema}.change_bounds_v1($1, $2) as bounds
    left join lateral (
      select c.id, c.xid
      from (
        select tenant, kind, id, xid from ${schema}.changes
        union all
        select tenant, kind, id, xid from ${schema}.recent_changes
      ) as c
      where c.tenant = $1 and c.kind = $2 and (c.xid, c.id) > ($4::xid8, $5) and c.xid < bounds.horizon
      order by c.xid, c.id
      limit $6
    ) as change on true
    order by change.xid, change.id`

  return async (tenant, kind, { after, limit }) => {
    const position = parsePosition(after)
    if (position === null) return null
    const { epoch, xid, id } = position
    const rows = await session.query<ChangeRow>('list changes', text, [tenant, kind, epoch, xid, id, limit + 1])
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

/** Finds the transaction that hides changes from readers; `schema` is quoted. */
export function createChangeStats (session: Session, schema: string): () => Promise<ChangeStats> {
  // Without the right pg_read_all_stats, the beginning of other users' transactions is null.
  const text = `
    with oldest as (
      select c.changed_at, bounds.horizon::xid as xid
      from (select pg_snapshot_xmin(now) as horizon, pg_snapshot_xmax(now) as next from pg_current_snapshot() as now) as bounds
      join ${schema}.recent_changes c on c.xid >= bounds.horizon and c.xid < bounds.next
      order by c.xid
      limit 1
    ), owner as (
      select a.xact_start as began_at, format('pid %s, user %s, application %s', a.pid, a.usename, a.application_name) as name
      from oldest o join pg_stat_activity a on a.backend_xid = o.xid
      union all
      select p.prepared, format('prepared transaction %s, user %s', p.gid, p.owner)
      from oldest o join pg_prepared_xacts p on p.transaction = o.xid
    )
    select floor(1000 * extract(epoch from clock_timestamp() - least(owner.began_at, oldest.changed_at)))::text as ms,
      coalesce(owner.name, 'unknown') as name
    from oldest left join owner on true`

  return async () => {
    const [row] = await session.query<{ ms: string, name: string }>('read stats of changes', text)
    return row === undefined ? { heldBackMs: 0, heldBackBy: null } : { heldBackMs: Number(row.ms), heldBackBy: row.name }
  }
}

/** Who records changes: triggers of `watch`, or the host, which may use triggers too. */
export type ChangesMode = 'watch' | 'manual'

const compactLimit = 10_000

/** Remembers changes in PostgreSQL; `patient` has a longer time limit, `schema` is quoted. */
export function createChangeSource (session: Session, patient: Session, schema: string, mode: ChangesMode): Required<ChangeSource> {
  const recordHere = `select ${schema}.record_change_v1($1, $2, $3, $4) as result`
  const recordAlone = `select ${schema}.changed($1, $2, $3, $4::boolean)`

  /** Moves the recent changes that readers see to the table that keeps the last one of each candidate or job. */
  async function compact (): Promise<void> {
    for (let moved = compactLimit; moved === compactLimit;) {
      const [row] = await patient.query<{ moved: number }>('compact changes', `select ${schema}.compact_changes_v1($1) as moved`, [compactLimit])
      moved = Number(row?.moved)
    }
  }

  return {
    async begin (tenant, kind) {
      const [row] = await session.query<{ epoch: string, xid: string }>('read position',
        `select epoch, read_to::text as xid from ${schema}.change_bounds_v1($1, $2)`, [tenant, kind])
      return formatPosition({ xid: String(row?.xid), id: '', epoch: String(row?.epoch) })
    },

    list: createListChanges(session, schema),

    async record (tenant, { kind, id, deleted }, transaction) {
      const values = [tenant, kind, id, String(deleted)]
      if (transaction === undefined) await session.query('record change', recordAlone, values)
      else await askInTransaction(transaction, recordHere, values)
    },

    async isRecorded (kind) {
      const tables = await listWatchedTables((text, values) => session.query('list watched tables', text, values), schema, kind)
      const isWatched = mode === 'manual' || tables.some(({ isThere }) => isThere)
      return isWatched && tables.every(({ lost }) => lost.length === 0)
    },

    async tokenSecret () {
      const [row] = await session.query<{ secret: string }>('read token secret', `select encode(secret, 'hex') as secret from ${schema}.change_state`)
      return Buffer.from(String(row?.secret), 'hex')
    },

    async prune ({ retentionDays, limit }) {
      await compact()
      const [row] = await patient.query<{ pruned: number }>('prune changes',
        `select ${schema}.prune_changes_v1($1, $2) as pruned`, [retentionDays, limit])
      return Number(row?.pruned)
    },

    stats: createChangeStats(session, schema)
  }
}
