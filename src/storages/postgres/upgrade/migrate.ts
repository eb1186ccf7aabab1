import { setTimeout as sleep } from 'node:timers/promises'
import { RecruitingApiError } from '../../../core/shared/errors.js'
import { readField } from '../../../core/shared/fields.js'
import { type OptionsOf, flag, readOptions } from '../../../core/shared/read-options.js'
import { assertPool, begin, overrideTimeouts, type PgClient, type PgPool, watchPool } from '../pool.js'
import { ask, type RunQuery } from '../session.js'
import { quoteName, readSchema, toIso } from '../sql.js'
import { findCaches, findMissing, listNames, readVersion, type Version } from './version.js'
import type { Rights } from '../grants.js'

const migrateOptions = {
  /**
   * The schema for this package's tables. Created if it does not exist.
   * @default 'recruiting'
   */
  schema: readSchema,
  /**
   * Changes nothing and returns what would run.
   * @default false
   */
  dryRun: flag(false)
}

/** Options of `migrate`. */
export interface MigrateOptions extends OptionsOf<typeof migrateOptions> {}

/**
 * Creates or updates this package's tables and functions. Call it at every start, before anything else: it skips files
 * that already ran, and processes that start together wait for each other. Processes of the previous version keep
 * working while it runs, and no other statement waits for more than a second. Each step is all or nothing, so you can
 * call it again after an interruption. Returns the names of the migrations that ran and of the functions it created.
 *
 * To use your own migration tool, run each SQL file in `src/storages/postgres/migrations` once, in order. Files with
 * `index concurrently` must run outside a transaction. Then run all files in `src/storages/postgres/sql`. Set
 * `search_path` to the schema and `pg_temp`.
 *
 * It waits while another transaction, such as a dump, locks its tables, and rejects with `storage_timeout` after a
 * minute. It waits ten minutes for an index, which blocks no one, and for another process that migrates. A process
 * warning (`RecruitingWarning`) reports immediately which process it waits for, and for how long. The error names that
 * process too.
 *
 * Throws `invalid_option`, `storage_not_ready` if the files are missing, the database is not UTF-8 or the schema
 * belongs to a later version, and database errors.
 */
export async function migrate (pool: PgPool, options: MigrateOptions = {}): Promise<string[]> {
  assertPool(pool)
  const { schema, dryRun } = readOptions(options, migrateOptions)
  watchPool(pool)
  const version = await readVersion()
  return dryRun
    ? listNames(await findMissing((text, values) => ask(pool, text, values), schema, version))
    : upgrade(pool, schema, version)
}

// While a statement waits for a lock, others wait behind it.
const lockTimeoutMs = 500
const longestPauseMs = 500
// lock_not_available and deadlock_detected.
const lockErrors: readonly unknown[] = ['55P03', '40P01']

/**
 * Upgrades a schema to a version in steps, each all or nothing. Rejects with `storage_timeout` after waiting `giveUpMs`
 * for a lock. Waits ten times as long for an index, which blocks no one, and for another process that upgrades. A
 * process warning reports early which process it waits for, and for how long.
 */
export async function upgrade (pool: PgPool, schema: string, version: Version, giveUpMs = 60_000): Promise<string[]> {
  const done: string[] = []
  const longestMs = { lock: giveUpMs, other: 10 * giveUpMs }
  // Since when it has waited for each, and for which process.
  let since: { lock?: number, other?: number } = {}
  let blockers: { lock?: string, other?: string } = {}

  function reportBlocker (reason: 'lock' | 'other', found: string, longestMs: number): void {
    if (blockers[reason] === undefined) {
      process.emitWarning(`migrate waits for up to ${longestMs / 1000} s for ${found}`, 'RecruitingWarning')
    }
    blockers[reason] = found
  }

  async function wait (reason: 'lock' | 'other', pauseMs: number, cause?: unknown): Promise<void> {
    since[reason] ??= performance.now()
    const waitedMs = performance.now() - since[reason]
    // Processes that start together wait only briefly.
    if (reason === 'other' && waitedMs > Math.min(2000, longestMs.other / 2)) {
      const other = await findBlocker(pool, lockHolders, [lockName(schema)])
      if (other !== null) reportBlocker(reason, other, longestMs.other)
    }
    if (waitedMs > longestMs[reason]) throw giveUp(waitedMs, blockers[reason] ?? 'a lock', cause)
    await sleep(pauseMs)
  }

  for (;;) {
    try {
      const files = await withClient(pool, (client) =>
        runStep({
          pool, client, schema, version, giveUpMs, reportBlocker: (...found) => reportBlocker('lock', ...found)
        })
      )
      if (files === null) {
        await wait('other', longestPauseMs / 5)
        continue
      }
      if (files.length === 0) return done
      done.push(...files)
      since = {}
      blockers = {}
    } catch (error) {
      if (!lockErrors.includes(readField(error, 'code'))) throw error
      await wait('lock', longestPauseMs * Math.random(), error)
    }
  }
}

