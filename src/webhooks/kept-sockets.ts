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
  close (): void
}

interface Use {
  socket: Socket
  bytesReadBefore: number
  isReused: boolean
}

/**
 * A receiver may close a kept-alive connection just as a request is on its way: no failure of the receiver, and only
 * the socket tells. undici shows it on its diagnostics channels and nowhere else.
 */
export function watchKeptSockets (): KeptSockets {
  const used = new WeakSet<Socket>()
  const uses = new WeakMap<RequestToken, Use>()
  let created: RequestToken | undefined

  const onCreate = (message: unknown): void => {
    created = (message as { request: RequestToken }).request
  }
  const onSend = (message: unknown): void => {
    const { request, socket } = message as { request: RequestToken, socket: Socket }
    uses.set(request, { socket, bytesReadBefore: socket.bytesRead, isReused: used.has(socket) })
    used.add(socket)
  }
  subscribe('undici:request:create', onCreate)
  subscribe('undici:client:sendHeaders', onSend)

  return {
    track (makeRequest) {
      created = undefined
      const result = makeRequest()
      return { token: created, result }
    },
    isStale (token) {
      const use = token && uses.get(token)
      if (use === undefined || !use.isReused) return false
      // The bytes of a TLS socket include the alert that closes it.
      return 'encrypted' in use.socket || use.socket.bytesRead === use.bytesReadBefore
    },
    close () {
      unsubscribe('undici:request:create', onCreate)
      unsubscribe('undici:client:sendHeaders', onSend)
    }
  }
}
