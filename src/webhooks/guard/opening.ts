import type { Socket } from 'node:net'

/** A connection while it is being opened. undici would leave the socket to its timeout if nobody needs it any more. */
export class Opening {
  /** Whether the proxy has been asked for a tunnel and has not opened it yet. */
  isAtProxy = false
  #isClosed = false
  #socket: Socket | null = null

  /** Names the socket that `close` destroys; `null` once it is in use. */
  hold (socket: Socket | null): void {
    this.#socket = socket
    if (this.#isClosed) this.close()
  }

  close (): void {
    this.#isClosed = true
    this.#socket?.destroy(new Error('closed'))
  }
}
