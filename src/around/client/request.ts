/** A fault in a request, if the service returns details. */
export interface ApiErrorDetail {
  in: 'path' | 'query' | 'header' | 'body'
  /** '' for the whole body. */
  field: string
  message: string
}

const kBrand = Symbol.for('fastify-recruiting-api.api-error')

/** An error response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status. */
  readonly status: number
  /** Such as `unauthorized`; `unknown` if the response did not come from the API, but from a proxy, for example. */
  readonly code: string
  /** Identifies the request in the service's logs; `null` if the response did not come from the API. */
  readonly requestId: string | null
  readonly details: readonly ApiErrorDetail[]
  /** Milliseconds to wait before the next request; `null` if unknown. */
  readonly retryAfterMs: number | null
  /** The `Idempotency-Key` that was sent, if any: with it, the call can be repeated. */
  declare readonly idempotencyKey?: string
  readonly [kBrand] = true

  /** Other services can respond with any JSON. */
  constructor (status: number, body: unknown, retryAfterMs: number | null) {
    const { error } = Object(body) as { error?: unknown }
    const { code, message, request_id: requestId, details }: Record<string, unknown> = Object(error)
    super(typeof message === 'string' ? message : `The service responded with ${status}`)
    this.status = status
    this.code = typeof code === 'string' ? code : 'unknown'
    this.requestId = typeof requestId === 'string' ? requestId : null
    this.details = Array.isArray(details) ? details : []
    this.retryAfterMs = retryAfterMs
  }

  /** `instanceof` is also true for errors of another copy of this package, such as its CommonJS build. */
  static override [Symbol.hasInstance] (value: unknown): boolean {
    return typeof value === 'object' && value !== null && kBrand in value
  }
}

/** Returns the error for a response that did not come from the API, but from a proxy, for example. */
export function unexpected (status: number, message: string): ApiError {
  return new ApiError(status, { error: { message } }, null)
}

export interface Transport {
  /** Ends with the tenant's slug. */
  url: string
  key: string
  fetch: typeof fetch
  timeoutMs: number
  maxRetries: number
  sleep (ms: number, failure: unknown): Promise<void>
}

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Such as `/candidates`. */
  path: string
  query?: object
  body?: unknown
  /**
   * Whether the request is safe to repeat, so that it is retried even if it may have succeeded.
   * @default true for GET and DELETE, and with an `idempotencyKey`
   */
  isRepeatable?: boolean
  /** Sent as `Idempotency-Key`, for POST operations that accept it. @default none */
  idempotencyKey?: string | undefined
}

/** Encodes a path segment. Throws a `TypeError` for text that cannot be one. */
export function pathPart (value: unknown): string {
  const text = String(value)
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`expected an id, got ${JSON.stringify(text)}`)
  return encodeURIComponent(text)
}

/** Checks the body of a successful response. Throws an `ApiError` if it did not come from the API. */
type Check = (body: unknown, status: number) => void

const maxWaitMs = 60_000
/** Larger than any page of the API. */
const maxBytes = 32 * 1024 * 1024

/**
 * Sends a request and returns the body of the response, `null` for 204. If the API's own error says that nothing was
 * done, retries it. After 429, 502, 503 and 504 of a proxy, a lost connection and a timeout, retries requests that are
 * safe to repeat. Waits for a running request with the same key, at most as long as the timeout. Throws an `ApiError`
 * for error responses, and the error of `fetch` without a response, both with the key.
 *
 * With `isKeyOptional`, a service that does not accept the key gets the request without it.
 */
export async function send (
  transport: Transport, request: ApiRequest, check: Check = () => {}, isKeyOptional = false
): Promise<unknown> {
  const { timeoutMs, maxRetries, sleep } = transport
  const { method = 'GET', idempotencyKey: key } = request
  const { isRepeatable = method === 'GET' || method === 'DELETE' || key !== undefined } = request
  const sendOnce = prepare(transport, request, check)
  let isDoneMaybe = false
  for (let retries = 0, runningMs = 0; ;) {
    let failure: unknown
    try {
      return await sendOnce()
    } catch (error) {
      failure = error
    }
    if (key !== undefined && failure instanceof Error) Reflect.set(failure, 'idempotencyKey', key)
    const { status, code, details, retryAfterMs } = failure instanceof ApiError ? failure : noResponse
    // A previous attempt has deleted it, but its response was lost.
    if (code === 'not_found' && method === 'DELETE' && isDoneMaybe) return null
    const isFirst = retries === 0 && runningMs === 0
    if (code === 'bad_request' && isKeyOptional && isFirst && details.every((detail) => detail.in === 'header')) {
      return send(transport, { ...request, idempotencyKey: undefined }, check)
    }
    const isRunning = status === 409 && key !== undefined && retryAfterMs !== null
    const isDoneNever = code === 'rate_limited' || code === 'unavailable'
    const isLost = failure instanceof ApiError ? [429, 502, 503, 504].includes(status) : !isAborted(failure)
    const waitMs = isRunning
      ? Math.max(1000, retryAfterMs)
      : retryAfterMs ?? 1000 * 2 ** retries * (0.5 + Math.random() / 2)
    if (isRunning) {
      runningMs += waitMs
      if (runningMs > timeoutMs) throw failure
    } else {
      if (!isDoneNever && !(isRepeatable && isLost)) throw failure
      if (retries >= maxRetries || waitMs > maxWaitMs) throw failure
      isDoneMaybe ||= !isDoneNever
      retries++
    }
    await sleep(waitMs, failure)
  }
}

const noResponse = { status: 0, code: '', details: [], retryAfterMs: null }

/** Runtimes throw different errors for a lost connection. Only the caller's own `fetch` can abort. */
function isAborted (failure: unknown): boolean {
  return failure instanceof Error && failure.name === 'AbortError'
}

/** Returns a function that sends the request once. Throws if `fetch` would not accept it. */
function prepare (
  { url, key: apiKey, fetch, timeoutMs }: Transport,
  { method = 'GET', path, query = {}, body, idempotencyKey: key }: ApiRequest,
  check: Check
): () => Promise<unknown> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const init: RequestInit = {
    method,
    headers: new Headers({
      authorization: `Bearer ${apiKey}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' })
    }),
    // The key is only for this service.
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }
  const address = `${url}${path}${search.size > 0 ? `?${search}` : ''}`
  return async () => {
    const response = await fetch(address, { ...init, signal: AbortSignal.timeout(timeoutMs) })
    const { ok, status } = response
    if (!ok) throw new ApiError(status, await readJson(response).catch(() => null), readRetryAfter(response))
    const content = status === 204 ? null : await readJson(response)
    check(content, status)
    return content
  }
}

/** Returns `Retry-After` in milliseconds, from seconds or a date; `null` without it. */
export function readRetryAfter ({ headers }: Response): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  // `Date.parse` also reads -1 and 1.5 as dates.
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]+, /.test(text)
      ? Date.parse(text) - Date.now()
      : NaN
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

async function readJson ({ status, body }: Response): Promise<unknown> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  const reader = body?.getReader()
  for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read()) {
    length += chunk.value.length
    if (length > maxBytes) {
      await reader?.cancel()
      throw unexpected(status, `The response has more than ${maxBytes} bytes`)
    }
    text += decoder.decode(chunk.value, { stream: true })
  }
  try {
    return JSON.parse(text + decoder.decode())
  } catch {
    throw unexpected(status, 'The response is not JSON')
  }
}
