import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listLacking, listLackingOnLists } from '../../../storages/postgres/grants.js'
import { ask, type RunQuery } from '../../../storages/postgres/session.js'
import { quoteName } from '../../../storages/postgres/sql.js'
import { findMissing, listNames, readVersion } from '../../../storages/postgres/upgrade/version.js'
import { findLists } from '../upkeep.js'
import { listWorkerRoles } from './data.js'
import { advice, fault, type Finding, ok, type DoctorContext, quoteShell, orOk, unknown } from './finding.js'

/** Whether this version's migrations have run. `checkSchema` compares their result. */
export async function checkMigrations ({ query, schema }: DoctorContext): Promise<Finding[]> {
  const missing = await findMissing(query, schema, await readVersion())
  if (missing.migrations.length === 0) return [ok('all of them have run')]
  const remedy = `run fastify-recruiting-api migrate --schema ${quoteShell(schema)}`
  return [fault(`the schema ${schema} lacks ${listNames(missing).join(', ')}, so servers do not start`, remedy)]
}

const [maxOffsetMs, maxEventOffsetMs] = [5000, 60_000]
const latestEvents = 1000
const samples = 3
const notifyMs = 2000

/**
 * Whether this machine, the server and the machines that emitted the last events agree on the time. An event's id
 * contains the time of its machine.
 */
export async function checkClocks (context: DoctorContext): Promise<Finding[]> {
  const [last] = await context.query<{ ms: number }>(`
    select offset_ms as ms from (
      select (('x0000' || substr(e.id, 5, 12))::bit(64)::bigint - extract(epoch from e.recorded_at) * 1000)::float8
        as offset_ms
      from (select * from ${context.quotedSchema}.events order by seq desc limit ${latestEvents}) as e
      where e.id ~ '^evt_[0-9a-f]{32}$' and e.recorded_at > clock_timestamp() - interval '1 hour'
    ) as o where abs(offset_ms) < 1e10 order by abs(offset_ms) desc limit 1`)
  if (last !== undefined && Math.abs(last.ms) > maxEventOffsetMs) {
    const difference = `${Math.abs(Math.round(last.ms / 1000))} s ${last.ms > 0 ? 'ahead of' : 'behind'}`
    return [fault(`a machine that emits events is ${difference} the server, and receivers reject its notifications`,
      'synchronize the clocks of all machines, for example with chrony')]
  }
  const offsets = []
  for (let count = 0; count < samples; count++) offsets.push(await measureOffset(context))
  const sorted = offsets.toSorted((one, other) => one.uncertaintyMs - other.uncertaintyMs)
  const [best = { offsetMs: 0, uncertaintyMs: 0 }] = sorted
  const seconds = Math.abs(best.offsetMs / 1000).toFixed(1)
  if (Math.abs(best.offsetMs) - best.uncertaintyMs <= maxOffsetMs) {
    return [ok(`the clocks of this machine and the server differ by ${seconds} s`)]
  }
  const problem = `this machine is ${seconds} s ${best.offsetMs > 0 ? 'ahead of' : 'behind'} the server`
  return [fault(`${problem}, and receivers reject notifications that are minutes off`,
    'synchronize the clocks of both, for example with chrony')]
}

