import { readFile, readdir } from 'node:fs/promises'
import { expectNames } from '../expect.js'
import { parseSchema, quoteName } from './names.js'
import type { PgPool, PgQueryable } from './pool.js'
import { type RunQuery, ask } from './session.js'

/** Options of `migrate`. */
export interface MigrateOptions {
  /**
   * The schema that holds this package's tables; it is made if there is none.
   * @default 'recruiting'
   */
  schema?: string
}

const optionNames = { schema: true } satisfies Record<keyof MigrateOptions, true>

const folder = new URL('migrations/', import.meta.url)

/**
 * Creates the tables of this package, or brings them up to date. Call it before anything else, as often as you like:
 * what is done already is passed over, and processes that start at once wait for one another. All or nothing.
 *
 * The same migrations are SQL files in `dist/postgres/migrations`, for a tool of your own: run them in their order, each
 * once, with the schema first in `search_path`. Throws `invalid_option` and what the database throws.
 */
export async function migrate (pool: PgPool, options: MigrateOptions = {}): Promise<void> {
  expectNames(options, optionNames)
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

/** The names of the migrations that were run; `quotedSchema` may not be there. */
export async function findMigrations (query: RunQuery, quotedSchema: string): Promise<Set<string>> {
  const table = `${quotedSchema}.migrations`
  const [found] = await query<{ is_there: boolean }>('select to_regclass($1) is not null as is_there', [table])
  if (found?.is_there !== true) return new Set()
  const rows = await query<{ name: string }>(`select name from ${table}`)
  return new Set(rows.map(({ name }) => name))
}

/** The names of all migrations, in the order in which they run. */
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
  const done = await findMigrations((text, values) => ask(client, text, values), quoted)
  for (const name of await listMigrations()) {
    // Each of them writes down its own name.
    if (!done.has(name)) await client.query(await readFile(new URL(name, folder), 'utf8'))
  }
}
