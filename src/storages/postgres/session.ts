import { hash, randomBytes } from 'node:crypto'
import { RecruitingApiError } from '../../core/shared/errors.js'
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
  /**
   * The same for a statement of few texts, which each connection without a pooler prepares once. Its plan must not
   * depend on the values, or it contains `planWithValues`.
   */
  prepared<Row> (operation: string, text: string, values: unknown[]): Promise<Row[]>
  /** Runs several statements in one transaction, which is rolled back if `work` rejects. */
  transaction<Result> (operation: string, work: (query: RunQuery) => Promise<Result>): Promise<Result>
}

/** Identifies a running statement, on any of a pooler's connections: by its mark alone, or with the server process. */
interface Running {
  mark: string
  pid: number | null
}

/** Facts about a connection, read once. */
interface Connection {
  /** Whether it has the needed settings outside a transaction. */
  hasNeeded: boolean
  /** The server process that it uses; through a pooler, any. */
  pid: number
}

const connections = new WeakMap<PgClient, Connection>()

/** A `pg` client, which prepares a statement with a name once. */
interface NamingClient {
  readonly processID: number
  query (statement: { name: string, text: string, values: unknown[] }): Promise<{ rows: unknown[] }>
}

/** A pooler gives clients made-up process ids, because it runs each transaction on another connection. */
function canName (client: PgClient, { pid }: Connection): client is PgClient & NamingClient {
  return readField(client, 'processID') === pid
}

/** The server does not know a prepared statement, knows another one by this name, or a view has changed. */
const unusable = ['26000', '42P05', '0A000']

/**
 * Queries that take longer than `timeoutMs`, including the wait for a connection, or than the database user's settings
 * allow, reject with `storage_timeout`. The session closes the connection, which may be dead. It asks the server to
 * cancel the statement, so that slow statements do not pile up.
 */
export function createSession (pool: PgPool, timeoutMs: number): Session {
  const sessionId = randomBytes(6).toString('hex')
  let operations = 0
  let isNaming = true
  watchPool(pool)

  function run<Result> (
    operation: string, work: (client: PgClient, running: Running) => Promise<Result>
  ): Promise<Result> {
    const running = { mark: formatMark(`${operation} ${sessionId}-${++operations}`), pid: null }
    return borrow(pool, timeoutMs, (client) => work(client, running), (isRunning, cause) => {
      if (isRunning) cancel(pool, running, timeoutMs)
      const message = `PostgreSQL did not answer within ${timeoutMs} ms: ${operation}`
      return new RecruitingApiError('storage_timeout', message, '', cause === undefined ? {} : { cause })
    })
  }

  function runOne<Row> (operation: string, text: string, values: unknown[] | undefined, isNamed: boolean) {
    return run(operation, async (client, running) => {
      const query = createQuery(client, running)
      const connection = connections.get(client) ?? await describeConnection(client, query)
      if (!connection.hasNeeded) return runTransaction(query, () => query<Row>(text, values))
      if (!isNamed || values === undefined || !canName(client, connection)) return query<Row>(text, values)
      running.mark = formatMark(operation)
      running.pid = connection.pid
      const { rows } = await client.query({ ...nameStatement(`${running.mark} ${text}`), values })
      return rows as Row[]
    })
  }

  return {
    query: (operation, text, values) => runOne(operation, text, values, false),

    async prepared (operation, text, values) {
      const isNamed = isNaming
      try {
        return await runOne(operation, text, values, isNamed)
      } catch (error) {
        const code = String(readField(error, 'code'))
        if (!isNamed || !unusable.includes(code)) throw error
        if (code !== '0A000') isNaming = false
        return runOne(operation, text, values, false)
      }
    },

    transaction: (operation, work) => run(operation, (client, running) => {
      const query = createQuery(client, running)
      return runTransaction(query, () => work(query))
    })
  }
}

/** Formats the comment that a statement begins with. */
function formatMark (name: string): string {
  return `/* fastify-recruiting-api ${name} */`
}

const names = new Map<string, string>()

/** Statements with one name must have the same text. */
function nameStatement (text: string): { name: string, text: string } {
  let name = names.get(text)
  if (name === undefined) names.set(text, name = `recruiting_${hash('sha256', text).slice(0, 32)}`)
  return { name, text }
}

function createQuery (client: PgClient, { mark }: Running): RunQuery {
  return (text, values) => ask(client, `${mark} ${text}`, values)
}

async function runTransaction<Result> (query: RunQuery, work: () => Promise<Result>): Promise<Result> {
  await query(begin)
  const result = await work()
  await query('commit')
  return result
}

/** The host's role may override settings that our statements need. A transaction sets its own. */
async function describeConnection (client: PgClient, query: RunQuery): Promise<Connection> {
  const conditions = neededSettings.map(({ name, needed }) => `current_setting('${name}')${needed}`)
  const [row] = await query<{ has_needed: boolean, pid: number }>(
    `select ${conditions.join(' and ')} as has_needed, pg_backend_pid() as pid`)
  const connection = { hasNeeded: row?.has_needed === true, pid: Number(row?.pid) }
  connections.set(client, connection)
  return connection
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

/** Evaluates an SQL expression and returns its result as text; `null` if it is null or there is no row. */
export async function readValue (
  session: Pick<Session, 'query'>, operation: string, expression: string, values?: unknown[]
): Promise<string | null> {
  const [row] = await session.query<{ value: string | null }>(operation, `select (${expression})::text as value`, values)
  return row?.value ?? null
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
  expire: (isRunning: boolean, cause?: unknown) => Error
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
    throw isTimeout(error) ? expire(false, error) : error
  }
}

/** Returns whether a statement took longer than the user's settings allow, or the pool had no connection in time. */
function isTimeout (error: unknown): boolean {
  return readField(error, 'code') === '57014' || /^timeout exceeded/.test(String(readField(error, 'message')))
}

/** Asks the server to cancel a statement. If that fails, the server stops it when it detects the closed connection. */
function cancel (pool: PgPool, { mark, pid }: Running, timeoutMs: number): void {
  const text = `
    select pg_cancel_backend(pid) from pg_stat_activity
    where starts_with(query, $1) and pid <> pg_backend_pid() and ($2::integer is null or pid = $2)`
  borrow(pool, timeoutMs, (client) => ask(client, text, [mark, pid]), () => new Error('given up')).catch(ignore)
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
  return { transaction, ...inTransactions(transaction) }
}

/** Runs each statement in a transaction. */
export function inTransactions (transaction: Session['transaction']): Omit<Session, 'transaction'> {
  const query: Session['query'] = (operation, text, values) => transaction(operation, (run) => run(text, values))
  return { query, prepared: query }
}
