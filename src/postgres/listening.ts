import type { PgClient, PgPool } from './pool.js'

/** A connection that waits for notifications while somebody wants them. */
export interface Listening {
  start (): void
  /** Lets the connection go at once, so that the host can end its pool. */
  stop (): void
}

const firstPauseMs = 500
const longestPauseMs = 15_000

/** A connection that broke is replaced by another, after a pause that grows while this fails. */
export function createListening (pool: PgPool, channel: string, onNotification: () => void): Listening {
  // Each start has its own; whoever finds that it is no longer the current one ends.
  let current: symbol | null = null
  let client: PgClient | null = null
  let timer: NodeJS.Timeout | undefined

  async function connect (run: symbol, pauseMs: number): Promise<void> {
    try {
      const taken = await pool.connect()
      if (current !== run) return taken.release()
      client = taken
      await listen(taken, run)
    } catch {
      drop(run, Math.min(pauseMs * 2, longestPauseMs))
    }
  }

  async function listen (taken: PgClient, run: symbol): Promise<void> {
    // A driver that cannot tell of notifications: workers poll.
    if (taken.on === undefined) {
      client = null
      return taken.release()
    }
    taken.on('error', () => drop(run, firstPauseMs))
    taken.on('end', () => drop(run, firstPauseMs))
    taken.on('notification', onNotification)
    await taken.query(`listen "${channel}"`)
    // What was recorded meanwhile was told to nobody.
    if (current === run) onNotification()
  }

  function drop (run: symbol, pauseMs: number): void {
    if (current !== run) return
    letGo()
    clearTimeout(timer)
    timer = setTimeout(() => connect(run, pauseMs), pauseMs)
    timer.unref()
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
