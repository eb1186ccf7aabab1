import { RecruitingApiError } from '../errors.js'
import { findMigrations, listMigrations } from '../postgres/migrate.js'
import type { PgClient, PgPool } from '../postgres/index.js'
import { ask } from '../postgres/session.js'
import { quoteName } from '../postgres/sql.js'
import { readField } from '../shared/read-field.js'
import { type Io, RefusedError, UsageError } from './command.js'
import type { Flags } from './flags.js'

/** A pool of the host's `pg`. */
export interface Database {
  pool: PgPool
  end (): Promise<void>
}

type CreatePool = new (options: object) => PgPool & { end (): Promise<void> }

/** Creates a pool of the host's `pg`. Nothing connects before the first query. */
export async function openDatabase (io: Io, flags: Flags): Promise<Database> {
  const connectionString = flags.text('database-url') ?? io.env['DATABASE_URL']
  if (connectionString === undefined || connectionString === '') {
    throw new UsageError('--database-url: missing, and DATABASE_URL is not set; add --database-url postgres://user@host/database')
  }
  // It is not shown: it may contain a password.
  if (!isDatabaseUrl(connectionString)) throw new UsageError('--database-url: expected a URL such as postgres://user@host/database')
  const Pool = await importPool(io)
  const pool = new Pool({ connectionString, max: 5, connectionTimeoutMillis: 10_000, application_name: 'fastify-recruiting-api' })
  return { pool, end: () => pool.end() }
}

/** Returns whether `pg` can read the text: a URL, or the folder of a socket. */
function isDatabaseUrl (text: string): boolean {
  try {
    return text.startsWith('/') || ['postgres:', 'postgresql:', 'socket:'].includes(new URL(text).protocol)
  } catch {
    return false
  }
}

async function importPool (io: Io): Promise<CreatePool> {
  try {
    const driver = await io.importDriver()
    // Earlier versions have no named exports.
    return (readField(driver, 'Pool') ?? readField(readField(driver, 'default'), 'Pool')) as CreatePool
  } catch (error) {
    if (readField(error, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new RefusedError('the package pg is not installed: run npm install pg')
  }
}

/** Returns the migrations that have not run. */
export async function findMissingMigrations (pool: PgPool, schema: string): Promise<string[]> {
  const done = await findMigrations((text, values) => ask(pool, text, values), quoteName(schema))
  return (await listMigrations()).filter((name) => !done.has(name))
}

/** Runs `work` in a transaction, which is rolled back if it rejects. */
export async function inTransaction<Result> (pool: PgPool, work: (client: PgClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  let isDone = false
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    isDone = true
    return result
  } finally {
    client.release(!isDone)
  }
}

/** Describes an error in one line, with a remedy where there is one. */
export function describeError (error: unknown): string {
  const code = readField(error, 'code')
  // A connection that failed for several addresses has an error for each, and no message of its own.
  const errors = readField(error, 'errors')
  const message = String(readField(Array.isArray(errors) ? errors[0] : error, 'message') ?? error)
  const isUnreachable = typeof code === 'string' && /^(ECONN[A-Z]+|ENOTFOUND|ENOENT|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|28\w{3}|3D000|57P03)$/.test(code) && !(error instanceof RecruitingApiError)
  const text = isUnreachable ? `cannot connect to the database: ${message}; check --database-url or DATABASE_URL` : message
  return text.replaceAll(/\s+/g, ' ').trim()
}
