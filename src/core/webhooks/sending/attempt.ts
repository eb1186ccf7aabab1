import type { Socket } from 'node:net'
import { TextDecoder } from 'node:util'
import { type Dispatcher, Client } from 'undici'
import { startDeadline } from '../../shared/clock.js'
import { type Connect, PendingConnection } from '../ssrf/connector.js'
import { noDescriptor } from '../ssrf/network.js'
import { InformationalResponses } from './informational.js'

export interface Post {
  tenantId: string
  /** The target URL up to its path. */
  origin: string
  /** Path and query of the target URL. */
  path: string
  /** Names and values in turn. */
  headers: string[]
  body: string
  /** How many bytes of the response to keep. */
  excerptBytes: number
}

/** What a receiver asks for: no more events, or not this one again. */
export type Control = 'disable' | 'abort'

/** The values of the response header `webhook-delivery`. */
const controls = new Map<string, Control>([['disable', 'disable'], ['abort', 'abort'], ['abort-message', 'abort']])

export interface Answer {
  status: number
  retryAfter: string | undefined
  control: Control | undefined
  excerpt: ReturnType<typeof startExcerpt>
}

/**
 * Takes the answer or, without one, the error or the reason passed to `end`, and whether the receiver asked for a
 * client certificate and sent nothing since.
 */
type Settle = (answer: Answer | null, fault: unknown, isCertificateWanted: boolean) => void

export const kTimeout = Symbol('timeout')

const maxAnswerBytes = 4096
const maxStaleMs = 1000
const maxBodyMs = 500
const maxIdle = 256

/** Idle connections by origin. The one that was released last is the last of its origin. */
type Pool = Map<string, Connection[]>

/** The idle connections of all senders of the process. The one that has been idle longest comes first. */
const idleConnections = new Set<Connection>()

/**
 * One attempt: undici's handler of its request, with one deadline for lookup, connection, TLS and response. It has its
 * own timer, because undici's `bodyTimeout` restarts with every byte, and an abort signal has no effect before the
 * connection is open. The head of the response decides: a body that breaks off, never ends or is too long changes
 * nothing. The body has 500 ms to end, for the excerpt and to keep the connection. If the receiver closes a reused
 * connection without a response, as with about 2 % of posts, the request is sent again over a new connection.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #post: Post
  readonly #connections: Connections
  readonly #settle: Settle
  readonly #cancelDeadline: () => void
  #cancelBodyDeadline = (): void => {}
  #isSettled = false
  #isSecond = false
  #connection: Connection
  #sentAt = 0
  #readsBefore = 0
  #answer: Answer | null = null
  #received = 0

  /** Calls `settle` once. */
  constructor (post: Post, timeoutMs: number, connections: Connections, settle: Settle) {
    this.#post = post
    this.#connections = connections
    this.#connection = connections.acquire(post)
    this.#settle = settle
    // Real time: the host's clock cannot bound a connection.
    this.#cancelDeadline = startDeadline(() => this.#endLate(), timeoutMs)
  }

  start (): void {
    this.#send()
  }

  end (reason: unknown): void {
    if (this.#isSettled) return
    this.#finish(reason)
    this.#connection.close()
  }

  onRequestStart (): void {
    this.#sentAt = performance.now()
    this.#readsBefore = this.#connection.reads
    this.#connection.informational.expect()
  }

  onResponseStart (_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // undici passes on a 099, then closes the connection.
    if (status < 200) return
    const { 'retry-after': retryAfter, 'webhook-delivery': control } = headers
    this.#answer = {
      status,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      control: control === undefined ? undefined : controls.get(String(control).toLowerCase()),
      excerpt: startExcerpt(headers, this.#post.excerptBytes)
    }
    // Most bodies arrive with the head, and need no timer.
    queueMicrotask(() => this.#limitBody())
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
    this.#connection = this.#connections.open(this.#post)
    this.#send()
  }

  #send (): void {
    const { path, headers, body } = this.#post
    // The receiver has just closed a reused connection, so the new one is not kept.
    this.#connection.client.dispatch({ path, method: 'POST', headers, body, reset: this.#isSecond }, this)
  }

  #limitBody (): void {
    if (!this.#isSettled) this.#cancelBodyDeadline = startDeadline(() => this.end(kTimeout), maxBodyMs)
  }

  #endLate (): void {
    this.end(this.#connection.faultIfLate() ?? kTimeout)
  }

  /** Whether the receiver closed a connection that was idle too long, without reading the request. */
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
    this.#cancelDeadline()
    this.#cancelBodyDeadline()
    this.#settle(this.#answer, fault, this.#connection.isCertificateWanted())
  }
}

/** A connection to a receiver. It carries one request at a time. */
interface Connection {
  readonly client: Client
  /** How often data was read from its socket. */
  reads: number
  readonly informational: InformationalResponses
  /** Returns the error of an attempt whose deadline passes now; `null` for a timeout. */
  faultIfLate (): Error | null
  /** Whether the receiver asked for a client certificate and has not sent anything since. */
  isCertificateWanted (): boolean
  /** Keeps it for the next request to the same origin. */
  release (): void
  close (): void
  /** Resolves when `close` has ended. */
  closed: Promise<void>
}

