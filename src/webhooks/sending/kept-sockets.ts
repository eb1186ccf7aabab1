import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/**
 * A receiver may close a kept-alive connection just as a request is on its way: no failure of the receiver, and only
 * the socket tells. undici shows it on its diagnostics channels and nowhere else.
 */
export interface KeptSockets {
  /** Runs what makes one request, and returns how that goes over its socket. */
  follow (makeRequest: () => void): Passage
  close (): void
}

/** How often something was read from a socket. */
interface Traffic {
  reads: number
}

/** How one request goes over a socket. */
export class Passage {
  #socket: Socket | undefined
  #traffic: Traffic | undefined
  #readsBefore = 0

  /** The request is about to be written. `traffic` is `undefined` if nothing was written to the socket before. */
  begin (socket: Socket, traffic: Traffic | undefined): void {
    this.#socket = socket
    this.#traffic = traffic
    this.#readsBefore = traffic?.reads ?? 0
  }

  /** Whether the request was written to a socket used before, and nothing came back on it. */
  get isUnanswered (): boolean {
    return this.#traffic !== undefined && this.#traffic.reads === this.#readsBefore
  }

  /**
   * Ends the connection, if the request was sent. undici's own abort would connect anew, for nothing: the request is the
   * first of its queue until the next connection shows it to be aborted.
   */
  hangUp (): void {
    this.#socket?.destroy(new Error('hung up'))
  }
}

/** Watches undici's requests from now on. The host's own are on the same channels, and are let be. */
export function watchKeptSockets (): KeptSockets {
  const passages = new WeakMap<object, Passage>()
  const known = new WeakMap<Socket, Traffic>()
  let following: Passage | undefined

  const onCreate = (message: unknown): void => {
    if (following !== undefined) passages.set((message as { request: object }).request, following)
  }
  const onSend = (message: unknown): void => {
    const { request, socket } = message as { request: object, socket: Socket }
    const passage = passages.get(request)
    if (passage === undefined) return
    const traffic = known.get(socket)
    if (traffic === undefined) known.set(socket, countReads(socket))
    passage.begin(socket, traffic)
  }
  subscribe('undici:request:create', onCreate)
  subscribe('undici:client:sendHeaders', onSend)

  return {
    follow (makeRequest) {
      const passage = new Passage()
      following = passage
      try {
        makeRequest()
      } finally {
        following = undefined
      }
      return passage
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
