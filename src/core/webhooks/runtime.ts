import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../ports/index.js'
import { systemClock } from '../shared/clock.js'
import { createHistoryPlaces, type HistoryPlaces } from './history.js'
import type { Route, Sender } from './sending/sender.js'
import type { TargetRules } from './ssrf/addresses.js'
import { createResolver } from './ssrf/resolver.js'

/** The parts of the process that the engine uses. A simulation replaces them to repeat a run exactly. */
export interface Runtime {
  /** Real time, for limits that a clock of the host must not stop. */
  clock: Clock
  /** Resolves after the other work of this turn of the event loop. */
  nextTick (): Promise<unknown>
  /** Returns a number from 0 up to 1. */
  random (): number
  createSender: typeof createLateSender
  /** Shared by all engines of the process. */
  historyPlaces: HistoryPlaces
}

export const systemRuntime: Runtime = {
  clock: systemClock,
  nextTick: () => setImmediate(),
  random: () => Math.random(),
  createSender: createLateSender,
  historyPlaces: createHistoryPlaces(systemClock)
}

/** A sender that loads undici when it is needed, because loading takes longer than the rest of a start. */
export interface LateSender extends Sender {
  /** Loads undici before the first request: its files may be replaced while the process runs. */
  load (): Promise<Sender>
}

/** Creates a sender that loads undici by its first request. After `close`, requests end as `aborted`. */
export function createLateSender (rules: TargetRules, timeoutMs: number, route: Route): LateSender {
  // Created now, so that it uses the name servers that the host has set at the start.
  const resolver = createResolver(rules, timeoutMs)
  let loading: Promise<Sender> | null = null
  let isClosed = false

  function load (): Promise<Sender> {
    loading ??= import('./sending/sender.js').then(({ createSender }) => {
      return createSender(rules, timeoutMs, route, resolver)
    }).catch((error: unknown) => {
      loading = null
      throw error
    })
    return loading
  }

  return {
    load,

    async send (request) {
      if (isClosed) return { responseStatus: null, error: 'aborted', durationMs: 0 }
      try {
        const sender = await load()
        return await sender.send(request)
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        const ownFault = { cause: 'descriptors', reason: `cannot load the HTTP client: ${code ?? message}` } as const
        return { responseStatus: null, error: 'connection', durationMs: 0, ownFault }
      }
    },

    // Requests that wait for the sender are sent first, so `abort` and `close` reach them too.
    abort () {
      loading?.then((sender) => sender.abort()).catch(() => {})
    },

    async close () {
      isClosed = true
      const sender = await loading?.catch(() => null)
      await sender?.close()
    }
  }
}
