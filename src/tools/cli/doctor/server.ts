import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listLacking, listLackingOnLists } from '../../../storages/postgres/grants.js'
import { ask, type RunQuery } from '../../../storages/postgres/session.js'
import { quoteName } from '../../../storages/postgres/sql.js'
import { findMissing, listNames, readVersion } from '../../../storages/postgres/upgrade/version.js'
import { findLists } from '../set-up.js'
import { listWorkerRoles } from './data.js'
import { quoteShell } from '../terminal.js'
import { advice, type Check, type DoctorContext, fault, type Finding, findRows, ok } from './finding.js'

/** The share of connections that may be used. Transaction ids wrap around after twice as many as these. */
const [maxUsed, maxAge] = [0.9, 1_000_000_000]
/** Vacuum is late above this many dead rows plus this many times autovacuum's threshold. */
const [fewDead, deadFactor] = [10_000, 10]
/** A table is bloated if it is this large, and this many times as large as its rows. */
const [bloatBytes, bloatFactor] = [32 * 1024 * 1024, 10]
/** A slot or standby may keep the rows deleted in this many transactions. */
const manyTransactions = 1_000_000
const [notifyMs, commitMs] = [2000, 1000]

export const serverChecks: readonly Check[] = [{
  // The check schema compares their result.
  name: 'migrations',
  ok: 'all of them have run',
  async find ({ query, schema }) {
    const missing = await findMissing(query, schema, await readVersion())
    if (missing.migrations.length === 0) return []
    return [fault(`the schema ${schema} lacks ${listNames(missing).join(', ')}, so servers do not start`,
      `run fastify-recruiting-api migrate --schema ${quoteShell(schema)}`)]
  }
}, {
  // Of the database user, of the workers' users, and of the owners of functions that run with their rights. Without
  // privileges, looking for the tables fails too.
  name: 'privileges',
  find: findLackingRights
}, {
  name: 'database',
  ok: 'it can be written, its encoding is UTF8, and connections and transaction ids are left',
  find: ({ query }) => findRows(query, `
    with limits (what, used, most) as (
      select 'the server', (select sum(numbackends)::int from pg_stat_database), (
        select sum(case name when 'max_connections' then 1 else -1 end * setting::int)::int from pg_settings
        where name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')
      )
      union all
      select 'the database ' || d.datname, s.numbackends, d.datconnlimit
      from pg_database d join pg_stat_database s on s.datid = d.oid
      where d.datname = current_database() and d.datconnlimit >= 0
      union all
      select 'the role ' || rolname, (select count(*)::int from pg_stat_activity where usename = rolname), rolconnlimit
      from pg_roles where rolname = current_user and rolconnlimit >= 0
    )
    select format('the encoding of the database is %s instead of UTF8, so events with other characters cannot be ' ||
      'recorded', encoding) as text,
      'dump it, run create database NAME encoding ''UTF8'' template template0, and restore the dump there' as remedy
    from getdatabaseencoding() as encoding where encoding <> 'UTF8'
    union all
    select 'this server is a standby, so nothing can be recorded or delivered here',
      'use the address of the primary, or promote this server with select pg_promote()' where pg_is_in_recovery()
    union all
    select format('%s of %s connections of %s are used, so servers and workers soon cannot connect', used, most, what),
      'close unused connections, make pools smaller, or raise the limit' from limits where used > ${maxUsed} * most
    union all
    select format('the database %s has not frozen rows for %s transactions: at two thousand million, the server ' ||
      'stops writing', datname, age),
      format('end what the checks transactions and replication report, then run vacuum in the database %s', datname)
    from pg_database cross join greatest(age(datfrozenxid), mxid_age(datminmxid)) as age where age > ${maxAge}`)
}, {
  name: 'settings',
  ok: 'no setting of the server, the database or a role breaks this package',
  find: findSettings
}, {
  name: 'vacuum',
  needsTables: true,
  ok: 'no table has too many dead rows or too much empty space',
  find: ({ query, schema, quotedSchema }) => findRows(query, `
    with own as (
      select c.oid, c.relname as name, c.reltuples, s.n_dead_tup as dead, options.*,
        format('%s.%I', $2::text, c.relname) as full_name, pg_relation_size(c.oid) + pg_indexes_size(c.oid) as bytes,
        -- Without large values, which are stored elsewhere.
        greatest(s.n_live_tup, c.reltuples, 1) * (200 + coalesce((
          select sum(avg_width) from pg_stats w where w.schemaname = $1 and w.tablename = c.relname
        ), 0)) as needed
      from pg_class c
      join pg_stat_user_tables s on s.relid = c.oid
      cross join lateral (
        select bool_or(not option_value::boolean) filter (where option_name = 'autovacuum_enabled') as is_off,
          max(option_value::float) filter (where option_name = 'autovacuum_vacuum_threshold') as threshold,
          max(option_value::float) filter (where option_name = 'autovacuum_vacuum_scale_factor') as scale
        from pg_options_to_table(c.reloptions)
      ) as options
      where s.schemaname = $1
    )
    select format('the table %s has autovacuum_enabled = false, so its dead rows stay and statements get slower and ' ||
      'slower', name) as text, format('alter table %s reset (autovacuum_enabled)', full_name) as remedy
    from own where is_off
    union all
    select format('the table %s has %s dead rows, far more than autovacuum should leave, so statements get slower',
      name, dead), 'end what the checks transactions and replication report, then run vacuum ' || full_name
    from own where dead > ${fewDead} + ${deadFactor} * (
      coalesce(threshold, current_setting('autovacuum_vacuum_threshold')::float)
      + coalesce(scale, current_setting('autovacuum_vacuum_scale_factor')::float) * greatest(reltuples, 0)
    )
    union all
    select format('the table %s takes %s MB, more than ${bloatFactor} times as much as its rows, so scans are slow',
      name, bytes / 1048576), format('vacuum full %s, which locks it for some seconds', full_name)
    from own where bytes > ${bloatBytes} and bytes > ${bloatFactor} * needed`, [schema, quotedSchema])
}, {
  name: 'publications',
  needsTables: true,
  ok: 'none prevents this package from writing',
  find: ({ query, schema, quotedSchema }) => findRows(query, `
    select format('the publication %s includes the table %s, which has no replica identity, so every update and ' ||
      'delete of its rows fails', string_agg(p.pubname, ', ' order by p.pubname), c.relname) as text,
      format('alter table %s.%I replica identity full', $2::text, c.relname) as remedy
    from pg_publication p
    join pg_publication_tables t on t.pubname = p.pubname
    join pg_class c on c.relname = t.tablename
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = t.schemaname
    where n.nspname = $1 and (p.pubupdate or p.pubdelete) and c.relreplident <> 'f' and not exists (
      select from pg_index i
      where i.indrelid = c.oid and case c.relreplident when 'd' then i.indisprimary else i.indisreplident end
    )
    group by c.relname`, [schema, quotedSchema])
}, {
  name: 'replication',
  ok: 'no slot or standby keeps dead rows or makes commits wait',
  async find (context) {
    // Amazon Aurora has no WAL positions unless logical replication is on.
    const [end] = await context.query<{ lsn: string }>(`select case when pg_is_in_recovery() then
      pg_last_wal_replay_lsn() else pg_current_wal_lsn() end::text as lsn`).catch(() => [])
    const found = await findRows(context.query, `
      with slot as (
        select *, coalesce(greatest(age(xmin), age(catalog_xmin)), 0) as age,
          format('select pg_drop_replication_slot(%L)', slot_name) as remedy
        from pg_replication_slots
        where not temporary and (xmin is not null or catalog_xmin is not null or restart_lsn is not null)
      )
      select format('no client reads the replication slot %s, so the server keeps %s MB of WAL and the rows deleted ' ||
        'in the last %s transactions', slot_name,
        coalesce(round(pg_wal_lsn_diff($1, restart_lsn) / 1048576)::text, 'unknown'), age) as text,
        'start its reader again, or run ' || remedy as remedy
      from slot where not active
      union all
      select format('the reader of the replication slot %s is slow, so vacuum keeps rows deleted in the last %s ' ||
        'transactions', slot_name, age), 'find out why it is slow, or stop it and run ' || remedy
      from slot where active and age > ${manyTransactions}
      union all
      select format('a statement on the standby %s keeps vacuum from removing rows deleted in the last %s transactions',
        coalesce(nullif(application_name, ''), pid::text), age(backend_xmin)),
        'end that statement on the standby, or set hot_standby_feedback to off there'
      from pg_stat_replication where age(backend_xmin) > ${manyTransactions}`, [end?.lsn ?? null])
    return [...found, ...await findWaitingCommits(context)]
  }
}, {
  // Behind a pooler in transaction mode, none arrives.
  name: 'listen',
  ok: 'notifications arrive',
  async find ({ pool, query }) {
    const channel = `doctor_${randomBytes(8).toString('hex')}`
    const client = await pool.connect()
    try {
      const arrived = new Promise<boolean>((resolve) => client.on?.('notification', () => resolve(true)))
      await client.query(`listen "${channel}"`)
      await query(`notify "${channel}"`)
      if (await Promise.race([arrived, sleep(notifyMs, false, { ref: false })])) return []
      return [fault('notifications do not arrive: a pooler in transaction mode is in between, so deliveries are ' +
        'found by polling', 'connect the workers directly or in session mode; or accept a delay of delivery.pollMs')]
    } finally {
      client.release(true)
    }
  }
}]

