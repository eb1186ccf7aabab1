import { setTimeout as sleep } from 'node:timers/promises'
import { createReadHeldBack } from '../../../storages/postgres/changes/position.js'
import type { RunQuery } from '../../../storages/postgres/session.js'
import { findLists } from '../upkeep.js'
import { type DoctorContext, fault, type Finding, ok, orOk, unknown } from './finding.js'

const usualTransactionSeconds = 600

interface OpenTransaction {
  who: string
  seconds: number
  remedy: string
  /** `null` if it is this one. */
  database: string | null
}

/**
 * Whether old transactions delay vacuum, and whether prepared ones of other databases delay the reuse of transaction
 * ids.
 */
export async function checkTransactions ({ query, flags }: DoctorContext): Promise<Finding[]> {
  const limit = flags.integer('max-transaction-seconds') ?? usualTransactionSeconds
  const open = await query<OpenTransaction>(`
    select format('process %s (%s, %s)', pid, usename, coalesce(nullif(application_name, ''), state)) as who,
      extract(epoch from clock_timestamp() - xact_start)::int as seconds, null as database,
      format('end it with select pg_terminate_backend(%s)', pid) as remedy
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (backend_xid is not null or backend_xmin is not null)
      and xact_start < clock_timestamp() - $1::int * interval '1 second'
      and not starts_with(query, '/* fastify-recruiting-api doctor ')
    union all
    select format('prepared transaction %s (%s)', gid, owner), extract(epoch from clock_timestamp() - prepared)::int,
      nullif(database, current_database()), format('end it with rollback prepared %1$L or commit prepared %1$L', gid)
    from pg_prepared_xacts
    where prepared < clock_timestamp() - $1::int * interval '1 second'
    order by seconds desc`, [limit])
  const findings = open.map(describeOpen)
  const hidden = await listHidden(query)
  if (hidden.size > 0) {
    await sleep(lookAgainMs)
    const still = [...await listHidden(query)].filter((one) => hidden.has(one))
    if (still.length > 0) {
      findings.push(unknown(`the database user cannot see since when ${still.join(', ')} has had a transaction open`,
        'grant pg_monitor to the database user'))
    }
  }
  return orOk(findings, `none is older than ${limit} s`)
}

const lookAgainMs = 1000

function describeOpen ({ who, seconds, remedy, database }: OpenTransaction): Finding {
  return database === null
    ? fault(`${who} has had a transaction open for ${seconds} s, so vacuum cannot remove deleted rows`, remedy)
    : fault(
        `${who} in the database ${database} has been open for ${seconds} s, so the server cannot reuse transaction ids`,
        `in the database ${database}, ${remedy}`
    )
}

/** Lists transactions of other users whose beginning is hidden from this user. */
async function listHidden (query: RunQuery): Promise<Set<string>> {
  const rows = await query<{ name: string }>(`
    select format('process %s (%s, transaction id %s)', pid, usename, coalesce(backend_xid, backend_xmin)) as name
    from pg_stat_activity
    where query = '<insufficient privilege>' and datname = current_database()
      and (backend_xid is not null or backend_xmin is not null)`)
  return new Set(rows.map(({ name }) => name))
}

/** Whether an open transaction that recorded a change hides later ones from sync. */
export function checkSync (context: DoctorContext): Promise<Finding[]> {
  return checkHeldBack(context, 'recent_changes', 'changes of candidates and jobs')
}

/** Whether an open transaction that emitted an event hides later ones from the feed. */
export function checkFeed (context: DoctorContext): Promise<Finding[]> {
  return checkHeldBack(context, 'events', 'events in GET .../events')
}

async function checkHeldBack (
  { session, quotedSchema, flags }: DoctorContext, table: 'events' | 'recent_changes', held: string
): Promise<Finding[]> {
  const limit = flags.integer('max-transaction-seconds') ?? usualTransactionSeconds
  const { heldBackMs, heldBackBy } = await createReadHeldBack(session, quotedSchema, table)()
  if (heldBackMs <= 1000 * limit) return [ok(`no transaction older than ${limit} s holds back ${held}`)]
  const seconds = Math.floor(heldBackMs / 1000)
  return [fault(`${heldBackBy} has had a transaction open for ${seconds} s, so later ${held} wait`,
    'end this transaction with pg_terminate_backend(pid), or commit prepared or rollback prepared')]
}

const usualLockSeconds = 5

