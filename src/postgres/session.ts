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

  function run<Result> (operation: string, work: (query: RunQuery) => Promise<Result>): Promise<Result> {
    // A comment tells the statement of this very call from all others, whichever connection of a pooler it runs on.
    const mark = `/* fastify-recruiting-api ${operation} ${sessionId}-${++operations} */`
    const lent = lend(pool)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new RecruitingApiError('storage_timeout', `PostgreSQL did not answer within ${timeoutMs} ms: ${operation}`))
        if (lent.destroy()) cancel(pool, mark, timeoutMs)
      }, timeoutMs)
      lent.use((client) => work((text, values) => ask(client, `${mark} ${text}`, values)))
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
  }

  return {
    query: (operation, text, values) => run(operation, (query) => query(text, values)),

    transaction: (operation, work) => run(operation, async (query) => {
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

interface Loan {
  /** Takes a connection for the time of the work. After an error it is closed: that also rolls a transaction back. */
  use<Result> (work: (client: PgClient) => Promise<Result>): Promise<Result>
  /** Gives up waiting. False if there was no connection yet. */
  destroy (): boolean
}

function lend (pool: PgPool): Loan {
  let client: PgClient | null = null
  let isOver = false

  function end (destroy: boolean): void {
    if (isOver) return
    isOver = true
    if (!destroy) client?.removeListener?.('error', ignore)
    client?.release(destroy)
  }

  return {
    async use (work) {
      const taken = await pool.connect()
      if (isOver) {
        taken.release()
        throw new Error('given up')
      }
      client = taken
      // A connection that breaks while nobody waits for an answer must not end the process.
      client.on?.('error', ignore)
      try {
        const result = await work(client)
        end(false)
        return result
      } catch (error) {
        end(true)
        throw error
      }
    },
    destroy () {
      end(true)
      return client !== null
    }
  }
}

/** Asks the server to cancel a statement. If that fails too, the server ends it when it finds the connection closed. */
function cancel (pool: PgPool, mark: string, timeoutMs: number): void {
  const lent = lend(pool)
  const timer = setTimeout(() => lent.destroy(), timeoutMs)
  lent.use((client) => client.query(
    'select pg_cancel_backend(pid) from pg_stat_activity where starts_with(query, $1) and pid <> pg_backend_pid()',
    [mark]
  )).catch(ignore).finally(() => clearTimeout(timer))
}

function watchPool (pool: PgPool): void {
  if (watchedPools.has(pool)) return
  watchedPools.add(pool)
  pool.on?.('error', ignore)
}

function ignore (): void {}