/** Waits for a commit, because few roles may see the standbys that it waits for. */
async function findWaitingCommits ({ pool, query }: DoctorContext): Promise<Finding[]> {
  const [row] = await query<{ names: string }>(
    "select current_setting('synchronous_standby_names') as names where not pg_is_in_recovery()")
  if (row === undefined || row.names === '') return []
  const client = await pool.connect()
  try {
    // Nothing reads the message, but its transaction must reach the standbys.
    await client.query(`begin; set local synchronous_commit to on;
      select pg_logical_emit_message(true, 'fastify-recruiting-api', 'doctor')`)
    const [own] = await ask<{ pid: number }>(client, 'select pg_backend_pid() as pid')
    const committed = client.query('commit').then(() => true)
    committed.catch(() => {})
    if (await Promise.race([committed, sleep(commitMs, false, { ref: false })])) return []
    await query('select pg_cancel_backend($1)', [own?.pid])
    return [fault(`no standby of synchronous_standby_names (${row.names}) confirms commits, so each of them waits`,
      'start the standby, or run alter system reset synchronous_standby_names; select pg_reload_conf()')]
  } finally {
    client.release(true)
  }
}

async function findLackingRights (context: DoctorContext): Promise<Finding[]> {
  const { query, schema, quotedSchema } = context
  const [own] = await query<{ role: string }>(
    'select current_user::text as role from pg_namespace where nspname = $1', [schema])
  if (own === undefined) return []
  const workers = (await listWorkerRoles(context)).filter((worker) => worker !== own.role)
  const ofRoles = await Promise.all([
    checkRole(context, own.role, fault), ...workers.map((worker) => checkRole(context, worker, advice))
  ])
  // The check watched tables reports the owners of triggers.
  const ofOwners = await findRows(query, `
    select format('%s, who owns functions such as %s, lacks usage on %s, so changes and events are missed or fail',
      owner, min(p.proname), string_agg(distinct c.relname, ', ')) as text,
      format('grant usage on all sequences in schema %s to %s', $2::text, owner) as remedy
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    join pg_class c on c.relnamespace = n.oid and c.relname in ('events_seq_seq', 'recent_changes_seq_seq')
    cross join quote_ident(pg_get_userbyid(p.proowner)) as owner
    where n.nspname = $1 and p.prosecdef and not has_sequence_privilege(p.proowner, c.oid, 'usage')
    group by owner`, [schema, quotedSchema])
  return [...ofRoles.flat(), ...ofOwners]
}