function giveUp (waitedMs: number, blocker: string, cause: unknown): Error {
  const reason = cause === undefined ? '' : ` (${readField(cause, 'message')})`
  const problem = `migrate gave up after waiting ${Math.round(waitedMs / 1000)} s for ${blocker}${reason}`
  return new RecruitingApiError('storage_timeout', `${problem}: run it again when it is done`, 'pool', { cause })
}

async function findBlocker (pool: PgPool, pids: string, values: unknown[]): Promise<string | null> {
  const [row] = await ask<{ blocker: string | null }>(
    pool,
    `
    select string_agg(coalesce(format('pid %s (%s, user %s%s)', a.pid,
      coalesce(nullif(a.application_name, ''), 'no application name'), a.usename,
      ', in a transaction since ' || ${toIso('a.xact_start')}), 'a prepared transaction'), ' and ') as blocker
    from (${pids}) as b (pid) left join pg_stat_activity a on a.pid = b.pid`,
    values
  )
  return row?.blocker ?? null
}

// Selects the process that holds the advisory lock of this name.
const lockHolders = `
  select l.pid from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($1, 0)`

function lockName (schema: string): string {
  return `fastify-recruiting-api migrate ${schema}`
}

interface Step {
  pool: PgPool
  client: PgClient
  schema: string
  version: Version
  giveUpMs: number
  /** Called with the process that the step waits for, and the longest wait. */
  reportBlocker (blocker: string, longestMs: number): void
}

/** Runs `work` and reports which process blocks its connection. */
async function reportBlockers<Result> (
  { pool, client, reportBlocker }: Pick<Step, 'pool' | 'client' | 'reportBlocker'>, longestMs: number,
  work: () => Promise<Result>
): Promise<Result> {
  const [own] = await ask<{ pid: string }>(client, 'select pg_backend_pid()::text as pid')
  let isLooking = false

  async function look (): Promise<void> {
    if (isLooking) return
    isLooking = true
    const blocker = await findBlocker(pool, 'select unnest(pg_blocking_pids($1::integer))', [own?.pid])
    if (blocker !== null) reportBlocker(blocker, longestMs)
    isLooking = false
  }

  // A failed search leaves `isLooking` set, so it is the last one.
  const timer = setInterval(() => {
    look().catch(() => {})
  }, lockTimeoutMs / 2)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/**
 * Runs the first missing migration, or creates the functions if none is missing. Returns the names of the files; `null`
 * if another process runs a step.
 */
async function runStep (step: Step): Promise<string[] | null> {
  const { client, schema, giveUpMs } = step
  const query: RunQuery = (text, values) => ask(client, text, values)
  const lock = [lockName(schema)]
  await client.query(begin)
  await client.query(`${overrideTimeouts(0)}; set local lock_timeout to '${lockTimeoutMs}ms'`)
  // Waiting here would hold up `create index concurrently`, which waits for all transactions.
  const [row] = await query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked', lock
  )
  if (row?.locked !== true) return null

  const { files, index } = await reportBlockers(step, giveUpMs, () => runInTransaction(query, step))
  if (index === undefined) return files

  await query('select pg_advisory_lock(hashtextextended($1, 0))', lock)
  await client.query('commit')
  const longestMs = 10 * giveUpMs
  await reportBlockers(step, longestMs, () => runAlone(client, schema, index, longestMs))
  return files
}

