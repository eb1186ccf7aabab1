import { findLists } from '../rights.js'
import { type Check, fault, orOk } from './finding.js'

const usualSeconds = 5

interface Holder {
  who: string
  pid: number
  since: string
  seconds: number
  /** The tables that it has locked; `null` if it holds only rows or other locks. */
  tables: string | null
  statement: string
}

/**
 * Whether transactions keep others from what this package needs: its tables, the relations of the host with the tables
 * beneath them, and rows for which its statements wait.
 */
export const locks: Check = {
  name: 'locks',
  needsTables: false,
  async run ({ query, schema, flags }) {
    const limit = flags.integer('max-lock-seconds') ?? usualSeconds
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
    return orOk(holders.map(({ who, pid, since, seconds, tables, statement }) => {
      const problem = `${who} has locked ${tables ?? 'rows that this package needs'} since ${since} (${seconds} s)`
      return fault(`${problem}, so statements wait; its last one: ${statement}`,
        `end it with select pg_terminate_backend(${pid})`)
    }), `no transaction has locked what this package needs for ${limit} s`)
  }
}
