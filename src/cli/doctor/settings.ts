import { type Check, fault, type Finding, ok, orOk } from './finding.js'

/** Whether the database can be written and holds every character. */
export const database: Check = {
  name: 'database',
  needsTables: false,
  async run ({ query }) {
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
}

interface Setting {
  /** Its wrong values, in all spellings. */
  wrong: readonly string[]
  /** What they cause. */
  effect: string
  /** Whether they matter for roles that do not write to the tables of this package. */
  forEveryRole: boolean
}

const yes = ['on', 'true', 'yes', '1']
const no = ['off', 'false', 'no', '0']

/** Settings that roles, databases and servers can have. */
const settings: Readonly<Record<string, Setting>> = {
  default_transaction_read_only: {
    wrong: yes,
    effect: 'so this package can record and deliver nothing',
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

/** Whether a role, the database or the server has a setting that breaks a promise of this package. */
export const roleSettings: Check = {
  name: 'settings',
  needsTables: false,
  async run ({ query, quotedSchema }) {
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
    return orOk(rows.flatMap(judgeSetting), `${Object.keys(settings).join(', ')} are as this package needs them`)
  }
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

/** A table may have many times more dead rows than make autovacuum start, and this many. */
const [deadFactor, fewDead] = [10, 10_000]

interface TableRow {
  name: string
  is_off: boolean
  dead: string
  is_late: boolean
}

/** Whether dead rows are removed. */
export const vacuum: Check = {
  name: 'vacuum',
  needsTables: true,
  async run ({ query, schema, quotedSchema }) {
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
}
