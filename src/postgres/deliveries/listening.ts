import type { PgClient, PgPool } from '../pool.js'

/** A connection that receives notifications. */
export interface Listening {
  start (): void
  /** Closes the connection at once, so that the host can end its pool. */
  stop (): void
}

interface Events {
  onNotification: () => void
  /** Called once for each interruption. */
  onLost: (error: unknown) => void
}

const firstPauseMs = 500
const longestPauseMs = 15_000
const keepAliveMs = 30_000
const answerMs = 10_000

/** Tests the connection regularly, and replaces it if it is broken: after a pause that doubles with each failure. */
export function createListening (pool: PgPool, channel: string, { onNotification, onLost }: Events): Listening {
  // Each start has its own symbol. Callbacks of an earlier start do nothing.
  let current: symbol | null = null
  let client: PgClient | null = null
  let timer: NodeJS.Timeout | undefined
  let isLost = false

  async function connect (run: symbol, pauseMs: number): Promise<void> {
    try {
      const taken = await pool.connect()
      if (current !== run) return taken.release()
      client = taken
      await listen(taken, run)
    } catch (error) {
      drop(run, error, Math.min(pauseMs * 2, longestPauseMs))
    }
  }

  async function listen (taken: PgClient, run: symbol): Promise<void> {
    // The driver has no notifications: workers poll.
    if (taken.on === undefined) {
      client = null
      return taken.release()
    }
    taken.on('error', (error) => drop(run, error))
    taken.on('end', () => drop(run, new Error('the connection has ended')))
    taken.on('notification', onNotification)
    await taken.query(`listen "${channel}"`)
    if (current !== run) return
    isLost = false
    // Notifications sent before LISTEN took effect were missed.
    onNotification()
    later(keepAliveMs, () => keepAlive(taken, run))
  }

  async function keepAlive (taken: PgClient, run: symbol): Promise<void> {
    later(answerMs, () => drop(run, new Error('the server does not answer')))
    try {
      // The same statement again, so that pg_stat_activity shows who listens.
      await taken.query(`listen "${channel}"`)
      if (current === run) later(keepAliveMs, () => keepAlive(taken, run))
    } catch (error) {
      drop(run, error)
    }
  }

  function drop (run: symbol, error: unknown, pauseMs = firstPauseMs): void {
    if (current !== run) return
    letGo()
    later(pauseMs, () => connect(run, pauseMs))
    if (isLost) return
    isLost = true
    onLost(error)
  }

  function later (delayMs: number, call: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(call, delayMs).unref()
  }

  function letGo (): void {
    const taken = client
    client = null
    taken?.removeListener?.('notification', onNotification)
    taken?.release(true)
  }

  return {
    start () {
      if (current !== null) return
      current = Symbol('listening')
      connect(current, firstPauseMs)
    },
    stop () {
      current = null
      clearTimeout(timer)
      letGo()
    }
  }
}
