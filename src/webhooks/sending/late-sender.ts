import type { TargetRules } from '../ssrf/destination.js'
import { createResolver } from '../ssrf/resolver.js'
import type { Route, Sender } from './sender.js'

/**
 * Creates a sender that loads undici with its first request, because loading takes longer than the rest of a start. After `close`,
 * requests end as `aborted`.
 */
export function createLateSender (rules: TargetRules, timeoutMs: number, route: Route): Sender {
  // Has the name servers of now, whenever the first request is.
  const resolver = createResolver(rules, timeoutMs)
  let loading: Promise<Sender> | null = null
  let isClosed = false

  async function load (): Promise<Sender> {
    const { createSender } = await import('./sender.js')
    return createSender(rules, timeoutMs, route, resolver)
  }

  return {
    async send (request) {
      if (isClosed) return { responseStatus: null, error: 'aborted', durationMs: 0 }
      loading ??= load()
      const sender = await loading
      return sender.send(request)
    },

    // Requests that wait for the sender are sent first, so `abort` and `close` reach them too.
    abort () {
      loading?.then((sender) => sender.abort())
    },

    async close () {
      isClosed = true
      const sender = await loading
      await sender?.close()
    }
  }
}
