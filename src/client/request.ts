/** A fault in a request, if the service returns details. */
export interface ApiErrorDetail {
  in: 'path' | 'query' | 'header' | 'body'
  /** '' for the whole body. */
  field: string
  message: string
}

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

  constructor (status: number, body: ErrorBody | null, retryAfterMs: number | null) {
    const error = body?.error
    super(error?.message ?? `The service responded with ${status}`)
    this.status = status
    this.code = error?.code ?? 'unknown'
    this.requestId = error?.request_id ?? null
    this.details = error?.details ?? []
    this.retryAfterMs = retryAfterMs
  }
}

interface ErrorBody {
  error?: { code?: string, message: string, request_id?: string, details?: ApiErrorDetail[] }
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
  /**
   * Sent as `Idempotency-Key`, for POST operations that accept it: 1 to 255 visible ASCII characters, such as a UUID.
   * @default none
   */
  idempotencyKey?: string
}

/** Encodes a path segment. Throws a `TypeError` for text that cannot be one. */
export function pathPart (value: unknown): string {
  const text = String(value)
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`expected an id, got ${JSON.stringify(text)}`)
  return encodeURIComponent(text)
}

/** A response. Its body is `null` for 204. */
interface ApiResponse {
  status: number
  body: unknown
}

const maxWaitMs = 60_000
/** Larger than any page of the API. */
const maxBytes = 32 * 1024 * 1024

/**
 * Sends a request and returns the response. Retries it after 429 and 503, when nothing was done, and after the 409 of a
 * request that is still running. After 502, 504 and a lost connection, it retries requests that are safe to repeat.
 * Throws an `ApiError` for other error responses, and the error of `fetch` without a response.
 */
export async function send (transport: Transport, request: ApiRequest, retries = 0): Promise<ApiResponse> {
  const { method = 'GET', idempotencyKey: key } = request
  const { isRepeatable = method === 'GET' || method === 'DELETE' || key !== undefined } = request
  let failure: unknown
  let retryAfterMs: number | null = null
  let isRetried: boolean
  try {
    const response = await sendOnce(transport, request)
    const { ok, status } = response
    if (ok) return { status, body: status === 204 ? null : await readJson(response) }
    // The response to the previous attempt was lost.
    if (status === 404 && method === 'DELETE' && retries > 0) return { status: 204, body: null }
    retryAfterMs = readRetryAfter(response)
    isRetried = status === 429 || status === 503 || (isRepeatable && (status === 502 || status === 504)) ||
      (status === 409 && key !== undefined && retryAfterMs !== null)
    failure = new ApiError(status, await readJson(response).catch(() => null) as ErrorBody | null, retryAfterMs)
  } catch (error) {
    // `fetch` throws a TypeError for a lost connection.
    isRetried = isRepeatable && error instanceof TypeError
    failure = error
  }
  const waitMs = retryAfterMs ?? 1000 * 2 ** retries * (0.5 + Math.random() / 2)
  if (!isRetried || retries >= transport.maxRetries || waitMs > maxWaitMs) throw failure
  await transport.sleep(waitMs, failure)
  return send(transport, request, retries + 1)
}

function sendOnce (
  { url, key: apiKey, fetch, timeoutMs }: Transport,
  { method = 'GET', path, query = {}, body, idempotencyKey: key }: ApiRequest
): Promise<Response> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' })
  }
  return fetch(`${url}${path}${search.size > 0 ? `?${search}` : ''}`, {
    method,
    headers,
    // The key is only for this service.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
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
