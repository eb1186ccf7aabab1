import { findLists } from '../set-up.js'
import {
  type Check, endPrepared, endSession, findRows, grantMonitor, preparedName, sessionName
} from './finding.js'

const [usualLockSeconds, usualTransactionSeconds] = [5, 600]
/** Rows deleted in fewer transactions than this can be kept without harm. */
const fewTransactions = 10_000

/** Finds who locks what this package needs, and who delays vacuum. */
export const transactionChecks: readonly Check[] = [{
  // Its tables, the host's relations with the tables below them, rows that its statements wait for, and the locks of
  // claims and health, which others need many times per second.
  name: 'locks',
  ok: 'no transaction locks what this package needs for long',
  async find ({ query, schema, flags }) {
    const lists = (await findLists(query, schema, flags)).flatMap(({ relation }) => relation ?? [])
      .map((relation) => `${relation.schema}.${relation.name}`)
    return findRows(query, `
      with recursive host as (
        select to_regclass(list)::oid as oid from unnest($3::text[]) as list
        union
        select d.refobjid
        from host h
        join pg_rewrite r on r.ev_class = h.oid
        join pg_depend d on d.objid = r.oid
        where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
      ), lock as materialized (
        select l.*, coalesce(l.pid::text, l.virtualtransaction) as id,
          l.database = (select oid from pg_database where datname = current_database()) as is_here
        from pg_locks l where l.granted and l.pid is distinct from pg_backend_pid()
      ), holder as (
        select a.pid::text as id, ${sessionName} as who, a.xact_start as since, a.query, ${endSession} as remedy
        from pg_stat_activity a
        union all
        select l.id, ${preparedName}, p.prepared, 'prepare transaction', ${endPrepared}
        from lock l join pg_prepared_xacts p on p.transaction = l.transactionid where l.pid is null
      ), held as (
        select l.id, l.virtualtransaction as turn, false as is_short,
          string_agg(distinct case n.nspname when $1 then c.relname else c.oid::regclass::text end, ', ') as what
        from lock l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
        where l.is_here and l.locktype = 'relation' and c.relkind in ('r', 'p', 'v', 'm') and case n.nspname
          when $1 then l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
          else l.mode = 'AccessExclusiveLock' and c.oid in (select h.oid from host h)
        end
        group by 1, 2
        union all
        select distinct blocking.pid::text, '', false, 'rows that this package needs'
        from pg_stat_activity w cross join unnest(pg_blocking_pids(w.pid)) as blocking (pid)
        where w.wait_event_type = 'Lock' and w.wait_event not in ('advisory', 'relation')
          and starts_with(w.query, '/* fastify-recruiting-api ')
        union all
        select l.id, l.virtualtransaction, true, k.what
        from (values ('claims', '.claim'), ('the health of webhooks', '.health')) as k (what, suffix)
        join lock l on l.locktype = 'advisory' and l.is_here and l.objsubid = 1
          and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($1 || k.suffix, 0)
      )
      select null as key, false as unseen, remedy, format(
        '%s has locked %s since %s (%s s), so statements wait; its last one: %s', who, what,
        to_char(since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        extract(epoch from clock_timestamp() - since)::int, left(regexp_replace(query, '\\s+', ' ', 'g'), 200)) as text
      from held join holder using (id)
      where not is_short and since < clock_timestamp() - $2::int * interval '1 second'
      union all
      select concat_ws(' ', id, turn, what), since is null and not is_short,
        case when since is null and not is_short then '${grantMonitor}' else remedy end,
        case when is_short
          then format('%s has kept the lock of %s for more than a second, so deliveries wait', who, what)
          else format('the database user cannot see since when %s has locked %s', who, what) end
      from held join holder using (id) where is_short or since is null`,
    [schema, flags.integer('max-lock-seconds') ?? usualLockSeconds, lists])
  }
}, {
  // Prepared ones of other databases only delay the reuse of transaction ids. The feed and sync wait for any that has
  // recorded an event or a change.
  name: 'transactions',
  ok: 'no old transaction delays vacuum, the feed or sync',
  find: ({ query, flags }) => findRows(query, `
    with open as (
      select ${sessionName} as who, a.xact_start as since, null as elsewhere, ${endSession} as remedy,
        case when a.query = '<insufficient privilege>'
          and greatest(age(a.backend_xid), age(a.backend_xmin)) > ${fewTransactions}
          then concat_ws(' ', a.pid, a.backend_xid, a.backend_xmin) end as hidden
      from pg_stat_activity a
      where datname = current_database() and pid <> pg_backend_pid()
        and (backend_xid is not null or backend_xmin is not null)
        and not starts_with(query, '/* fastify-recruiting-api doctor ')
      union all
      select ${preparedName}, p.prepared, nullif(p.database, current_database()), ${endPrepared}, null
      from pg_prepared_xacts p
    ), late as (
      select *, extract(epoch from clock_timestamp() - since)::int as seconds from open
      where since < clock_timestamp() - $1::int * interval '1 second'
    )
    select null as key, false as unseen, concat('in the database ' || elsewhere || ', ', remedy) as remedy,
      concat(who, ' in the database ' || elsewhere, format(' has had a transaction open for %s s, so ', seconds), case
        when elsewhere is null
          then 'vacuum cannot remove deleted rows, and the feed and sync wait if it has recorded something'
        else 'the server cannot reuse transaction ids'
      end) as text
    from late
    union all
    select hidden, true, '${grantMonitor}',
      format('the database user cannot see since when %s has had a transaction open', who)
    from open where hidden is not null`, [flags.integer('max-transaction-seconds') ?? usualTransactionSeconds])
}]
