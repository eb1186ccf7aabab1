import { randomBytes } from 'node:crypto'
import { RecruitingApiError } from '../../core/errors.js'
import { readField } from '../../core/shared/fields.js'
import { integer } from '../../core/shared/read-options.js'
import {
  begin, neededSettings, overrideTimeouts, type PgClient, type PgPool, type PgQueryable, watchPool
} from './pool.js'

/** Reads the query timeout. The default is short, so that workers retry within seconds. */
export const readQueryTimeout = integer(100, 120_000, 5000)

/** Runs a statement and returns its rows. */
export type RunQuery = <Row>(text: string, values?: unknown[]) => Promise<Row[]>

/** Queries the database with a time limit. */
export interface Session {
  /** `operation` names the statement in errors and in `pg_stat_activity`. */
  query<Row> (operation: string, text: string, values?: unknown[]): Promise<Row[]>
  /** Runs several statements in one transaction, which is rolled back if `work` rejects. */
  transaction<Result> (operation: string, work: (query: RunQuery) => Promise<Result>): Promise<Result>
}

// Whether a connection has the needed settings outside a transaction.
const hasNeededSettings = new WeakMap<PgClient, boolean>()

/**
 * Queries that take longer than `timeoutMs`, including the wait for a connection, or than the database user's settings
 * allow, reject with `storage_timeout`. The session closes the connection, which may be dead. It asks the server to
 * cancel the statement, so that slow statements do not pile up.
 */
export function createSession (pool: PgPool, timeoutMs: number): Session {
  const sessionId = randomBytes(6).toString('hex')
  let operations = 0
  watchPool(pool)

  function run<Result> (operation: string, work: (client: PgClient, mark: string) => Promise<Result>): Promise<Result> {
    // A comment identifies this call's statement, on any of a pooler's connections.
    const mark = `/* fastify-recruiting-api ${operation} ${sessionId}-${++operations} */`
    return borrow(pool, timeoutMs, (client) => work(client, mark), (isRunning) => {
      if (isRunning) cancel(pool, mark, timeoutMs)
      return new RecruitingApiError('storage_timeout', `PostgreSQL did not answer within ${timeoutMs} ms: ${operation}`)
    })
  }

  return {
    query: (operation, text, values) => run(operation, async (client, mark) => {
      const query = createQuery(client, mark)
      return await needsTransaction(client, query)
        ? runTransaction(query, () => query(text, values))
        : query(text, values)
    }),

    transaction: (operation, work) => run(operation, (client, mark) => {
      const query = createQuery(client, mark)
      return runTransaction(query, () => work(query))
    })
  }
}

function createQuery (client: PgClient, mark: string): RunQuery {
  return (text, values) => ask(client, `${mark} ${text}`, values)
}

async function runTransaction<Result> (query: RunQuery, work: () => Promise<Result>): Promise<Result> {
  await query(begin)
  const result = await work()
  await query('commit')
  return result
}

/** Returns whether the host's role overrides settings that our statements need. A transaction sets its own. */
async function needsTransaction (client: PgClient, query: RunQuery): Promise<boolean> {
  let hasNeeded = hasNeededSettings.get(client)
  if (hasNeeded === undefined) {
    const conditions = neededSettings.map(({ name, needed }) => `current_setting('${name}')${needed}`)
    const [row] = await query<{ has_needed: boolean }>(`select ${conditions.join(' and ')} as has_needed`)
    hasNeeded = row?.has_needed === true
    hasNeededSettings.set(client, hasNeeded)
  }
  return !hasNeeded
}

/**
 * Runs a statement with one text column, `json`, and returns the parsed values. The host's driver may parse other types
 * differently.
 */
export async function readJson<Value> (
  session: Pick<Session, 'query'>,
  operation: string,
  text: string,
  values?: unknown[]
): Promise<Value[]> {
  const rows = await session.query<{ json: string }>(operation, text, values)
  return rows.map(({ json }) => JSON.parse(json))
}

/** Runs a statement, possibly in the host's transaction, and returns its rows. */
export async function ask<Row> (client: PgQueryable, text: string, values?: unknown[]): Promise<Row[]> {
  // The driver accepts several statements at once only without values.
  const { rows } = await (values === undefined ? client.query(text) : client.query(text, values))
  return rows as Row[]
}

/**
 * Runs `work` with a connection from the pool. After an error or `timeoutMs`, closes the connection, which rolls back
 * an open transaction. `expire` creates the timeout error; `isRunning` is whether the work had started.
 */
async function borrow<Result> (
  pool: PgPool,
  timeoutMs: number,
  work: (client: PgClient) => Promise<Result>,
  expire: (isRunning: boolean) => Error
): Promise<Result> {
  let client: PgClient | null = null
  let isOver = false
  let timer: NodeJS.Timeout | undefined

  async function useConnection (): Promise<Result> {
    const connected = await pool.connect()
    if (isOver) {
      connected.release()
      throw expire(false)
    }
    client = connected
    // Without a listener, a connection that breaks while idle crashes the process.
    client.on?.('error', ignore)
    return work(client)
  }

  function returnClient (destroy: boolean): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (!destroy) client?.removeListener?.('error', ignore)
    client?.release(destroy)
  }

  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      returnClient(true)
      reject(expire(client !== null))
    }, timeoutMs)
  })
  try {
    const result = await Promise.race([useConnection(), expired])
    returnClient(false)
    return result
  } catch (error) {
    returnClient(true)
    throw isTimeout(error) ? expire(false) : error
  }
}

/** Returns whether a statement took longer than the user's settings allow, or the pool had no connection in time. */
function isTimeout (error: unknown): boolean {
  return readField(error, 'code') === '57014' || /^timeout exceeded/.test(String(readField(error, 'message')))
}

/** Asks the server to cancel a statement. If that fails, the server stops it when it detects the closed connection. */
function cancel (pool: PgPool, mark: string, timeoutMs: number): void {
  const text =
    'select pg_cancel_backend(pid) from pg_stat_activity where starts_with(query, $1) and pid <> pg_backend_pid()'
  borrow(pool, timeoutMs, (client) => ask(client, text, [mark]), () => new Error('given up')).catch(ignore)
}

function ignore (): void {}

const timeoutMs = 60_000

/** Creates a session with a timeout of a minute, even if the database user's timeouts are shorter. */
export function createPatientSession (pool: PgPool): Session {
  const session = createSession(pool, timeoutMs)
  const transaction: Session['transaction'] = (operation, work) => session.transaction(operation, async (query) => {
    await query(overrideTimeouts(timeoutMs))
    return work(query)
  })
  return { transaction, query: (operation, text, values) => transaction(operation, (query) => query(text, values)) }
}
