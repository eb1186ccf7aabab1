import { readFile, readdir } from 'node:fs/promises'
import { parseSchema, quoteName } from './names.js'
import type { PgPool, PgQueryable } from './pool.js'

/** Options of `migrate`. */
export interface MigrateOptions {
  /**
   * The schema that holds this package's tables; it is made if there is none.
   * @default 'recruiting'
   */
  schema?: string
}

const folder = new URL('migrations/', import.meta.url)

/**
 * Creates the tables of this package, or brings them up to date. Call it before anything else, as often as you like:
 * what is done already is passed over, and processes that start at once wait for one another. All or nothing.
 *
 * The same migrations are SQL files in `dist/postgres/migrations`, for tools of your own. Throws `invalid_option` and
 * what the database throws.
 */
export async function migrate (pool: PgPool, options: MigrateOptions = {}): Promise<void> {
  const schema = parseSchema(options.schema)
  const client = await pool.connect()
  let isDone = false
  try {
    await client.query('begin')
    await runMissing(client, schema)
    await client.query('commit')
    isDone = true
  } finally {
    // A connection that is closed rolls back.
    client.release(!isDone)
  }
}

/** The names of the migrations, in the order in which they run. */
export async function listMigrations (): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
}

async function runMissing (client: PgQueryable, schema: string): Promise<void> {
  const quoted = quoteName(schema)
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`fastify-recruiting-api migrate ${schema}`])
  // Not `create schema if not exists`: that needs the right to create one even if there is one.
  const { rows: schemas } = await client.query('select from pg_namespace where nspname = $1', [schema])
  if (schemas.length === 0) await client.query(`create schema ${quoted}`)
  await client.query(`set local search_path to ${quoted}, pg_temp`)
  await client.query('create table if not exists migrations (name text primary key, run_at timestamptz not null default now())')

  const { rows } = await client.query('select name from migrations')
  const done = new Set(rows.map((row) => (row as { name: string }).name))
  for (const name of await listMigrations()) {
    if (done.has(name)) continue
    await client.query(await readFile(new URL(name, folder), 'utf8'))
    await client.query('insert into migrations (name) values ($1)', [name])
  }
}
