import { Socket } from 'node:net'
import type { buildConnector } from 'undici'

/** Opens a socket to a receiver through `opening`, which ends it if nobody needs it any more. */
export type Connect = (target: buildConnector.Options, callback: buildConnector.Callback, opening: Opening) => void

/** A connection while it is being opened. undici would leave the socket to its timeout if nobody needs it any more. */
export class Opening {
  /** Whether the proxy has been asked for a tunnel and has not opened it yet. */
  isAtProxy = false
  #isClosed = false
  #socket: Socket | null = null

  /** Starts a connection that `close` ends. */
  start (connect: buildConnector.connector, target: buildConnector.Options, callback: buildConnector.Callback): void {
    const started: unknown = connect(target, callback)
    // undici returns the socket, but its types do not say so.
    if (started instanceof Socket) this.#socket = started
    if (this.#isClosed) this.close()
  }

  /** Leaves the socket to its user. */
  finish (): void {
    this.#socket = null
  }

  close (): void {
    this.#isClosed = true
    this.#socket?.destroy(new Error('closed'))
  }
}