async function measureOffset ({ query, now }: DoctorContext): Promise<{ offsetMs: number, uncertaintyMs: number }> {
  const before = now()
  const [row] = await query<{ time: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as time')
  const after = now()
  return { offsetMs: (before + after) / 2 - Number(row?.time), uncertaintyMs: (after - before) / 2 }
}

/** Whether notifications arrive. Behind a pooler in transaction mode they do not. */
export async function checkListening ({ pool, query }: DoctorContext): Promise<Finding[]> {
  const channel = `doctor_${randomBytes(8).toString('hex')}`
  const client = await pool.connect()
  try {
    const arrived = new Promise<boolean>((resolve) => client.on?.('notification', () => resolve(true)))
    await client.query(`listen "${channel}"`)
    await query(`notify "${channel}"`)
    const hasArrived = await Promise.race([arrived, sleep(notifyMs, false, { ref: false })])
    if (hasArrived) return [ok('notifications arrive')]
    const problem = 'notifications do not arrive: a pooler in transaction mode is in between'
    return [fault(`${problem}, so deliveries are found by polling`,
      'connect the workers directly or in session mode; or accept a delay of delivery.pollMs')]
  } finally {
    client.release(true)
  }
}

/** Whether the database user and the workers' users have the privileges that a process needs. */
export async function checkPrivileges (context: DoctorContext): Promise<Finding[]> {
  const { query } = context
  const [own] = await query<{ role: string }>(
    'select current_user::text as role from pg_namespace where nspname = $1', [context.schema])
  if (own === undefined) return []
  const { role } = own
  const workers = (await listWorkerRoles(context)).filter((worker) => worker !== role)
  const others = await Promise.all(workers.map((worker) => checkRole(query, context, worker, advice)))
  return [await checkRole(query, context, role, fault), ...others, await checkOwners(context)].flat()
}

/** Whether the owners of functions that run with their rights have these rights. */
async function checkOwners ({ query, schema, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const rows = await query<{ owner: string, lacking: string, name: string }>(`
    with definer as (
      select n.oid as namespace, p.proowner as role, min(p.proname) as name,
        bool_or(p.prorettype = 'trigger'::regtype) as is_trigger
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = $1 and p.prosecdef
      group by 1, 2
    ), wanted as (
      select d.*, c.oid, format('%s on %s', w.privilege, c.relname) as lacking, w.privilege, c.relkind
      from definer d
      cross join (values ('events_seq_seq', 'usage', false), ('recent_changes_seq_seq', 'usage', false),
        ('recent_changes', 'insert', true), ('missed_changes', 'insert', true), ('missed_changes', 'select', true)
      ) as w (name, privilege, is_trigger)
      join pg_class c on c.relnamespace = d.namespace and c.relname = w.name
      where d.is_trigger or not w.is_trigger
    )
    select pg_get_userbyid(role) as owner, min(name) as name, string_agg(lacking, ', ' order by lacking) as lacking
    from wanted
    where case relkind when 'S' then not has_sequence_privilege(role, oid, privilege)
      else not has_table_privilege(role, oid, privilege) end
    group by role`, [schema])
  return rows.map(({ owner, name, lacking }) => fault(
    `${owner}, who owns functions such as ${name}, lacks ${lacking}, so changes and events are missed or fail`,
    `grant select, insert on all tables in schema ${quotedSchema} to ${quoteName(owner)}; ` +
      `grant usage on all sequences in schema ${quotedSchema} to ${quoteName(owner)}`))
}

/** `report` creates the findings about the host's relations, which processes that only deliver do not read. */
async function checkRole (
  query: RunQuery, { schema, flags }: DoctorContext, role: string, report: typeof advice
): Promise<Finding[]> {
  const lists = (await findLists(query, schema, flags)).flatMap(({ relation }) => relation ?? [])
  const lacking = await listLacking(query, schema, role)
  const hidden = await findHidden(query, schema, role)
  const onLists = await listLackingOnLists(query, role, lists)
  if (lacking.length + onLists.length === 0 && hidden === null) return [ok(`${role} has all privileges that servers and workers need`)]
  const options = { schema, role, candidates: flags.text('candidates'), jobs: flags.text('jobs') }
  const words = Object.entries(options)
    .flatMap(([name, value]) => value === undefined ? [] : [`--${name}`, quoteShell(value)])
  const command = ['grants', ...words, ...flags.has('no-lists') ? ['--no-lists'] : [], '--apply'].join(' ')
  const remedy = `as the owner of the schema and of your tables, run fastify-recruiting-api ${command}`
  return [
    ...hidden === null
      ? []
      : [fault(
      `row-level security can hide rows of ${hidden} from ${role}, so events reach no webhook and keys are unknown`,
      `alter role ${quoteName(role)} bypassrls, or disable row level security for these tables`)],
    ...lacking.length === 0 ? [] : [fault(`${role} lacks ${lacking.join(', ')}`, remedy)],
    ...onLists.length === 0 ? [] : [report(`${role} lacks ${onLists.join(', ')}, and cannot serve lists`, remedy)]
  ]
}

/** Returns this package's tables of which policies can hide rows from a role. */
async function findHidden (query: RunQuery, schema: string, role: string): Promise<string | null> {
  const [row] = await query<{ hidden: string | null }>(`
    select string_agg(c.relname, ', ' order by c.relname) as hidden
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
      )`, [schema, role])
  return row?.hidden ?? null
}

/** Above this share, connections are nearly used up. */
const maxUsed = 0.9
/** Transaction ids wrap around after two thousand million; autovacuum begins after 200 million. */
const maxAge = 1_000_000_000

/** Whether the database is writable, can store every character and has connections and transaction ids left. */
export async function checkDatabase ({ query }: DoctorContext): Promise<Finding[]> {
  const [row] = await query<{ encoding: string, is_standby: boolean }>(
    'select getdatabaseencoding() as encoding, pg_is_in_recovery() as is_standby')
  const limits = await query<{ what: string, used: number, most: number }>(`
    with used as (
      select (select sum(numbackends)::int from pg_stat_database) as by_all,
        (select numbackends::int from pg_stat_database where datname = current_database()) as by_database,
        (select count(*)::int from pg_stat_activity where usename = current_user) as by_role
    )
    select 'the server' as what, by_all as used, (
      select sum(case name when 'max_connections' then 1 else -1 end * setting::int)::int from pg_settings
      where name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')
    ) as most from used
    union all
    select 'the database ' || datname, by_database, datconnlimit
    from used, pg_database where datname = current_database() and datconnlimit >= 0
    union all
    select 'the role ' || rolname, by_role, rolconnlimit
    from used, pg_roles where rolname = current_user and rolconnlimit >= 0`)
  const ages = await query<{ name: string, age: number }>(`
    select datname as name, greatest(age(datfrozenxid), mxid_age(datminmxid)) as age from pg_database
    where greatest(age(datfrozenxid), mxid_age(datminmxid)) > ${maxAge} order by 1`)
  const findings: Finding[] = []
  if (row?.encoding !== 'UTF8') {
    const problem = `the encoding of the database is ${row?.encoding} instead of UTF8`
    findings.push(fault(`${problem}, so events with other characters cannot be recorded`,
      "dump it, run create database NAME encoding 'UTF8' template template0, and restore the dump there"))
  }
  if (row?.is_standby === true) {
    findings.push(fault('this server is a standby, so nothing can be recorded or delivered here',
      'use the address of the primary, or promote this server with select pg_promote()'))
  }
  findings.push(...limits.filter(({ used, most }) => used > maxUsed * most).map(({ what, used, most }) => fault(
    `${used} of ${most} connections of ${what} are used, so servers and workers soon cannot connect`,
    'close unused connections, make pools smaller, or raise the limit')))
  findings.push(...ages.map(({ name, age }) => fault(
    `the database ${name} has not frozen rows for ${age} transactions: at two thousand million, the server stops writing`,
    `end what the checks transactions and replication report, then run vacuum in the database ${name}`)))
  return orOk(findings, 'it can be written, its encoding is UTF8, and connections and transaction ids are left')
}

interface Setting {
  isWrong (value: string): boolean
  effect: string
  /** Whether it matters for roles that do not write to this package's tables. */
  forEveryRole: boolean
}

const one = (...words: string[]) => (value: string): boolean => words.includes(value.toLowerCase())
const isOn = one('on', 'true', 'yes', '1')
const isOff = one('off', 'false', 'no', '0')
const unitMs: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 }
/** Whether a time limit is set, and shorter than this. */
const below = (seconds: number) => (value: string): boolean => {
  const [, number = '', unit = ''] = /^(\d+) ?(ms|s|min|h|d)?$/.exec(value) ?? []
  const ms = Number(number) * Number(unitMs[unit])
  return ms > 0 && ms < 1000 * seconds
}

const ofWriters = (isWrong: Setting['isWrong'], effect: string): Setting => ({ isWrong, effect, forEveryRole: false })
const badPlans = ofWriters(isOff, 'so pages and claims read many more rows than they need')

/** Settings that roles, databases and servers can have. */
const settings: Readonly<Record<string, Setting>> = {
  default_transaction_read_only: ofWriters(isOn, 'so this package cannot record or deliver anything'),
  session_replication_role: {
    isWrong: one('replica'),
    effect: 'so the triggers of watch do not run, and sync misses changes',
    forEveryRole: true
  },
  synchronous_commit: ofWriters(isOff, 'so the last events and results are lost if the server crashes'),
  statement_timeout: ofWriters(below(5), 'so statements of this package fail when the server is busy'),
  lock_timeout: ofWriters(below(1), 'so statements of this package fail if they wait for others'),
  transaction_timeout: ofWriters(below(60), 'so replays, erasures and changes of tenants fail'),
  idle_session_timeout: ofWriters(below(3600), 'so the server ends the connections of pools and workers'),
  plan_cache_mode: ofWriters(one('force_generic_plan'), 'so large tenants get the plans of small ones'),
  enable_indexscan: badPlans,
  enable_indexonlyscan: badPlans,
  enable_bitmapscan: badPlans,
  enable_nestloop: badPlans,
  enable_sort: badPlans
}

interface SettingRow {
  name: string
  value: string
  /** Both `null` if the server has the setting for all roles. */
  role: string | null
  database: string | null
  is_writer: boolean
}

/** Whether a role, the database or the server has a setting that breaks one of this package's promises. */
export async function checkRoleSettings ({ pool, quotedSchema }: DoctorContext): Promise<Finding[]> {
  // The session has settings of its own.
  const rows = await ask<SettingRow>(pool, `
    select s.name, s.setting as value, null as role, null as database, true as is_writer
    from pg_settings s where s.name = any ($1) and s.source not in ('user', 'database', 'database user')
    union all
    select split_part(config, '=', 1), substr(config, strpos(config, '=') + 1),
      coalesce(quote_ident(r.rolname), 'all'), quote_ident(d.datname), r.oid is null or r.rolname = current_user
        or coalesce(has_table_privilege(r.oid, to_regclass($2), 'insert'), false)
    from pg_db_role_setting s
    cross join lateral unnest(s.setconfig) as config
    left join pg_roles r on r.oid = s.setrole
    left join pg_database d on d.oid = s.setdatabase
    where d.oid is null or d.datname = current_database()
    order by 1, 3, 4`, [Object.keys(settings), `${quotedSchema}.events`])
  return orOk(rows.flatMap(judgeSetting), 'no setting of the server, the database or a role breaks this package')
}

function judgeSetting ({ name, value, role, database, is_writer: isWriter }: SettingRow): Finding[] {
  const setting = settings[name]
  if (setting === undefined || !setting.isWrong(value)) return []
  if (!isWriter && !setting.forEveryRole) return []
  const isOfDatabase = database !== null && role === 'all'
  const place = role === null ? 'the server' : isOfDatabase ? `the database ${database}` : `the role ${role}`
  const ofRole = `alter role ${role}${database === null ? '' : ` in database ${database}`}`
  const remedy = role === null
    ? `alter system reset ${name}; select pg_reload_conf()`
    : `${isOfDatabase ? `alter database ${database}` : ofRole} reset ${name}, then restart your servers`
  return [fault(`${place} has ${name} = ${value}, ${setting.effect}`, remedy)]
}

/** Vacuum is late above this many dead rows plus this many times autovacuum's threshold. */
const [deadFactor, fewDead] = [10, 10_000]

interface TableRow {
  name: string
  is_off: boolean
  dead: string
  is_late: boolean
  megabytes: number
  is_bloated: boolean
}

/** A table is bloated if it is this large, and this many times as large as its rows. */
const [bloatBytes, bloatFactor] = [32 * 1024 * 1024, 10]

/** Whether dead rows are removed. */
export async function checkVacuum ({ query, schema, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const server = await query<{ name: string }>(
    "select name from pg_settings where name in ('autovacuum', 'track_counts') and setting = 'off'")
  const tables = await query<TableRow>(`
    select c.relname as name, coalesce(options.is_off, false) as is_off, s.n_dead_tup::text as dead,
      s.n_dead_tup > ${fewDead} + ${deadFactor} * (
        coalesce(options.threshold, current_setting('autovacuum_vacuum_threshold')::float)
        + coalesce(options.scale, current_setting('autovacuum_vacuum_scale_factor')::float) * greatest(c.reltuples, 0)
      ) as is_late,
      round(size.bytes / 1048576.0)::int as megabytes,
      size.bytes > ${bloatBytes} and size.bytes > ${bloatFactor} * size.live as is_bloated
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_stat_user_tables s on s.relid = c.oid
    cross join lateral (
      select bool_or(not option_value::boolean) filter (where option_name = 'autovacuum_enabled') as is_off,
        max(option_value::float) filter (where option_name = 'autovacuum_vacuum_threshold') as threshold,
        max(option_value::float) filter (where option_name = 'autovacuum_vacuum_scale_factor') as scale
      from pg_options_to_table(c.reloptions)
    ) as options
    cross join lateral (
      -- Without large values, which are stored elsewhere.
      select pg_relation_size(c.oid) + pg_indexes_size(c.oid) as bytes, greatest(s.n_live_tup, c.reltuples, 1) * (
        200 + coalesce((
          select sum(avg_width) from pg_stats w where w.schemaname = n.nspname and w.tablename = c.relname
        ), 0)
      ) as live
    ) as size
    where n.nspname = $1
    order by 1`, [schema])
  const findings = [
    ...server.map(({ name }) => fault(
      `the server has ${name} = off, so dead rows stay and claims get slower and slower`,
      `alter system set ${name} = on; select pg_reload_conf()`)),
    ...tables.filter(({ is_off: isOff }) => isOff).map(({ name }) => fault(
      `the table ${name} has autovacuum_enabled = false, so its dead rows stay and statements get slower and slower`,
      `alter table ${quotedSchema}.${name} reset (autovacuum_enabled)`)),
    ...tables.filter(({ is_late: isLate }) => isLate).map(({ name, dead }) => fault(
      `the table ${name} has ${dead} dead rows, far more than autovacuum should leave, so statements get slower`,
      `end what the checks transactions and replication report, then run vacuum ${quotedSchema}.${name}`)),
    ...tables.filter(({ is_bloated: isBloated }) => isBloated).map(({ name, megabytes }) => fault(
      `the table ${name} takes ${megabytes} MB, more than ${bloatFactor} times as much as its rows, so scans are slow`,
      `vacuum full ${quotedSchema}.${name}, which locks it for some seconds`))
  ]
  return orOk(findings, 'autovacuum is on, and no table has too many dead rows or too much empty space')
}

/** Whether publications let this package update and delete its rows. */
export async function checkPublications ({ query, schema, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const rows = await query<{ publication: string, name: string }>(`
    select string_agg(p.pubname, ', ' order by p.pubname) as publication, c.relname as name
    from pg_publication p
    join pg_publication_tables t on t.pubname = p.pubname
    join pg_class c on c.relname = t.tablename
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = t.schemaname
    where n.nspname = $1 and (p.pubupdate or p.pubdelete) and case c.relreplident
      when 'f' then false
      when 'd' then not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
      when 'i' then not exists (select from pg_index i where i.indrelid = c.oid and i.indisreplident)
      else true
    end
    group by c.relname
    order by 2`, [schema])
  return orOk(rows.map(({ publication, name }) => {
    const problem = `the publication ${publication} includes the table ${name}, which has no replica identity`
    return fault(`${problem}, so every update and delete of its rows fails`,
      `alter table ${quotedSchema}.${name} replica identity full`)
  }), 'none prevents this package from writing')
}

const manyTransactions = 1_000_000

interface SlotRow {
  slot: string
  active: boolean
  megabytes: string
  /** How many transactions ago the oldest row that it keeps was deleted. */
  age: number
}

interface StandbyRow {
  standby: string
  age: number
}

/** Whether a slot or standby keeps dead rows or WAL, or makes commits wait. */
export async function checkReplication ({ query }: DoctorContext): Promise<Finding[]> {
  const slots = await query<SlotRow>(`
    select slot_name as slot, active, coalesce(round(pg_wal_lsn_diff(
      case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn
    ) / 1048576), 0)::text as megabytes, coalesce(greatest(age(xmin), age(catalog_xmin)), 0) as age
    from pg_replication_slots
    where not temporary and (xmin is not null or catalog_xmin is not null or restart_lsn is not null)
    order by 1`)
  const standbys = await query<StandbyRow>(`
    select coalesce(nullif(application_name, ''), pid::text) as standby, age(backend_xmin) as age
    from pg_stat_replication where age(backend_xmin) > ${manyTransactions} order by 1`)
  return orOk([
    ...slots.flatMap(judgeSlot),
    ...standbys.map(({ standby, age }) => fault(
      `a statement on the standby ${standby} keeps vacuum from removing rows deleted in the last ${age} transactions`,
      'end that statement on the standby, or set hot_standby_feedback to off there')),
    ...await findWaitingCommits(query)
  ], 'no slot or standby keeps dead rows or makes commits wait')
}

function judgeSlot ({ slot, active, megabytes, age }: SlotRow): Finding[] {
  const drop = `select pg_drop_replication_slot('${slot.replaceAll("'", "''")}')`
  if (!active) {
    const kept = `${megabytes} MB of WAL and the rows deleted in the last ${age} transactions`
    return [fault(`no client reads the replication slot ${slot}, so the server keeps ${kept}`,
      `start its reader again, or run ${drop}`)]
  }
  return age <= manyTransactions
    ? []
    : [fault(
        `the reader of the replication slot ${slot} is slow, ` +
        `so vacuum keeps rows deleted in the last ${age} transactions`,
        `find out why it is slow, or stop it and run ${drop}`)]
}

async function findWaitingCommits (query: RunQuery): Promise<Finding[]> {
  const [row] = await query<{ names: string, count: number, hidden: number }>(`
    select current_setting('synchronous_standby_names') as names,
      count(*) filter (where sync_state in ('sync', 'quorum'))::int as count,
      count(*) filter (where sync_state is null)::int as hidden
    from pg_stat_replication`)
  const { names, count, hidden } = { names: '', count: 0, hidden: 0, ...row }
  if (names === '' || count > 0) return []
  if (hidden > 0) {
    return [unknown('the database user cannot see whether a synchronous standby is connected',
      'grant pg_monitor to the database user')]
  }
  return [fault(`no standby of synchronous_standby_names (${names}) is connected, so every commit waits forever`,
    'start the standby, or run alter system reset synchronous_standby_names; select pg_reload_conf()')]
}
