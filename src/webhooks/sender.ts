import { Agent, type Dispatcher, request } from 'undici'
import type { AttemptError } from '../ports/index.js'
import { Refusal } from '../refusal.js'
import { BlockedAddressError, createGuardedConnector } from './connector.js'
import { type TargetRules, parseTargetUrl } from './destination.js'
import { type KeptSockets, watchKeptSockets } from './kept-sockets.js'
import { createResolver } from './resolver.js'

export interface SendRequest {
  url: string
  /** The signature's; those of the content are added. */
  headers: Record<string, string>
  body: string
  /** The deadline of the whole attempt, from the lookup of the name to the end of the answer. */
  timeoutMs: number
}

export interface SendResult {
  /** `null` if no answer came. */
  responseStatus: number | null
  /** `null` for a 2xx; `aborted` if `abort` ended it, which says nothing about the endpoint. */
  error: AttemptError | 'aborted' | null
  durationMs: number
  /** The `Retry-After` header as it came. */
  retryAfter?: string
}

export interface Sender {
  /** Makes one request. Never rejects: every way it can end is a result. */
  send (request: SendRequest): Promise<SendResult>
  /** Ends the requests in flight. */
  abort (): void
  /** Closes all connections; call it when nothing is in flight. */
  close (): Promise<void>
}

const contentHeaders = { 'content-type': 'application/json', 'user-agent': 'fastify-recruiting-api' }
const maxAnswerBytes = 4096
const maxLookupMs = 2000
const maxStaleMs = 1000
const kDeadline = Symbol('deadline')
const kAborted = Symbol('aborted')

/** `timeoutMs` is the longest deadline that requests will have. */
export function createSender (rules: TargetRules, timeoutMs: number): Sender {
  const resolver = createResolver(Math.min(maxLookupMs, timeoutMs))
  const agent = new Agent({
    connect: createGuardedConnector({ isAllowed: rules.isAllowedAddress, resolver, timeoutMs }),
    keepAliveMaxTimeout: 60_000,
    // The deadline covers these, and they restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0
  })
  const sockets = watchKeptSockets()
  const inFlight = new Set<AbortController>()

  return {
    async send ({ url, headers, body, timeoutMs }) {
      const startedAt = performance.now()
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(kDeadline), timeoutMs)
      inFlight.add(controller)
      try {
        const target = parseTargetUrl(url, rules)
        const options = { headers: { ...contentHeaders, ...headers }, body, signal: controller.signal }
        return finish(await postAgainIfStale({ agent, sockets, target, options }))
      } catch (error) {
        return finish({ responseStatus: null, error: nameError(error) })
      } finally {
        clearTimeout(timer)
        inFlight.delete(controller)
      }

      function finish (result: Omit<SendResult, 'durationMs'>): SendResult {
        return { ...result, durationMs: Math.round(performance.now() - startedAt) }
      }
    },

    abort () {
      for (const controller of inFlight) controller.abort(kAborted)
    },

    async close () {
      sockets.close()
      resolver.close()
      await agent.destroy()
    }
  }
}

interface Post {
  agent: Agent
  sockets: KeptSockets
  target: URL
  options: { headers: Record<string, string>, body: string, signal: AbortSignal }
}

async function postAgainIfStale (post: Post): Promise<Omit<SendResult, 'durationMs'>> {
  const startedAt = performance.now()
  const { token, answer } = startPost(post)
  try {
    return await readAnswer(answer, post.options.signal)
  } catch (error) {
    const isStale = !post.options.signal.aborted && performance.now() - startedAt < maxStaleMs && post.sockets.isStale(token)
    if (!isStale) throw error
    return readAnswer(startPost(post).answer, post.options.signal)
  }
}

function startPost ({ agent, sockets, target, options }: Post) {
  const { token, result } = sockets.track(() => request(target, { dispatcher: agent, method: 'POST', ...options }))
  return { token, answer: result }
}

async function readAnswer (answer: Promise<Dispatcher.ResponseData>, signal: AbortSignal): Promise<Omit<SendResult, 'durationMs'>> {
  const { statusCode, headers, body } = await untilAborted(answer, signal)
  await discard(body, signal)
  const isSuccess = statusCode >= 200 && statusCode <= 299
  const retryAfter = headers['retry-after']
  return {
    responseStatus: statusCode,
    error: isSuccess ? null : 'http_status',
    ...(typeof retryAfter === 'string' ? { retryAfter } : {})
  }
}

/** undici hears an abort only once it is connected, so a stalled handshake would outlive the deadline. */
function untilAborted (answer: Promise<Dispatcher.ResponseData>, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    answer.then(resolve, reject)
  })
}

/** Reads a little, so that the connection can be used again. The status has decided; the body decides nothing. */
async function discard (body: Dispatcher.ResponseData['body'], signal: AbortSignal): Promise<void> {
  try {
    await body.dump({ limit: maxAnswerBytes, signal })
  } catch {
    // Cut off, by the endpoint or by the deadline.
  }
}

const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO|HOSTNAME_MISMATCH)/

function nameError (error: unknown): AttemptError | 'aborted' {
  if (error === kDeadline) return 'timeout'
  if (error === kAborted) return 'aborted'
  if (error instanceof BlockedAddressError || error instanceof Refusal) return 'blocked'
  const code = String((error as { code?: unknown } | null)?.code)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout'
  return tlsCode.test(code) ? 'tls' : 'connection'
}
