import { hash } from 'node:crypto'
import { createListening } from './listening.js'
import { assertOption } from '../../shared/read-options.js'
import type { PgPool } from '../pool.js'
import type { Session } from '../session.js'

/** Wakes the workers of this and other processes when deliveries may be due. */
export interface Due {
  /** After a commit. */
  notify (): void
  /** After a statement in a transaction of the host, whose commit is not observed. */
  notifyLater (): void
  onDue (listener: () => void, onFault?: (error: unknown) => void): () => void
}

// Notifications within this time are sent as one.
const gatherMs = 20
// Most transactions have committed by then. Workers find the others by polling.
const commitMs = 250

// How many connections of each pool LISTEN keeps, one for each storage.
const keptConnections = new WeakMap<PgPool, number>()

/** The channel of a schema, which is not quoted. */
export function channelOf (schema: string): string {
  return `fastify_recruiting_${hash('sha256', schema, 'hex').slice(0, 24)}`
}

/** Uses `listen` and `notify`, with one channel for each schema; `schema` is not quoted. */
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
  function tellOthers (): void {
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
      later(gatherMs, tellOthers)
    },
    notifyLater () {
      for (const delayMs of [gatherMs, commitMs]) {
        later(delayMs, () => {
          callListeners()
          tellOthers()
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
    max > kept,
    'pool',
    `${kept + 1} connections or more, because LISTEN keeps ${kept} of them, one for each storage that delivers`,
    max
  )
  keptConnections.set(pool, kept)
}

function freeConnection (pool: PgPool): void {
  keptConnections.set(pool, Number(keptConnections.get(pool)) - 1)
}