/** Runs and commits the next files. If a file must run outside a transaction, `index` is its text instead. */
async function runInTransaction (
  query: RunQuery, { client, schema, version }: Step
): Promise<{ files: string[], index?: string }> {
  await openSchema(client, schema)
  const missing = await findMissing(query, schema, version)
  const next = [...version.migrations].find(([name]) => missing.migrations.includes(name))
  if (next === undefined) {
    for (const [name, text] of version.functions) if (missing.functions.includes(name)) await client.query(text)
    await grantFunctions(query, missing.functions)
    for (const name of await findCaches(query, schema)) await client.query(`alter sequence ${name} cache 1`)
    await client.query('commit')
    return { files: listNames(missing) }
  }

  const [name, text] = next
  if (/\bindex concurrently\b/.test(text)) return { files: [name], index: text }
  const known = await findRelations(query)
  await client.query(text)
  await grantRelations(query, version.rights, known)
  await client.query('commit')
  return { files: [name] }
}

async function openSchema (client: PgClient, schema: string): Promise<void> {
  // `create schema if not exists` needs the privilege to create schemas even if the schema exists.
  const { rows } = await client.query('select from pg_namespace where nspname = $1', [schema])
  if (rows.length === 0) await client.query(`create schema ${quoteName(schema)}`)
  await client.query(`set local search_path to ${quoteName(schema)}, pg_temp`)
}

/** Runs the statements of a file outside a transaction. They can be repeated. */
async function runAlone (client: PgClient, schema: string, text: string, longestMs: number): Promise<void> {
  await client.query(`set search_path to ${quoteName(schema)}, pg_temp`)
  // It may wait for long transactions, such as a dump, but blocks no one.
  await client.query(`${overrideTimeouts(0, false)}; set lock_timeout to '${longestMs}ms'`)
  for (const statement of text.trim().split(/;\n/)) await client.query(statement)
}

/** Closes the connection afterwards, which rolls back and drops the session's settings and locks. */
async function withClient<Result> (pool: PgPool, work: (client: PgClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  try {
    return await work(client)
  } finally {
    client.release(true)
  }
}

async function findRelations (query: RunQuery): Promise<Set<string>> {
  const rows = await query<{ name: string }>(
    "select relname::text as name from pg_class where relnamespace = quote_ident(current_schema())::regnamespace and relkind in ('r', 'p', 'S')"
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * Grants each privilege on new tables to roles that have the same one on `events`, so that processes keep working and
 * read-only roles get no more. Roles that may insert events may use new sequences.
 */
async function grantRelations (
  query: RunQuery, { tables, sequences }: Rights, known: ReadonlySet<string>
): Promise<void> {
  const found = [...(await findRelations(query))].filter((name) => !known.has(name))
  for (const { role, privilege } of await findHolders(query)) {
    for (const name of found) {
      const wanted =
        privilege === 'insert' && Object.hasOwn(sequences, name)
          ? sequences[name]
          : tables[name]?.filter((one) => one === privilege)
      if (wanted !== undefined && wanted.length > 0) {
        await query(`grant ${wanted.join(', ')} on ${quoteName(name)} to ${role}`)
      }
    }
  }
}

/** Grants new functions to roles that may insert events, unless every role may call them. */
async function grantFunctions (query: RunQuery, names: readonly string[]): Promise<void> {
  const holders = (await findHolders(query)).filter(({ privilege }) => privilege === 'insert')
  const rows = await query<{ signature: string }>(
    `
    select oid::regprocedure::text as signature from pg_proc
    where pronamespace = quote_ident(current_schema())::regnamespace and proname = any ($1)
      and not has_function_privilege('public', oid, 'execute')`,
    [names]
  )
  for (const { role } of holders) {
    for (const { signature } of rows) await query(`grant execute on function ${signature} to ${role}`)
  }
}

/** Lists the privileges on `events`, except its owner's. */
function findHolders (query: RunQuery): Promise<Array<{ role: string, privilege: string }>> {
  return query(`
    select case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end as role,
      lower(acl.privilege_type) as privilege
    from pg_class c cross join lateral aclexplode(c.relacl) as acl
    where c.oid = to_regclass('events') and acl.grantee <> c.relowner`)
}
