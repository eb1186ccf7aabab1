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
    query: (operation, text, values) => run(operation, (client, mark) => ask(client, `${mark} ${text}`, values)),

    transaction: (operation, work) => run(operation, async (client, mark) => {
      const query: RunQuery = (text, values) => ask(client, `${mark} ${text}`, values)
      await query('begin')
      const result = await work(query)
      await query('commit')
      return result
    })
  }
}

/** Runs a statement on a connection, such as one with the host's own transaction, and returns its rows. */
export async function ask<Row> (client: PgQueryable, text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await client.query(text, values)
  return rows as Row[]
}

/**
 * Takes a connection for a piece of work and gives it back. After an error it is closed instead, which also rolls a
 * transaction back, and so it is after `timeoutMs`: then `expire` makes the error, knowing whether the work had begun.
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
    // A connection that breaks while nobody waits for an answer must not end the process.
    client.on?.('error', ignore)
    return work(client)
  }

  function giveBack (destroy: boolean): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (!destroy) client?.removeListener?.('error', ignore)
    client?.release(destroy)
  }

  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      giveBack(true)
      reject(expire(client !== null))
    }, timeoutMs)
  })
  try {
    const result = await Promise.race([useConnection(), expired])
    giveBack(false)
    return result
  } catch (error) {
    giveBack(true)
    throw error
  }
}

/** Asks the server to cancel a statement. If that fails too, the server ends it when it finds the connection closed. */
function cancel (pool: PgPool, mark: string, timeoutMs: number): void {
  const text = 'select pg_cancel_backend(pid) from pg_stat_activity where starts_with(query, $1) and pid <> pg_backend_pid()'
  borrow(pool, timeoutMs, (client) => ask(client, text, [mark]), () => new Error('given up')).catch(ignore)
}

function watchPool (pool: PgPool): void {
  if (watchedPools.has(pool)) return
  watchedPools.add(pool)
  pool.on?.('error', ignore)
}

function ignore (): void {}
