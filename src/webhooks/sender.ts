import { Agent } from 'undici'
import type { AttemptError } from '../ports/index.js'
import { Refusal } from '../refusal.js'
import { BlockedAddressError, createGuardedConnector } from './connector.js'
import { type Deadline, createDeadline, kTimeout } from './deadline.js'
import { type TargetRules, parseTargetUrl } from './destination.js'
import { watchKeptSockets } from './kept-sockets.js'
import { type Answer, type PostRequest, post } from './post.js'
import { createResolver } from './resolver.js'

/** One post to an endpoint. */
export interface SendRequest {
  /** Absolute. What the rules for targets do not allow, now rather than when it was stored, ends as `blocked`. */
  url: string
  /** The signature's; those of the content are added. */
  headers: Record<string, string>
  /** Sent byte for byte, as it was signed. */
  body: string
  /** The deadline of the whole attempt, from the lookup of the name to the end of the answer. */
  timeoutMs: number
}

/** How a request ended. */
export interface SendResult {
  /** `null` if no answer came. */
  responseStatus: number | null
  /** `null` for a 2xx; `aborted` if `abort` ended it, which says nothing about the endpoint. */
  error: AttemptError | 'aborted' | null
  /** From the call of `send` to the end, a second post after a stale socket included. */
  durationMs: number
  /** The `Retry-After` header as it came. */
  retryAfter?: string
}

/** Makes requests to endpoints, over connections that are kept for the next ones. */
export interface Sender {
  /** Makes one request. Never rejects: every way it can end is a result. */
  send (request: SendRequest): Promise<SendResult>
  /** Ends the requests in flight. */
  abort (): void
  /** Closes all connections; call it when nothing is in flight. */
  close (): Promise<void>
}

const contentHeaders = { 'content-type': 'application/json', 'user-agent': 'fastify-recruiting-api' }
const maxHeaderBytes = 16_384
const maxStaleMs = 1000
const maxTargets = 1000
const kAborted = Symbol('aborted')

/** `timeoutMs` is the longest deadline that requests will have. */
export function createSender (rules: TargetRules, timeoutMs: number): Sender {
  const resolver = createResolver({ timeoutMs, hasPrivateNames: rules.allowPrivateNames })
  const connector = createGuardedConnector({ isAllowed: rules.isAllowedAddress, resolver, timeoutMs })
  const options = {
    connect: connector.connect,
    maxHeaderSize: maxHeaderBytes,
    keepAliveMaxTimeout: 60_000,
    // The deadline covers these, and they restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0
  }
  const keeping = new Agent(options)
  // Uses no socket twice.
  const fresh = new Agent({ ...options, pipelining: 0 })
  const sockets = watchKeptSockets()
  const inFlight = new Set<Deadline>()
  const readTarget = rememberTargets((url) => parseTargetUrl(url, rules))

  function track (dispatcher: Agent, request: Omit<PostRequest, 'hangUp'>, deadline: Deadline) {
    const tracked = sockets.track(() => post(dispatcher, { ...request, hangUp: () => sockets.hangUp(tracked.token) }, deadline))
    return tracked
  }

  /** A socket that the receiver had just closed is no failure of the receiver's: one more post, over a fresh one. */
  async function postAgainIfStale (request: Omit<PostRequest, 'hangUp'>, deadline: Deadline): Promise<Answer> {
    const startedAt = performance.now()
    const { token, result } = track(keeping, request, deadline)
    try {
      return await result
    } catch (error) {
      const isStale = deadline.reason === null && performance.now() - startedAt < maxStaleMs && sockets.isStale(token)
      if (!isStale) throw error
      return track(fresh, request, deadline).result
    }
  }

  async function attempt ({ url, headers, body }: SendRequest, deadline: Deadline): Promise<Omit<SendResult, 'durationMs'>> {
    try {
      const request = { url: readTarget(url), headers: { ...contentHeaders, ...headers }, body }
      const { status, retryAfter } = await postAgainIfStale(request, deadline)
      const error = status <= 299 ? null : 'http_status'
      return { responseStatus: status, error, ...(retryAfter === undefined ? {} : { retryAfter }) }
    } catch (error) {
      return { responseStatus: null, error: nameError(error) }
    }
  }

  return {
    async send (request) {
      const startedAt = performance.now()
      const deadline = createDeadline(request.timeoutMs)
      inFlight.add(deadline)
      const result = await attempt(request, deadline)
      inFlight.delete(deadline)
      deadline.clear()
      return { ...result, durationMs: Math.round(performance.now() - startedAt) }
    },

    abort () {
      for (const deadline of inFlight) deadline.end(kAborted)
    },

    async close () {
      sockets.close()
      resolver.close()
      connector.close()
      await Promise.all([keeping.destroy(), fresh.destroy()])
    }
  }
}

/** An endpoint is posted to again and again, and what the rules say of its URL does not change. */
function rememberTargets (parse: (url: string) => URL): (url: string) => URL {
  const known = new Map<string, URL>()
  return (url) => {
    const target = known.get(url) ?? parse(url)
    if (known.size >= maxTargets) known.clear()
    known.set(url, target)
    return target
  }
}

/** Node's codes, and OpenSSL's for what is wrong with a certificate. */
const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|SELF_SIGNED|DEPTH_ZERO|INVALID_|PATH_LENGTH|HOSTNAME_|EPROTO|UNSPECIFIED)/

/** Of undici's connection, a name server and the system's connection. */
const timeoutCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEOUT', 'ETIMEDOUT'])

function nameError (error: unknown): AttemptError | 'aborted' {
  if (error === kTimeout) return 'timeout'
  if (error === kAborted) return 'aborted'
  if (error instanceof BlockedAddressError || error instanceof Refusal) return 'blocked'
  const code = String((error as { code?: unknown } | null)?.code)
  if (timeoutCodes.has(code)) return 'timeout'
  return tlsCode.test(code) ? 'tls' : 'connection'
}
