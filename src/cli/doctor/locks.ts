import { type Finding, type DoctorContext, fault, ok } from './finding.js'

const usualSeconds = 5

interface Holder {
  who: string
  pid: number
  since: string
  seconds: number
  /** The package's tables that it has locked; `null` if it holds only rows or other locks. */
  tables: string | null
  blocksReads: boolean
  statement: string
}

/** Finds transactions that keep others from the package's tables. `blocksReads` if the other checks would wait as well. */
export async function findLocks ({ session, schema, flags }: DoctorContext): Promise<{ findings: Finding[], blocksReads: boolean }> {
  const limit = flags.integer('max-lock-seconds') ?? usualSeconds
  const holders = await session.query<Holder>('look for locks', `
    select format('process %s (%s, %s)', a.pid, usename, coalesce(nullif(application_name, ''), state)) as who, a.pid,
      to_char(xact_start at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
      extract(epoch from clock_timestamp() - xact_start)::int as seconds,
      l.tables, coalesce(l.blocks_reads, false) as "blocksReads", left(regexp_replace(query, '\\s+', ' ', 'g'), 200) as statement
    from pg_stat_activity a
    left join (
      select pid, string_agg(distinct relname, ', ') as tables, bool_or(mode = 'AccessExclusiveLock') as blocks_reads
      from pg_locks join pg_class on pg_class.oid = relation
      where granted and relnamespace = (select oid from pg_namespace where nspname = $1) and relkind in ('r', 'p')
        and database = (select oid from pg_database where datname = current_database())
        and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      group by pid
    ) l on l.pid = a.pid
    where datname = current_database() and a.pid <> pg_backend_pid() and xact_start < clock_timestamp() - $2::int * interval '1 second'
      and (l.pid is not null or a.pid in (
        select unnest(pg_blocking_pids(pid)) from pg_stat_activity
        where wait_event_type = 'Lock' and wait_event <> 'advisory' and starts_with(query, '/* fastify-recruiting-api ')))
    order by xact_start`, [schema, limit])
  const findings = holders.map(({ who, pid, since, seconds, tables, statement }) => fault(
    `${who} has locked ${tables ?? 'rows that this package needs'} since ${since} (${seconds} s), last with: ${statement}`,
    `end it with select pg_terminate_backend(${pid})`))
  return { findings: findings.length > 0 ? findings : [ok(`no transaction has locked what this package needs for ${limit} s`)], blocksReads: holders.some(({ blocksReads }) => blocksReads) }
}
