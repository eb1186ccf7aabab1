import { type OptionsOf, flag, readOptions } from '../shared/read-options.js'
import { type PgPool, watchPool } from './pool.js'
import { assertPool, readSchema } from './options.js'
import { ask } from './session.js'
import { findMissing, listNames, readVersion } from './upgrade/version.js'
import { upgrade } from './upgrade/upgrade.js'

/** The doc, type, default and check of each option. */
const migrateOptions = {
  /**
   * The schema for the tables of this package. It is created if it does not exist.
   * @default 'recruiting'
   */
  schema: readSchema,
  /**
   * Changes nothing, and returns what would run.
   * @default false
   */
  dryRun: flag(false)
}

/** Options of `migrate`. */
export interface MigrateOptions extends OptionsOf<typeof migrateOptions> {}

/**
 * Creates the tables and functions of this package or updates them. Call it at every start, before anything else: it
 * skips files that ran before, and processes that start together wait for each other. Processes of the previous
 * version keep working while it runs, and no statement of others waits for more than a second. Each step is all or
 * nothing, so it can be called again after it was interrupted. Returns the names of the migrations that ran
 * and of the functions it created.
 *
 * To use your own migration tool, run each SQL file in `src/postgres/migrations` once, in order, those with
 * `index concurrently` outside a transaction, then all files in `src/postgres/sql`, with the schema first in
 * `search_path`.
 *
 * Beside a transaction that has locked its tables, such as a dump, it gives up with `storage_timeout` after a minute;
 * after ten minutes for an index, which blocks no one, and for another process that migrates. A process warning
 * (`RecruitingWarning`) says at once which process it waits for, and for how long. The error names that process too.
 *
 * Throws `invalid_option`, `storage_not_ready` if the files are missing, the database is not UTF-8 or the schema
 * belongs to a later version, and errors of the database.
 */
export async function migrate (pool: PgPool, options: MigrateOptions = {}): Promise<string[]> {
  assertPool(pool)
  const { schema, dryRun } = readOptions(options, migrateOptions)
  watchPool(pool)
  const version = await readVersion()
  if (!dryRun) return upgrade(pool, schema, version)
  return listNames(await findMissing((text, values) => ask(pool, text, values), schema, version))
}
