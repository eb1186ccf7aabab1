import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listLacking, listLackingOnLists } from '../../postgres/grants.js'
import type { RunQuery } from '../../postgres/session.js'
import { findMissing, listNames, readVersion } from '../../postgres/upgrade/version.js'
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

const maxOffsetMs = 5000
const samples = 3
const notifyMs = 2000

/** Whether this machine and the server agree on the time. */
export async function checkClocks (context: DoctorContext): Promise<Finding[]> {
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
  return [await checkRole(query, context, role, fault), ...others].flat()
}

/** `report` creates the findings about the host's relations, which processes that only deliver do not read. */
async function checkRole (
  query: RunQuery, { schema, flags }: DoctorContext, role: string, report: typeof advice
): Promise<Finding[]> {
  const lists = (await findLists(query, schema, flags)).flatMap(({ relation }) => relation ?? [])
  const lacking = await listLacking(query, schema, role)
  const onLists = await listLackingOnLists(query, role, lists)
  if (lacking.length + onLists.length === 0) return [ok(`${role} has all privileges that servers and workers need`)]
  const options = { schema, role, candidates: flags.text('candidates'), jobs: flags.text('jobs') }
  const words = Object.entries(options)
    .flatMap(([name, value]) => value === undefined ? [] : [`--${name}`, quoteShell(value)])
  const command = ['grants', ...words, ...flags.has('no-lists') ? ['--no-lists'] : [], '--apply'].join(' ')
  const remedy = `as the owner of the schema and of your tables, run fastify-recruiting-api ${command}`
  return [
    ...lacking.length === 0 ? [] : [fault(`${role} lacks ${lacking.join(', ')}`, remedy)],
    ...onLists.length === 0 ? [] : [report(`${role} lacks ${onLists.join(', ')}, and cannot serve lists`, remedy)]
  ]
}

/** Whether the database is writable and can store every character. */
export async function checkDatabase ({ query }: DoctorContext): Promise<Finding[]> {
  const [row] = await query<{ encoding: string, is_standby: boolean }>(
    'select getdatabaseencoding() as encoding, pg_is_in_recovery() as is_standby')
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
  return orOk(findings, 'it can be written, and its encoding is UTF8')
}

interface Setting {
  /** Its wrong values, in all spellings. */
  wrong: readonly string[]
  /** Their effect. */
  effect: string
  /** Whether they matter for roles that do not write to this package's tables. */
  forEveryRole: boolean
}

const yes = ['on', 'true', 'yes', '1']
const no = ['off', 'false', 'no', '0']

/** Settings that roles, databases and servers can have. */
const settings: Readonly<Record<string, Setting>> = {
  default_transaction_read_only: {
    wrong: yes,
    effect: 'so this package cannot record or deliver anything',
    forEveryRole: false
  },
  session_replication_role: {
    wrong: ['replica'],
    effect: 'so the triggers of watch do not run, and sync misses changes',
    forEveryRole: true
  },
  synchronous_commit: {
    wrong: no,
    effect: 'so the last events and results are lost if the server crashes',
    forEveryRole: false
  }
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
export async function checkRoleSettings ({ query, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const rows = await query<SettingRow>(`
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
  return orOk(rows.flatMap(judgeSetting), `${Object.keys(settings).join(', ')} have the values that this package needs`)
}

function judgeSetting ({ name, value, role, database, is_writer: isWriter }: SettingRow): Finding[] {
  const setting = settings[name]
  if (setting === undefined || !setting.wrong.includes(value.toLowerCase())) return []
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
}

/** Whether dead rows are removed. */
export async function checkVacuum ({ query, schema, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const server = await query<{ name: string }>(
    "select name from pg_settings where name in ('autovacuum', 'track_counts') and setting = 'off'")
  const tables = await query<TableRow>(`
    select c.relname as name, coalesce(options.is_off, false) as is_off, s.n_dead_tup::text as dead,
      s.n_dead_tup > ${fewDead} + ${deadFactor} * (
        coalesce(options.threshold, current_setting('autovacuum_vacuum_threshold')::float)
        + coalesce(options.scale, current_setting('autovacuum_vacuum_scale_factor')::float) * greatest(c.reltuples, 0)
      ) as is_late
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_stat_user_tables s on s.relid = c.oid
    cross join lateral (
      select bool_or(not option_value::boolean) filter (where option_name = 'autovacuum_enabled') as is_off,
        max(option_value::float) filter (where option_name = 'autovacuum_vacuum_threshold') as threshold,
        max(option_value::float) filter (where option_name = 'autovacuum_vacuum_scale_factor') as scale
      from pg_options_to_table(c.reloptions)
    ) as options
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
      `end what the checks transactions and replication report, then run vacuum ${quotedSchema}.${name}`))
  ]
  return findings.length > 0 ? findings : [ok('autovacuum is on, and no table has too many dead rows')]
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
