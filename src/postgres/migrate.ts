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
   * The schema for the tables of this package. It is created if it does not exist.
   * @default 'recruiting'
   */
  schema?: string
  /**
   * Changes nothing, and returns the migrations that would run.
   * @default false
   */
  dryRun?: boolean
}

const readers: Readers<Required<MigrateOptions>> = { schema: readSchema, dryRun: flag(false) }

const shipped = new URL('migrations/', import.meta.url)

/**
 * Creates the tables of this package or updates them, in one transaction. Call it at every start, before anything else:
 * it skips migrations that ran before, and processes that start together wait for each other. Processes of the previous
 * version keep working meanwhile. Returns the names of the migrations that ran.
 *
 * To use a migration tool of your own, run the SQL files in `dist/postgres/migrations` in order, each once, with the schema
 * first in `search_path`. Throws `invalid_option`, `storage_not_ready` if the files are missing, and errors of the
 * database, for example after waiting 5 s for a lock.
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
    // Closing the connection rolls back.
    client.release(!isDone)
  }
}

/** Returns the names of the migrations that ran, and none if the schema does not exist. */
export async function findMigrations (query: RunQuery, quotedSchema: string): Promise<Set<string>> {
  const table = `${quotedSchema}.migrations`
  const [found] = await query<{ is_there: boolean }>('select to_regclass($1) is not null as is_there', [table])
  if (found?.is_there !== true) return new Set()
  const rows = await query<{ name: string }>(`select name from ${table}`)
  return new Set(rows.map(({ name }) => name))
}

/** Returns the names of all migrations in their order. Throws `storage_not_ready`. */
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
  // `create schema if not exists` needs the right to create schemas even if the schema exists.
  const { rows: schemas } = await client.query('select from pg_namespace where nspname = $1', [schema])
  if (schemas.length === 0) await client.query(`create schema ${quoted}`)
  await client.query(`set local search_path to ${quoted}, pg_temp`)
  const missing = await findMissing(client, quoted)
  // Each file records its own name.
  for (const name of missing) await client.query(await readFile(new URL(name, shipped), 'utf8'))
  return missing
}

async function findMissing (client: PgQueryable, quotedSchema: string): Promise<string[]> {
  const done = await findMigrations((text, values) => ask(client, text, values), quotedSchema)
  return (await listMigrations()).filter((name) => !done.has(name))
}
