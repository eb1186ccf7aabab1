import type { Dispatcher } from 'undici'
import { ProxyError } from '../ssrf/proxy.js'
import type { Connection, Connections } from './connections.js'
import { type Excerpt, startExcerpt } from './excerpt.js'

export interface Post {
  /** The target URL up to its path. */
  origin: string
  /** Path and query of the target URL. */
  path: string
  /** Names and values in turn. */
  headers: string[]
  body: string
  /** How much of the response to keep. */
  excerptBytes: number
}

/** The parts of an answer that count. */
export interface Answer {
  status: number
  retryAfter: string | undefined
  excerpt: Excerpt | null
}

/** The reason of an attempt that ended by its deadline. */
export const kTimeout = Symbol('timeout')

const maxAnswerBytes = 4096
const maxInformational = 100
const maxStaleMs = 1000

/**
 * One attempt, as undici's handler of its request, under one deadline. The status line is the answer: a body that
 * breaks off, never ends or is too long changes nothing. If the receiver closes a reused connection without an
 * answer, the request is sent again over a new connection.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #post: Post
  readonly #connections: Connections
  readonly #settle: (answer: Answer | null, fault: unknown) => void
  readonly #deadline: NodeJS.Timeout
  #isSettled = false
  #isSecond = false
  #connection: Connection
  #sentAt = 0
  #readsBefore = 0
  #answer: Answer | null = null
  #informational = 0
  #received = 0

  /** Calls `settle` once: with the answer or, if there is none, with the error or the reason given to `end`. */
  constructor (
    post: Post,
    timeoutMs: number,
    connections: Connections,
    settle: (answer: Answer | null, fault: unknown) => void
  ) {
    this.#post = post
    this.#connections = connections
    this.#connection = connections.acquire(post.origin)
    this.#settle = settle
    // Real time: the host's clock cannot bound a connection.
    this.#deadline = setTimeout(() => this.#endLate(), timeoutMs)
  }

  start (): void {
    this.#send()
  }

  /** Ends the attempt early, and closes its connection. */
  end (reason: unknown): void {
    if (this.#isSettled) return
    this.#finish(reason)
    this.#connection.close()
  }

  onRequestStart (): void {
    this.#sentAt = performance.now()
    this.#readsBefore = this.#connection.reads
  }

  onResponseStart (
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>
  ): void {
    // Informational answers come before the one that counts.
    if (status < 200) {
      if (++this.#informational > maxInformational) this.end(new Error('only informational responses arrived'))
      return
    }
    const retryAfter = headers['retry-after']
    this.#answer = {
      status,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      excerpt: startExcerpt(headers, this.#post.excerptBytes)
    }
  }

  onResponseData (_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#answer?.excerpt?.add(chunk)
    this.#received += chunk.length
    if (this.#received > maxAnswerBytes) this.end(new Error('the response is too long'))
  }

  onResponseEnd (): void {
    // undici also calls this after `end`, if the receiver closes the connection.
    if (this.#isSettled) return
    this.#connection.release()
    this.#finish(null)
  }

  onResponseError (_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return
    this.#connection.close()
    if (!this.#isStale()) return this.#finish(error)
    this.#isSecond = true
    this.#connection = this.#connections.open(this.#post.origin)
    this.#send()
  }

  #send (): void {
    const { path, headers, body } = this.#post
    // The receiver has just closed a reused connection, so the new one is not kept.
    this.#connection.client.dispatch({ path, method: 'POST', headers, body, reset: this.#isSecond }, this)
  }

  /** The silence of a proxy says nothing about the receiver. */
  #endLate (): void {
    this.end(this.#connection.isAtProxy ? new ProxyError('the proxy did not respond in time') : kTimeout)
  }

  /**
   * Whether the receiver closed a reused connection without reading the request: most often it was idle for too long.
   */
  #isStale (): boolean {
    return (
      !this.#isSecond &&
      this.#readsBefore > 0 &&
      this.#connection.reads === this.#readsBefore &&
      performance.now() - this.#sentAt < maxStaleMs
    )
  }

  #finish (fault: unknown): void {
    this.#isSettled = true
    clearTimeout(this.#deadline)
    this.#settle(this.#answer, fault)
  }
}
