import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { RecruitingApiError } from '../errors.js'
import { type Readers, flag, readOptions } from '../shared/read-options.js'
import { readSchema } from './options.js'
import type { PgPool, PgQueryable } from './pool.js'
import { type RunQuery, ask } from './session.js'
import { quoteName } from './sql.js'

/** Options of `migrate`. */
export interface MigrateOptions {
  /**
   * The schema that holds this package's tables; it is created if there is none.
   * @default 'recruiting'
   */
  schema?: string
  /**
   * Changes nothing, and returns what would run.
   * @default false
   */
  dryRun?: boolean
}

const readers: Readers<Required<MigrateOptions>> = { schema: readSchema, dryRun: flag(false) }

const shipped = new URL('migrations/', import.meta.url)

/**
 * Creates the tables of this package, or brings them up to date. Call it before anything else, as often as you like: what
 * is done already is skipped, and processes that start at once wait for one another. All or nothing. Processes of the
 * previous version may go on working meanwhile. Returns the names of the migrations that ran.
 *
 * The same migrations are SQL files in `dist/postgres/migrations`, for a tool of your own: run them in their order, each
 * once, with the schema first in `search_path`. Throws `invalid_option`, `storage_not_ready` if the files are missing,
 * and what the database throws, such as a `lock_timeout` after 5 s.
 */
export async function migrate (pool: PgPool, options: MigrateOptions = {}): Promise<string[]> {
  const { schema, dryRun } = readOptions(options, readers)
  const client = await pool.connect()
  let isDone = false
  try {
    await client.query('begin')
    const names = dryRun ? await findMissing(client, quoteName(schema)) : await runMissing(client, schema)
    await client.query('commit')
    isDone = true
    return names
  } finally {
    // A connection that is closed rolls back.
    client.release(!isDone)
  }
}

/** The names of the migrations that were run; `quotedSchema` may not be there. */
export async function findMigrations (query: RunQuery, quotedSchema: string): Promise<Set<string>> {
  const table = `${quotedSchema}.migrations`
  const [found] = await query<{ is_there: boolean }>('select to_regclass($1) is not null as is_there', [table])
  if (found?.is_there !== true) return new Set()
  const rows = await query<{ name: string }>(`select name from ${table}`)
  return new Set(rows.map(({ name }) => name))
}

/** The names of all migrations, in the order in which they run. Throws `storage_not_ready`. */
export async function listMigrations (folder = shipped): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  } catch (error) {
    const problem = `there are no migrations in ${fileURLToPath(folder)}: leave fastify-recruiting-api out of the bundle, or copy its folder dist/postgres/migrations there`
    throw new RecruitingApiError('storage_not_ready', problem, 'migrations', { cause: error })
  }
}

async function runMissing (client: PgQueryable, schema: string): Promise<string[]> {
  const quoted = quoteName(schema)
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`fastify-recruiting-api migrate ${schema}`])
  await client.query("set local lock_timeout to '5s'")
  // Not `create schema if not exists`: that needs the right to create one even if there is one.
  const { rows: schemas } = await client.query('select from pg_namespace where nspname = $1', [schema])
  if (schemas.length === 0) await client.query(`create schema ${quoted}`)
  await client.query(`set local search_path to ${quoted}, pg_temp`)
  const missing = await findMissing(client, quoted)
  // Each of them writes down its own name.
  for (const name of missing) await client.query(await readFile(new URL(name, shipped), 'utf8'))
  return missing
}

async function findMissing (client: PgQueryable, quotedSchema: string): Promise<string[]> {
  const done = await findMigrations((text, values) => ask(client, text, values), quotedSchema)
  return (await listMigrations()).filter((name) => !done.has(name))
}
