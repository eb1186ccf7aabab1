import { hash } from 'node:crypto'
import { createListening } from './listening.js'
import { expect } from '../../shared/expect.js'
import type { PgPool } from '../pool.js'
import type { Session } from '../session.js'

/** Tells workers, of this process and of others, that deliveries may have fallen due. */
export interface Due {
  /** For what is committed. */
  notify (): void
  /** For what the host's transaction may have recorded: when it commits is not known. */
  notifyLater (): void
  onDue (listener: () => void, onFault?: (error: unknown) => void): () => void
}

// What falls due within this time is told of at once.
const gatherMs = 20
// By then most transactions have committed. Workers find what comes later by polling.
const commitMs = 250

/** Listens and notifies over `listen` and `notify`, on a channel of the schema; `schema` is not quoted. */
export function createDue (pool: PgPool, session: Session, schema: string): Due {
  const channel = `fastify_recruiting_${hash('sha256', schema, 'hex').slice(0, 24)}`
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

  // Not within the host's transaction: commits that notify wait for one another, over the whole database.
  function tellOthers (): void {
    session.query('notify', `notify "${channel}"`).catch(() => {
      // Only a hint is lost: workers poll.
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
      expect(pool.options?.max !== 1, 'pool', '2 connections or more, because LISTEN keeps one of them', 1)
      const entry = { call: listener, onFault }
      listeners.add(entry)
      listening.start()
      return () => {
        listeners.delete(entry)
        if (listeners.size === 0) listening.stop()
      }
    }
  }
}