export type Connections = ReturnType<typeof createConnections>

/** Connections to receivers, kept open between requests. */
export function createConnections (connect: Connect, options: Client.Options) {
  const idle: Pool = new Map()
  const connections = new Set<Connection>()
  let isClosed = false

  function open ({ origin, tenantId }: Pick<Post, 'origin' | 'tenantId'>): Connection {
    let socket: Socket | null = null
    const pending = new PendingConnection(tenantId)
    const client = new Client(origin, {
      ...options,
      connect: (target, callback) => connectWithDescriptor(connect, target, (...result) => {
        socket = result[1]
        connection.reads = 0
        socket?.on('readable', beforeRead)
        callback(...result)
      }, pending)
    })
    const connection = {
      client,
      reads: 0,
      informational: new InformationalResponses(),
      closed: Promise.resolve(),
      faultIfLate: () => pending.faultIfLate(),
      isCertificateWanted: () => pending.isCertificateWanted && connection.reads === 0,
      release () {
        if (socket === null || socket.destroyed) {
          connection.close()
          return
        }
        const kept = idle.get(origin)
        if (kept === undefined) idle.set(origin, [connection])
        else kept.push(connection)
        idleConnections.add(connection)
        if (idleConnections.size > maxIdle) closeOldest()
      },
      close () {
        forget()
        connections.delete(connection)
        connection.closed = client.destroy().catch(() => {})
        pending.close()
      }
    }
    // Not `bytesRead`: over TLS it includes the alert that closes the connection.
    function beforeRead (this: Socket): void {
      if (this.readableLength > 0) connection.reads++
      connection.informational.skip(this)
    }
    function forget (): boolean {
      if (!idleConnections.delete(connection)) return false
      const kept = idle.get(origin) ?? []
      kept.splice(kept.indexOf(connection), 1)
      if (kept.length === 0) idle.delete(origin)
      return true
    }
    client.on('disconnect', () => {
      if (forget()) connection.close()
    })
    if (isClosed) connection.close()
    else connections.add(connection)
    return connection
  }

  return {
    open,
    /** Returns an idle connection to the origin, or a new one. */
    acquire (post: Pick<Post, 'origin' | 'tenantId'>): Connection {
      const { origin } = post
      const kept = idle.get(origin)
      const connection = kept?.pop()
      if (connection === undefined) return open(post)
      if (kept?.length === 0) idle.delete(origin)
      idleConnections.delete(connection)
      return connection
    },
    async close (): Promise<void> {
      isClosed = true
      await Promise.all([...connections].map((connection) => {
        connection.close()
        return connection.closed
      }))
    }
  }
}

/** Closes the connection of the process that has been idle longest, and returns it. */
function closeOldest (): Connection | undefined {
  const [oldest] = idleConnections
  oldest?.close()
  return oldest
}

/** Connects. If the process has no descriptor left, closes an idle connection and tries again once. */
function connectWithDescriptor (...[connect, target, callback, pending]: [Connect, ...Parameters<Connect>]): void {
  connect(target, (...result) => {
    const [error]: [NodeJS.ErrnoException | null, unknown] = result
    const closing = noDescriptor.has(error?.code ?? '') ? closeOldest()?.closed : undefined
    if (closing === undefined) callback(...result)
    else closing.then(() => connect(target, callback, pending)).catch((err) => callback(err, null))
  }, pending)
}

type Headers = Record<string, string | string[] | undefined>

const textual = /^(text\/[^;]+|application\/([^;]+\+)?(json|xml)|application\/x-www-form-urlencoded)\s*(;|$)/i

/** Collects the first `maxBytes` of a response; `null` unless it is uncompressed text. */
function startExcerpt (headers: Headers, maxBytes: number) {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  if (maxBytes === 0 || encoding !== 'identity' || typeof type !== 'string') return null
  const decoder = createDecoder(type)
  if (decoder === null) return null
  const chunks: Buffer[] = []
  let left = maxBytes
  return {
    add (chunk: Buffer): void {
      const kept = Buffer.from(chunk.subarray(0, left))
      left -= kept.length
      chunks.push(kept)
    },
    /** Returns the text so far, without an incomplete last character; `undefined` if there is none. */
    read (): string | undefined {
      const text = decode(decoder, Buffer.concat(chunks))
      return text === '' ? undefined : text
    }
  }
}

/** Without a type, the response is text if it is valid UTF-8. */
function createDecoder (type: string): TextDecoder | null {
  if (type === '') return new TextDecoder('utf-8', { fatal: true })
  if (!textual.test(type)) return null
  const charset = /;\s*charset=\s*"?([^\s";]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset)
  } catch {
    return null
  }
}

/** PostgreSQL stores neither NUL nor halves of surrogate pairs. */
function decode (decoder: TextDecoder, bytes: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: true }).toWellFormed().replaceAll('\0', '\uFFFD')
  } catch {
    return ''
  }
}
