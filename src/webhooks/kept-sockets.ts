import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** undici's own name for a request, from its creation to its end. */
type RequestToken = object

/** Knows over which socket each request went. */
export interface KeptSockets {
  /** Runs what makes a request, and returns the token of that request with its result. */
  track<T> (makeRequest: () => T): { token: RequestToken | undefined, result: T }
  /** Whether a request that failed had been written to a socket used before, and nothing came back on it. */
  isStale (token: RequestToken | undefined): boolean
  /**
   * Ends the connection of a request that was sent. undici's own abort would connect anew, for nothing: the request is
   * the first of its queue until the next connection shows it to be aborted.
   */
  hangUp (token: RequestToken | undefined): void
  close (): void
}

/** How often something was read from a socket. */
interface Traffic {
  reads: number
}

interface Use {
  traffic: Traffic
  readsBefore: number
}

/**
 * A receiver may close a kept-alive connection just as a request is on its way: no failure of the receiver, and only
 * the socket tells. undici shows it on its diagnostics channels and nowhere else.
 */
export function watchKeptSockets (): KeptSockets {
  const ours = new WeakSet<RequestToken>()
  const known = new WeakMap<Socket, Traffic>()
  const sockets = new WeakMap<RequestToken, Socket>()
  const reuses = new WeakMap<RequestToken, Use>()
  let created: RequestToken | undefined

  const onCreate = (message: unknown): void => {
    created = (message as { request: RequestToken }).request
  }
  const onSend = (message: unknown): void => {
    const { request, socket } = message as { request: RequestToken, socket: Socket }
    // The host's own requests are on these channels too.
    if (!ours.has(request)) return
    sockets.set(request, socket)
    const traffic = known.get(socket)
    if (traffic === undefined) known.set(socket, countReads(socket))
    else reuses.set(request, { traffic, readsBefore: traffic.reads })
  }
  subscribe('undici:request:create', onCreate)
  subscribe('undici:client:sendHeaders', onSend)

  return {
    track (makeRequest) {
      created = undefined
      const result = makeRequest()
      const token: RequestToken | undefined = created
      created = undefined
      if (token !== undefined) ours.add(token)
      return { token, result }
    },
    isStale (token) {
      const use = token && reuses.get(token)
      return use !== undefined && use.traffic.reads === use.readsBefore
    },
    hangUp (token) {
      if (token !== undefined) sockets.get(token)?.destroy(new Error('hung up'))
    },
    close () {
      unsubscribe('undici:request:create', onCreate)
      unsubscribe('undici:client:sendHeaders', onSend)
    }
  }
}

/** `bytesRead` would not do: over TLS it includes the alert that closes the connection. */
function countReads (socket: Socket): Traffic {
  const traffic = { reads: 0 }
  // Before undici's own listener, which leaves nothing to be seen.
  socket.prependListener('readable', () => {
    if (socket.readableLength > 0) traffic.reads++
  })
  return traffic
}
