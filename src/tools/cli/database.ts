import { RecruitingApiError, isRecruitingApiError } from '../../core/shared/errors.js'
import { watchPool } from '../../storages/postgres/pool.js'
import type { PgPool } from '../../storages/postgres/index.js'
import { ask } from '../../storages/postgres/session.js'
import { findMissing, listNames, readVersion } from '../../storages/postgres/upgrade/version.js'
import { readField } from '../../core/shared/fields.js'
import { parseUrl } from '../../core/shared/text.js'
import { type Flags, type Io, program, CommandError, UsageError } from './command.js'
import { readEnvFileUrl, readSecret } from './secrets.js'

type CreatePool = new (options: object) => PgPool & { end (): Promise<void> }

/** Creates a pool with the host's `pg`. It connects on the first query. */
export async function openDatabase (io: Io, flags: Flags) {
  const secret = await readSecret({ io, flags }, 'database-url') ?? await readEnvFileUrl(io)
  if (secret === null) {
    throw new UsageError(
      '--database-url: missing, and DATABASE_URL is not set; add --database-url postgres://user@host/database')
  }
  const { text: connectionString, source } = secret
  // The message omits the URL, which may contain a password.
  if (!isDatabaseUrl(connectionString)) {
    throw new UsageError(`${source}: expected a URL such as postgres://user@host/database`)
  }
  const Pool = await importPool(io)
  const pool = new Pool({ connectionString, max: 5, connectionTimeoutMillis: 10_000, application_name: program })
  watchPool(pool)
  return { pool, end: () => pool.end() }
}

/** Returns whether `pg` can read the text: a URL, or a socket's folder. */
function isDatabaseUrl (text: string): boolean {
  return text.startsWith('/') || ['postgres:', 'postgresql:', 'socket:'].includes(String(parseUrl(text)?.protocol))
}

async function importPool (io: Io): Promise<CreatePool> {
  try {
    const driver = await io.importDriver()
    // Earlier versions have no named exports.
    return (readField(driver, 'Pool') ?? readField(readField(driver, 'default'), 'Pool')) as CreatePool
  } catch (error) {
    if (readField(error, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandError('the package pg is not installed: run npm install pg')
  }
}

export async function findMissingMigrations (pool: PgPool, schema: string): Promise<string[]> {
  return listNames(await findMissing((text, values) => ask(pool, text, values), schema, await readVersion()))
}

/** Runs the work of an entry of the argument `FILE`, such as `key 3`, which its errors name. */
export async function importEntry<Result> (entry: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isRecruitingApiError(error)) throw error
    throw new CommandError(
      `FILE: ${entry}: ${describeError(error)}. Earlier entries were imported: fix it, then run the command again`)
  }
}

export function describeError (error: unknown): string {
  const code = readField(error, 'code')
  const message = readMessage(error)
  const isUnreachable =
    typeof code === 'string' &&
    /^(ECONN[A-Z]+|ENOTFOUND|ENOENT|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|28\w{3}|3D000|57P03)$/.test(code) &&
    !(error instanceof RecruitingApiError)
  const text = isUnreachable ? `cannot connect to the database: ${message}; check the database URL` : message
  return text.replaceAll(/\s+/g, ' ').trim()
}

export function readMessage (error: unknown): string {
  // A connection that failed for several addresses has an error for each, and no message.
  const errors = readField(error, 'errors')
  return String(readField(Array.isArray(errors) ? errors[0] : error, 'message') ?? error)
}
