import { type Client, createKey, createMethods, verbs } from '../../client/client.js'
import type * as client from '../../client/index.js'
import { readRetryAfter } from '../../client/request.js'
import type { PortalMessages } from '../messages.js'
import type { Session, SessionManager } from './session.js'

export type * from '../../client/index.js'
export type { DeliveryStatus, FilterValue, WebhookStatus } from '../../../core/ports/index.js'

export type Attempt = client.DeliveryWithAttempts['attempts'][number]
export type WebhookHealth = client.WebhookWithHealth['health']

/** Without the capability `bodies`, the body is `null`. */
export type DeliveryWithAttempts = Omit<client.DeliveryWithAttempts, 'body'> & { body: string | null }

/** The client's methods. They return one page or item, or the failure, and accept a signal. */
type ResultsOf<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...given: infer Given) => infer Answer
    ? (...given: [...Given, signal?: AbortSignal]) => Promise<Result<ResultOf<Answer>>>
    : ResultsOf<Methods[Name]>
}

type ResultOf<Answer> =
  Answer extends AsyncGenerator<infer Page> ? Page : Answer extends Promise<void> ? null : NonNullable<Awaited<Answer>>

/** The operations of the API that the portal uses. */
export type Api = ResultsOf<Pick<Client, 'webhooks' | 'apiKeys' | 'subscriptions' | 'listEventTypes'>>

/**
 * Creates the methods. With `isKeyed`, a POST request that changes data keeps its `Idempotency-Key` until it succeeds
 * or its outcome is unknown, so that a second click after a lost response does not do the same again.
 */
export function createApi (send: Send, isKeyed: boolean): Api {
  const keys = new Map<string, string>()
  return createMethods(async (kind, path, ...given) => {
    const signal = given.find((value) => value instanceof AbortSignal)
    const [input] = given.filter((value) => value !== signal)
    const method = verbs[kind]
    const content = method === 'GET' || method === 'DELETE' ? { query: input } : { body: input }
    const name = JSON.stringify([path, input])
    const idempotencyKey = isKeyed && (kind === 'post' || kind === 'run') ? keys.get(name) ?? createKey() : undefined
    if (idempotencyKey !== undefined) keys.set(name, idempotencyKey)
    const result = await send({ method, path, signal, idempotencyKey, ...content })
    // A repeat of an unknown outcome gets the same response.
    if (result.failure === null || result.failure.code === 'outcome_unknown') keys.delete(name)
    return kind === 'list' || result.value === null ? result : { ...result, value: result.value.data }
  })
}

/** Reads a whole list, page by page. */
export async function readAll<Row> (
  list: (query: client.PageQuery, signal: AbortSignal) => Promise<Result<client.Page<Row>>>, signal: AbortSignal
): Promise<Result<Row[]>> {
  const rows: Row[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { value, failure } = await list({ page, per_page: 200 }, signal)
    if (failure !== null) return { value: null, failure }
    rows.push(...value.data)
    pages = value.data.length === 0 ? 0 : value.meta.total_pages
  }
  return { value: rows, failure: null }
}

/** A request to a path of the tenant. */
interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** For example `/webhooks/1`. */
  path: string
  query?: object | undefined
  body?: object | undefined
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

/** Sends requests with the current session. Returns the response body, `null` for 204. */
type Send = (request: ApiRequest) => Promise<Result<{ data: unknown } | null>>

interface SentInit extends RequestInit {
  cache: 'no-store'
}

interface ClientParts {
  /** The API's prefix, with a trailing slash. */
  base: string
  sessions: Pick<SessionManager, 'current' | 'replaced' | 'confirm'>
  fetch: (url: string, init: SentInit) => Promise<Response>
}

/** Retries and replays take longer than a page of a list. */
const timeoutMs = 30_000

/**
 * Returns a function that sends requests. After a 401, it waits for the next session and retries once. Failures are
 * values: only the caller's abort rejects.
 */