/** `report` creates the findings about the host's relations, which processes that only deliver do not read. */
async function checkRole (
  { query, schema, flags }: DoctorContext, role: string, report: typeof advice
): Promise<Finding[]> {
  const lists = (await findLists(query, schema, flags)).flatMap(({ relation }) => relation ?? [])
  const lacking = await listLacking(query, schema, role)
  const onLists = await listLackingOnLists(query, role, lists)
  const words = Object.entries({ schema, role, candidates: flags.text('candidates'), jobs: flags.text('jobs') })
    .map(([name, value]) => value === undefined ? '' : ` --${name} ${quoteShell(value)}`)
  const remedy = 'as the owner of the schema and of your tables, run fastify-recruiting-api grants' +
    `${words.join('')}${flags.has('no-lists') ? ' --no-lists' : ''} --apply`
  const findings = [
    ...await findHidden(query, schema, role),
    ...lacking.length === 0 ? [] : [fault(`${role} lacks ${lacking.join(', ')}`, remedy)],
    ...onLists.length === 0 ? [] : [report(`${role} lacks ${onLists.join(', ')}, and cannot serve lists`, remedy)]
  ]
  return findings.length > 0 ? findings : [ok(`${role} has all privileges that servers and workers need`)]
}

/** Finds tables of this package of which policies can hide rows from a role. */
function findHidden (query: RunQuery, schema: string, role: string): Promise<Finding[]> {
  return findRows(query, `
    select format('row-level security can hide rows of %s from %s, so events reach no webhook and keys are unknown',
      string_agg(c.relname, ', ' order by c.relname), $2::text) as text,
      format('alter role %s bypassrls, or disable row level security for these tables', $3::text) as remedy
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_roles r on r.rolname = $2
    where n.nspname = $1 and c.relrowsecurity and not r.rolsuper and not r.rolbypassrls
      and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))
      and not (
        select coalesce(bool_or(p.polcmd = '*' and pg_get_expr(p.polqual, p.polrelid) = 'true'), false)
          and bool_and(p.polpermissive)
        from pg_policy p
        where p.polrelid = c.oid and (p.polroles = '{0}' or exists (
          select from unnest(p.polroles) as to_role where to_role <> 0 and pg_has_role(r.oid, to_role, 'usage')
        ))
      )
    having count(*) > 0`, [schema, role, quoteName(role)])
}

