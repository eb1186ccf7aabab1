/** A fault in a request, if the service gives details. */
export interface ApiErrorDetail {
  in: 'path' | 'query' | 'body'
  /** '' for the whole body. */
  field: string
  message: string
}

/** A response of the API with an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status. */
  readonly status: number
  /** Such as `unauthorized`; `unknown` if the response did not come from the API, but for example from a proxy. */
  readonly code: string
  /** Names the request in the service's logs; `null` if the response did not come from the API. */
  readonly requestId: string | null
  readonly details: readonly ApiErrorDetail[]
  /** How long to wait before the next request, in milliseconds; `null` if the response does not say. */
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
  error?: { code: string, message: string, request_id: string, details?: ApiErrorDetail[] }
}

export interface Transport {
  /** Ends in the tenant's slug. */
  url: string
  key: string
  fetch: typeof fetch
  timeoutMs: number
  maxRetries: number
  sleep (ms: number): Promise<void>
}

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Such as `/candidates`. */
  path: string
  query?: object
  body?: unknown
}

const maxWaitMs = 60_000

/**
 * Sends a request and returns the response, `null` for 204. Repeats it after 429 and 503, which say that nothing was
 * done. Throws an `ApiError` for other errors, and what `fetch` throws without a response.
 */
export async function send (transport: Transport, request: ApiRequest, retries = 0): Promise<unknown> {
  const response = await sendOnce(transport, request)
  if (response.ok) return response.status === 204 ? null : await response.json()
  const retryAfterMs = readRetryAfter(response)
  const waitMs = retryAfterMs ?? 1000 * 2 ** retries
  const isBusy = response.status === 429 || response.status === 503
  if (!isBusy || retries >= transport.maxRetries || waitMs > maxWaitMs) {
    throw new ApiError(response.status, await readError(response), retryAfterMs)
  }
  await response.body?.cancel()
  await transport.sleep(waitMs)
  return send(transport, request, retries + 1)
}

function sendOnce (
  { url, key, fetch, timeoutMs }: Transport,
  { method = 'GET', path, query = {}, body }: ApiRequest
): Promise<Response> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' })
  }
  return fetch(`${url}${path}${search.size > 0 ? `?${search}` : ''}`, {
    method,
    headers,
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
}

/** Returns the milliseconds of `Retry-After`, which is in seconds or a date; `null` without it. */
function readRetryAfter ({ headers }: Response): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

async function readError (response: Response): Promise<ErrorBody | null> {
  try {
    return await response.json() as ErrorBody | null
  } catch {
    return null
  }
}