interface Holder {
  who: string
  pid: number
  since: string
  seconds: number
  /** The tables that it has locked; `null` if it has locked only rows. */
  tables: string | null
  statement: string
}

/**
 * Whether transactions lock what this package needs: its tables, the host's relations with the tables below them, and
 * rows that its statements wait for.
 */
export async function checkLocks ({ query, schema, flags }: DoctorContext): Promise<Finding[]> {
  const limit = flags.integer('max-lock-seconds') ?? usualLockSeconds
  const lists = (await findLists(query, schema, flags)).flatMap(({ relation }) => relation ?? [])
    .map((relation) => `${relation.schema}.${relation.name}`)
  const holders = await query<Holder>(`
    with recursive host as (
      select to_regclass(list)::oid as oid from unnest($3::text[]) as list
      union
      select d.refobjid
      from host h
      join pg_rewrite r on r.ev_class = h.oid
      join pg_depend d on d.objid = r.oid
      where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
    ), locked as (
      select l.pid,
        string_agg(distinct case n.nspname when $1 then c.relname else c.oid::regclass::text end, ', ') as tables
      from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
      where l.granted and c.relkind in ('r', 'p', 'v', 'm')
        and l.database = (select oid from pg_database where datname = current_database())
        and case n.nspname
          when $1 then l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
          else l.mode = 'AccessExclusiveLock' and c.oid in (select h.oid from host h)
        end
      group by l.pid
    )
    select format('process %s (%s, %s)', a.pid, usename, coalesce(nullif(application_name, ''), state)) as who, a.pid,
      to_char(xact_start at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
      extract(epoch from clock_timestamp() - xact_start)::int as seconds,
      l.tables, left(regexp_replace(query, '\\s+', ' ', 'g'), 200) as statement
    from pg_stat_activity a left join locked l on l.pid = a.pid
    where datname = current_database() and a.pid <> pg_backend_pid()
      and xact_start < clock_timestamp() - $2::int * interval '1 second'
      and (l.pid is not null or a.pid in (
        select unnest(pg_blocking_pids(pid)) from pg_stat_activity
        where wait_event_type = 'Lock' and wait_event <> 'advisory'
          and starts_with(query, '/* fastify-recruiting-api ')))
    order by xact_start`, [schema, limit, lists])
  const found = holders.map(({ who, pid, since, seconds, tables, statement }) => {
    const problem = `${who} has locked ${tables ?? 'rows that this package needs'} since ${since} (${seconds} s)`
    return fault(`${problem}, so statements wait; its last one: ${statement}`,
      `end it with select pg_terminate_backend(${pid})`)
  })
  return orOk([...found, ...await findLongTurns(query, schema)],
    `no transaction has locked what this package needs for ${limit} s`)
}

interface Turn {
  key: string
  what: string
  who: string
  remedy: string
}

/** Finds transactions that keep a lock of claims or of health, which others need many times per second. */
async function findLongTurns (query: RunQuery, schema: string): Promise<Finding[]> {
  const first = await listTurns(query, schema)
  if (first.length === 0) return []
  await sleep(lookAgainMs)
  const later = new Set((await listTurns(query, schema)).map(({ key }) => key))
  return first.filter(({ key }) => later.has(key)).map(({ what, who, remedy }) => fault(
    `${who} has kept the lock of ${what} for more than ${lookAgainMs / 1000} s, so deliveries wait`, remedy))
}

function listTurns (query: RunQuery, schema: string): Promise<Turn[]> {
  return query<Turn>(`
    select concat_ws(' ', l.virtualtransaction, l.pid, l.classid, l.objid) as key, k.what,
      case when l.pid is null then format('prepared transaction %s (%s)', p.gid, p.owner)
        else format('process %s (%s, %s)', l.pid, a.usename, coalesce(nullif(a.application_name, ''), a.state)) end as who,
      case when l.pid is null then format('end it with rollback prepared %1$L or commit prepared %1$L', p.gid)
        else format('end it with select pg_terminate_backend(%s)', l.pid) end as remedy
    from (
      values ('claims', '.claim'), ('the health of webhooks', '.health')
    ) as k (what, suffix)
    join pg_locks l on l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($1 || k.suffix, 0)
      and l.database = (select oid from pg_database where datname = current_database())
    left join pg_stat_activity a on a.pid = l.pid
    left join (pg_locks own join pg_prepared_xacts p on p.transaction = own.transactionid)
      on own.pid is null and l.pid is null and own.virtualtransaction = l.virtualtransaction`, [schema])
}
