import type { Dispatcher } from 'undici'
import type { KeptSockets, Passage } from './kept-sockets.js'

/** What is posted, and where to. */
export interface Post {
  /** The target URL up to its path. */
  origin: string
  /** Path and query of the target URL. */
  path: string
  /** Names and values in turn. */
  headers: string[]
  body: string
}

/** How posts go out. */
export interface Connections {
  /** Uses sockets again. */
  keeping: Dispatcher
  /** Uses no socket twice. */
  fresh: Dispatcher
  sockets: KeptSockets
}

/** What of an answer counts. */
export interface Answer {
  status: number
  retryAfter: string | undefined
}

/** The reason of an attempt that ended by its deadline. */
export const kTimeout = Symbol('timeout')

const maxAnswerBytes = 4096
const maxInformational = 100
const maxStaleMs = 1000

/**
 * One attempt, as undici's handler of it, under one deadline over all that it does. What the status line said is the
 * answer: a body that breaks off, never ends or is too long changes nothing. A socket that the receiver had just closed
 * is no failure of the receiver's: one more post, over a fresh one.
 *
 * It is one object, and not a closure for each event, for one is made with every delivery.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #post: Post
  readonly #connections: Connections
  readonly #settle: (answer: Answer | null, fault: unknown) => void
  readonly #deadline: NodeJS.Timeout
  #isSettled = false
  #isSecond = false
  #postedAt = 0
  #passage: Passage | undefined
  #controller: Dispatcher.DispatchController | undefined
  #answer: Answer | null = null
  #informational = 0
  #received = 0

  /** `settle` is called once, with the answer or, if there was none, with what went wrong or the reason it was ended. */
  constructor (post: Post, timeoutMs: number, connections: Connections, settle: (answer: Answer | null, fault: unknown) => void) {
    this.#post = post
    this.#connections = connections
    this.#settle = settle
    // In real time: what it bounds is not up to the clock of the host.
    this.#deadline = setTimeout(endAttempt, timeoutMs, this)
  }

  start (): void {
    this.#send(this.#connections.keeping)
  }

  /** Ends it before its time. undici hears of an abort only once it is connected, so nothing waits for that. */
  end (reason: unknown): void {
    if (this.#isSettled) return
    this.#finish(reason)
    this.#passage?.hangUp()
    this.#controller?.abort(new Error('cut off'))
  }

  onRequestStart (controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isSettled) controller.abort(new Error('too late'))
  }

  onResponseStart (_controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    // Informational answers come before the one that counts.
    if (status < 200) {
      if (++this.#informational > maxInformational) this.end(new Error('no answer but informational ones'))
      return
    }
    const retryAfter = headers['retry-after']
    this.#answer = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined }
  }

  onResponseData (_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#received > maxAnswerBytes) this.end(new Error('the answer is too long'))
  }

  onResponseEnd (): void {
    this.#finish(null)
  }

  onResponseError (_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isStale()) {
      this.#isSecond = true
      this.#send(this.#connections.fresh)
    } else {
      this.#finish(error)
    }
  }

  #send (dispatcher: Dispatcher): void {
    const { origin, path, headers, body } = this.#post
    this.#postedAt = performance.now()
    this.#controller = undefined
    try {
      this.#passage = this.#connections.sockets.follow(() => {
        dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, this)
      })
    } catch (error) {
      this.#finish(error)
    }
  }

  #isStale (): boolean {
    return !this.#isSettled && !this.#isSecond && this.#answer === null &&
      performance.now() - this.#postedAt < maxStaleMs && this.#passage?.isUnanswered === true
  }

  #finish (fault: unknown): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#deadline)
    this.#settle(this.#answer, fault)
  }
}

function endAttempt (attempt: Attempt): void {
  attempt.end(kTimeout)
}
