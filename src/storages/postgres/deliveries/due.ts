import { hash } from 'node:crypto'
import { assertOption } from '../../../core/shared/read-options.js'
import type { PgClient, PgPool } from '../pool.js'
import type { Session } from '../session.js'

/** Wakes the workers of this and other processes when deliveries may be due. */
export interface Due {
  /** After a commit. */
  notify (): void
  /** After a statement in the host's transaction, whose commit cannot be observed. */
  notifyLater (): void
  onDue (listener: () => void, onFault?: (error: unknown) => void): () => void
}

// Notifications within this time are sent as one.
const gatherMs = 20
// Most transactions have committed by then. Workers find the others by polling.
const commitMs = 250

// How many of a pool's connections LISTEN keeps: one per storage.
const keptConnections = new WeakMap<PgPool, number>()

/** The schema's channel; `schema` is not quoted. */
export function channelOf (schema: string): string {
  return `fastify_recruiting_${hash('sha256', schema, 'hex').slice(0, 24)}`
}

/** Uses `listen` and `notify`, with one channel per schema; `schema` is not quoted. */
export function createDue (pool: PgPool, session: Session, schema: string): Due {
  const channel = channelOf(schema)
  const listeners = new Set<{ call: () => void, onFault?: ((error: unknown) => void) | undefined }>()
  const listening = createListening(pool, channel, {
    onNotification: callListeners,
    onLost (error) {
      for (const { onFault } of [...listeners]) onFault?.(error)
    }
  })
  const timers = new Map<number, NodeJS.Timeout>()

  function callListeners (): void {
    for (const { call } of [...listeners]) call()
  }

  // Not in the host's transaction: commits that notify wait for each other across the whole database.
  function notifyOthers (): void {
    session.query('notify', `notify "${channel}"`).catch(() => {
      // Workers poll.
    })
  }

  function later (delayMs: number, call: () => void): void {
    if (timers.has(delayMs)) return
    const timer = setTimeout(() => {
      timers.delete(delayMs)
      call()
    }, delayMs)
    timers.set(delayMs, timer.unref())
  }

  return {
    notify () {
      callListeners()
      later(gatherMs, notifyOthers)
    },
    notifyLater () {
      for (const delayMs of [gatherMs, commitMs]) {
        later(delayMs, () => {
          callListeners()
          notifyOthers()
        })
      }
    },
    onDue (listener, onFault) {
      if (listeners.size === 0) keepConnection(pool)
      const entry = { call: listener, onFault }
      listeners.add(entry)
      listening.start()
      return () => {
        if (!listeners.delete(entry) || listeners.size > 0) return
        listening.stop()
        freeConnection(pool)
      }
    }
  }
}

/** Throws `invalid_option` if LISTEN would leave no connection for queries. */
function keepConnection (pool: PgPool): void {
  const kept = (keptConnections.get(pool) ?? 0) + 1
  const max = Number(pool.options?.max ?? Infinity)
  assertOption(
    max > kept, 'pool',
    `${kept + 1} connections or more, because LISTEN keeps ${kept} of them, one for each storage that delivers`,
    max
  )
  keptConnections.set(pool, kept)
}

function freeConnection (pool: PgPool): void {
  keptConnections.set(pool, Number(keptConnections.get(pool)) - 1)
}

interface Listening {
  start (): void
  /** Closes the connection immediately, so that the host can end its pool. */
  stop (): void
}

const firstPauseMs = 500
const longestPauseMs = 15_000
const keepAliveMs = 30_000
const answerMs = 10_000

/**
 * Tests the connection regularly, and replaces a broken one after a pause that doubles with each failure. `onLost` is
 * called once per interruption.
 */
export function createListening (
  pool: PgPool, channel: string,
  { onNotification, onLost }: { onNotification: () => void, onLost: (error: unknown) => void }
): Listening {
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
    // The driver does not support notifications: workers poll.
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
      // Repeats the statement, so that pg_stat_activity shows who listens.
      await taken.query(`listen "${channel}"`)
      if (current === run) later(keepAliveMs, () => keepAlive(taken, run))
    } catch (error) {
      drop(run, error)
    }
  }

  function drop (run: symbol, error: unknown, pauseMs = firstPauseMs): void {
    if (current !== run) return
    closeClient()
    later(pauseMs, () => connect(run, pauseMs))
    if (isLost) return
    isLost = true
    onLost(error)
  }

  function later (delayMs: number, call: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(call, delayMs).unref()
  }

  function closeClient (): void {
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
      closeClient()
    }
  }
}
