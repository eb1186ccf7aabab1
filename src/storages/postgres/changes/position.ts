import { setTimeout as sleep } from 'node:timers/promises'
import type { HeldBack } from '../../../core/ports/index.js'
import { readJson, type Session } from '../session.js'

/** A position in the events or changes: after the one numbered `seq`. */
interface Position {
  seq: string
  /** The database that issued it. */
  epoch: string
}

const pattern = /^(?<seq>\d{1,18})\.(?<epoch>[\da-f]{16})$/

export function formatPosition ({ seq, epoch }: Position): string {
  return `${seq}.${epoch}`
}

/** Parses a position; `null` if the text is not one. */
export function parsePosition (text: string): Position | null {
  const { seq, epoch } = pattern.exec(text)?.groups ?? {}
  return seq === undefined || epoch === undefined ? null : { seq, epoch }
}

/** A table that is read in the order of `seq`. */
type OrderedTable = 'events' | 'recent_changes'

/** The end of the rows that readers may see. Both are `null` on a standby, where every position is unknown. */
interface Bound {
  /** No open transaction can still commit a row up to this number. Read the rows in a later statement. */
  bound: string | null
  last: string | null
}

/** A read that takes longer reads many locks of the server. The next one then begins this long after its start. */
const [longReadMs, intervalMs] = [2, 20]

/**
 * Returns a function that reads how far readers may go; `schema` is quoted. Concurrent readers share one read, which
 * begins after they came: a client finds what it has just written.
 */
export function createReadBound (session: Session, schema: string, table: OrderedTable): () => Promise<Bound> {
  let running: Promise<Bound> | null = null
  let next: Promise<Bound> | null = null
  let mayBeginAt = Number.NEGATIVE_INFINITY

  async function read (): Promise<Bound> {
    const begunAt = performance.now()
    const [row] = await session.prepared<Bound>(`read bound of ${table}`,
      `select bound::text, last::text from ${schema}.recorded_to_v1($1::regclass)`, [`${schema}.${table}_seq_seq`])
    mayBeginAt = performance.now() - begunAt > longReadMs ? begunAt + intervalMs : begunAt
    return { bound: row?.bound ?? null, last: row?.last ?? null }
  }

  function begin (): Promise<Bound> {
    next = null
    running = read().finally(() => { running = null })
    return running
  }

  async function beginLater (): Promise<Bound> {
    // Its own callers get its error.
    await running?.catch(() => {})
    const waitMs = mayBeginAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    return begin()
  }

  return () => {
    if (next !== null) return next
    if (running === null && performance.now() >= mayBeginAt) return begin()
    next = beginLater()
    return next
  }
}

/** Finds the open transaction that hides committed rows from readers; `schema` is quoted. */
export function createReadHeldBack (session: Session, schema: string, table: OrderedTable): () => Promise<HeldBack> {
  const recordedAt = { events: 'recorded_at', recent_changes: 'changed_at' }[table]
  // A missing sequence returns no row: doctor reports it elsewhere. Without the role pg_read_all_stats, the start of
  // other users' transactions is null.
  const text = `
    with hidden as (
      select recorded.bound, hidden.${recordedAt} as since
      from ${schema}.recorded_to_v1(to_regclass($1)) as recorded
      cross join lateral (
        select t.${recordedAt} from ${schema}.${table} t
        where t.seq > recorded.bound and t.seq <= recorded.last order by t.seq limit 1
      ) as hidden
    ), owner as (
      select coalesce(a.xact_start, p.prepared) as began_at,
        case when p.gid is null then format('pid %s, user %s, application %s', a.pid, a.usename, a.application_name)
          else format('prepared transaction %s, user %s', p.gid, p.owner) end as name
      from hidden h
      join pg_locks l on l.locktype = 'advisory' and l.classid = to_regclass($1)::oid and l.objsubid = 2
        and l.objid = (h.bound & 2147483647)::oid
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
      left join pg_stat_activity a on a.pid = l.pid
      left join (
        -- Each transaction locks its own id; a prepared one has no process.
        pg_locks own join pg_prepared_xacts p on p.transaction = own.transactionid
      ) on own.pid is null and own.virtualtransaction = l.virtualtransaction and l.pid is null
      order by 1
      limit 1
    )
    select json_build_object(
      'heldBackMs', greatest(1, floor(
        1000 * extract(epoch from clock_timestamp() - least(owner.began_at, hidden.since))
      )),
      'heldBackBy', coalesce(owner.name, 'unknown')
    )::text as json
    from hidden left join owner on true`

  return async () => {
    const [held] = await readJson<HeldBack>(
      session, `read who holds back ${table}`, text, [`${schema}.${table}_seq_seq`]
    )
    return held ?? { heldBackMs: 0, heldBackBy: null }
  }
}
