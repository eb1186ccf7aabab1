import { randomBytes } from 'node:crypto'
import { RecruitingApiError } from '../errors.js'
import type { PgClient, PgPool, PgQueryable } from './pool.js'

/** Runs a statement and returns its rows. */
export type RunQuery = <Row>(text: string, values?: unknown[]) => Promise<Row[]>

/** Asks the database, and never waits longer than the timeout. */
export interface Session {
  /** `operation` names the statement in errors, and to the database's administrator. */
  query<Row> (operation: string, text: string, values?: unknown[]): Promise<Row[]>
  /** Runs several statements in one transaction, which is rolled back if `work` rejects. */
  transaction<Result> (operation: string, work: (query: RunQuery) => Promise<Result>): Promise<Result>
}

// A pool may serve several storages.
const watchedPools = new WeakSet<PgPool>()

/**
 * What takes longer than `timeoutMs`, the wait for a connection included, rejects with `storage_timeout`. Its
 * connection is closed, for it may be dead, and the server is asked to cancel the statement, so that slow ones do not
 * pile up there.
 */
export function createSession (pool: PgPool, timeoutMs: number): Session {
  const sessionId = randomBytes(6).toString('hex')
  let operations = 0
  watchPool(pool)

  function run<Result> (operation: string, work: (client: PgClient, mark: string) => Promise<Result>): Promise<Result> {
    // A comment tells the statement of this very call from all others, whichever connection of a pooler it runs on.
    const mark = `/* fastify-recruiting-api ${operation} ${sessionId}-${++operations} */`
    return borrow(pool, timeoutMs, (client) => work(client, mark), (isRunning) => {
      if (isRunning) cancel(pool, mark, timeoutMs)
      return new RecruitingApiError('storage_timeout', `PostgreSQL did not answer within ${timeoutMs} ms: ${operation}`)
    })
  }

  return {
    query: (operation, text, values) => run(operation, (client, mark) => askBorrowed(client, `${mark} ${text}`, values)),

    transaction: (operation, work) => run(operation, async (client, mark) => {
      const query: RunQuery = (text, values) => askBorrowed(client, `${mark} ${text}`, values)
      await query('begin')
      const result = await work(query)
      await query('commit')
      return result
    })
  }
}

/** Runs a statement in a transaction of the host's, and returns its rows. */
export async function ask<Row> (client: PgQueryable, text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await client.query(text, values)
  return rows as Row[]
}

interface Rows {
  rows: unknown[]
}

type Callback<Answer> = (error: unknown, answer?: Answer | null) => void

/**
 * A driver that may answer by callbacks in the place of promises. A method that has a parameter for one is given it, as those
 * of `pg` have: its promises take longer, and are held by a function that V8 puts where only a full collection comes by,
 * so that the statement and its rows would have to wait for it.
 */
interface Driver {
  connect (callback?: Callback<PgClient>): PromiseLike<PgClient> | undefined
  query (text: string, values: unknown[], callback?: Callback<Rows>): PromiseLike<Rows> | undefined
}

/** Asks the pool for a connection. */
function connect (pool: Pick<Driver, 'connect'>, callback: Callback<PgClient>): void {
  hearPromise(pool.connect.length > 0 ? pool.connect(callback) : pool.connect(), callback)
}

/** Runs a statement on a borrowed connection, and returns its rows. */
function askBorrowed<Row> (client: Pick<Driver, 'query'>, text: string, values: unknown[] = []): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const callback: Callback<Rows> = (error, answer) => error || !answer ? reject(error) : resolve(answer.rows as Row[])
    hearPromise(client.query.length > 2 ? client.query(text, values, callback) : client.query(text, values), callback)
  })
}

/** An async function around a method that takes the callback returns a promise of nothing. */
function hearPromise<Answer> (promise: PromiseLike<Answer> | undefined, callback: Callback<Answer>): void {
  promise?.then((answer) => { if (answer) callback(null, answer) }, callback)
}

/**
 * Takes a connection for a piece of work and gives it back. After an error it is closed instead, which also rolls a
 * transaction back. So it is after `timeoutMs`: then what `expire` returns is thrown, which is told whether the work had
 * begun.
 */
function borrow<Result> (
  pool: PgPool,
  timeoutMs: number,
  work: (client: PgClient) => Promise<Result>,
  expire: (isRunning: boolean) => Error
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let client: PgClient | null = null
    let isOver = false
    const timer = setTimeout(() => {
      end(true)
      reject(expire(client !== null))
    }, timeoutMs)

    function lend (error: unknown, connected?: PgClient | null): void {
      if (error || !connected) return fail(error)
      // It may be told twice, by the callback and by a promise.
      if (connected === client) return
      client = connected
      if (isOver) return client.release()
      // A connection that breaks while nobody waits for an answer must not end the process.
      client.on?.('error', ignore)
      work(client).then(succeed, fail)
    }

    function succeed (result: Result): void {
      end(false)
      resolve(result)
    }

    function fail (error: unknown): void {
      end(true)
      reject(error)
    }

    function end (destroy: boolean): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      if (!destroy) client?.removeListener?.('error', ignore)
      client?.release(destroy)
    }

    try {
      connect(pool, lend)
    } catch (error) {
      fail(error)
    }
  })
}

/** Asks the server to cancel a statement. If that fails too, the server ends it when it finds the connection closed. */
function cancel (pool: PgPool, mark: string, timeoutMs: number): void {
  const text = 'select pg_cancel_backend(pid) from pg_stat_activity where starts_with(query, $1) and pid <> pg_backend_pid()'
  borrow(pool, timeoutMs, (client) => askBorrowed(client, text, [mark]), () => new Error('given up')).catch(ignore)
}

function watchPool (pool: PgPool): void {
  if (watchedPools.has(pool)) return
  watchedPools.add(pool)
  pool.on?.('error', ignore)
}

function ignore (): void {}