const unitMs: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 }
/** Whether a time limit is set, and shorter than this. */
const below = (seconds: number) => (value: string): boolean => {
  const [, number = '', unit = ''] = /^(\d+) ?(ms|s|min|h|d)?$/.exec(value) ?? []
  const ms = Number(number) * Number(unitMs[unit])
  return ms > 0 && ms < 1000 * seconds
}
const one = (...words: string[]) => (value: string): boolean => words.includes(value.toLowerCase())
const isOff = one('off', 'false', 'no', '0')
/** Wrong values and their effect. */
type Setting = [isWrong: (value: string) => boolean, effect: string]
const noVacuum: Setting = [isOff, 'so dead rows stay and claims get slower and slower']

/** Settings that roles, databases and servers can have. */
const settings: Readonly<Record<string, Setting>> = {
  default_transaction_read_only: [one('on', 'true', 'yes', '1'), 'so this package cannot record or deliver anything'],
  session_replication_role: [one('replica'), 'so the triggers of watch do not run, and sync misses changes'],
  synchronous_commit: [isOff, 'so the last events and results are lost if the server crashes'],
  statement_timeout: [below(5), 'so statements of this package fail when the server is busy'],
  lock_timeout: [below(1), 'so statements of this package fail if they wait for others'],
  transaction_timeout: [below(60), 'so replays, erasures and changes of tenants fail'],
  idle_session_timeout: [below(3600), 'so the server ends the connections of pools and workers'],
  plan_cache_mode: [one('force_generic_plan'), 'so large tenants get the plans of small ones'],
  autovacuum: noVacuum,
  track_counts: noVacuum,
  ...Object.fromEntries(
    ['indexscan', 'indexonlyscan', 'bitmapscan', 'nestloop', 'sort'].map((name): [string, Setting] => (
      [`enable_${name}`, [isOff, 'so pages and claims read many more rows than they need']]))
  )
}

/** Finds settings of the server, the database, and roles that write this package's tables or watched tables. */
async function findSettings ({ pool, quotedSchema }: DoctorContext): Promise<Finding[]> {
  // The session has settings of its own.
  const rows = await ask<{ name: string, value: string, place: string, change: string }>(pool, `
    select s.name, s.setting as value, 'the server' as place, 'alter system' as change
    from pg_settings s where s.name = any ($1) and s.source not in ('user', 'database', 'database user')
    union all
    select c.name, c.value, case when r.oid is null then 'the database ' || quote_ident(d.datname)
        else 'the role ' || quote_ident(r.rolname) end,
      concat('alter ', 'role ' || quote_ident(r.rolname) || case when d.oid is not null then ' in ' else '' end,
        'database ' || quote_ident(d.datname))
    from pg_db_role_setting s
    cross join lateral unnest(s.setconfig) as config
    cross join lateral (select split_part(config, '=', 1), substr(config, strpos(config, '=') + 1)) as c (name, value)
    left join pg_roles r on r.oid = s.setrole
    left join pg_database d on d.oid = s.setdatabase
    where (d.oid is null or d.datname = current_database()) and (r.oid is null or r.rolname = current_user
      or c.name = 'session_replication_role' or coalesce(has_table_privilege(r.oid, to_regclass($2), 'insert'), false))
    order by 1, 3`, [Object.keys(settings), `${quotedSchema}.events`])
  return rows.flatMap(({ name, value, place, change }) => {
    const [isWrong, effect] = settings[name] ?? [() => false, '']
    const then = place === 'the server' ? '; select pg_reload_conf()' : ', then restart your servers'
    return isWrong(value) ? [fault(`${place} has ${name} = ${value}, ${effect}`, `${change} reset ${name}${then}`)] : []
  })
}