export function createSend ({ base, sessions, fetch }: ClientParts): Send {
  async function sendOnce (session: Session, request: ApiRequest): ReturnType<Send> {
    const timeout = AbortSignal.timeout(timeoutMs)
    const { method, body, idempotencyKey: key, signal } = request
    try {
      const response = await fetch(urlOf(base, session, request), {
        method,
        headers: {
          authorization: `Bearer ${session.token}`,
          accept: 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer'
      })
      if (!response.ok) return { value: null, failure: await readFailure(response) }
      sessions.confirm(session)
      const value = response.status === 204 ? null : await response.json() as { data: unknown }
      return { value, failure: null }
    } catch {
      signal?.throwIfAborted()
      return { value: null, failure: noResponse(timeout.aborted ? 'timeout' : 'network') }
    }
  }

  return async (request) => {
    const session = sessions.current()
    if (session === null) return { value: null, failure: { ...noResponse('network'), code: 'unauthorized' } }
    const result = await sendOnce(session, request)
    if (result.failure?.status !== 401) return result
    const next = await sessions.replaced(session)
    request.signal?.throwIfAborted()
    return next === null ? result : await sendOnce(next, request)
  }
}

function urlOf (base: string, { tenantSlug }: Session, { path, query = {} }: ApiRequest): string {
  const search = new URLSearchParams(Object.entries(query)).toString()
  return `${base}${encodeURIComponent(tenantSlug)}${path}${search && `?${search}`}`
}

/** Why a request failed: an error code of the API, or no response. */
type FailureCode = Exclude<keyof PortalMessages['problem'], 'requestId' | 'retryIn'>

/** A failed request. */
export interface Failure {
  code: FailureCode
  /** 0 without a response. */
  status: number
  /** To quote when asking for help; `null` without a response from the API. */
  requestId: string | null
  /** When to try again, if the response says so. */
  retryAfterMs: number | null
  /** Empty unless the vendor sends them. */
  details: readonly client.ApiErrorDetail[]
}

/** A value, or the failure. */
export type Result<Value> = { value: Value, failure: null } | { value: null, failure: Failure }

/** Returns a success if the record no longer exists: someone else may have deleted it first. */
export function orGone (result: Result<null>): Result<null> {
  return result.failure?.code === 'not_found' ? { value: null, failure: null } : result
}

const byStatus: Record<number, FailureCode> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  409: 'conflict',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable'
}

/** The API's own codes, with their statuses. They are more precise than the status. */
const ownCodes: Record<string, number> = { not_found: 404, suspended: 403, outcome_unknown: 500 }

/** Reads a failed response. It can come from a proxy, with any body. */
export async function readFailure (response: Response): Promise<Failure> {
  const { error }: ErrorBody = Object(await response.json().catch(() => null))
  const { status } = response
  const retryAfterMs = readRetryAfter(response)
  // A proxy's 404 does not mean that something was deleted. With `Retry-After`, a 409 is about a request still running.
  const isOwn = typeof error?.code === 'string' && ownCodes[error.code] === status
  const isPassing = status === 404 || (status === 409 && retryAfterMs !== null)
  return {
    code: isOwn ? error.code as FailureCode : isPassing ? 'unavailable' : byStatus[status] ?? 'internal_error',
    status,
    requestId: typeof error?.request_id === 'string' ? error.request_id : response.headers.get('x-request-id'),
    retryAfterMs,
    details: Array.isArray(error?.details) ? error.details : []
  }
}

/** Returns the failure of a request without a response. */
export function noResponse (code: 'network' | 'timeout'): Failure {
  return { code, status: 0, requestId: null, retryAfterMs: null, details: [] }
}

/** Returns the API's message about a body field, for example `target_url`; `null` without one. */
export function messageFor (failure: Failure | null, field: string): string | null {
  const detail = failure?.details.find(
    (entry) =>
      entry.in === 'body' &&
      (entry.field === field || entry.field.startsWith(`${field}[`) || entry.field.startsWith(`${field}.`))
  )
  return detail?.message ?? null
}

interface ErrorBody {
  error?: { code?: unknown, request_id?: unknown, details?: client.ApiErrorDetail[] } | null
}
