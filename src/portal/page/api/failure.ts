/** Why a request failed: a code of the API, or that there was no answer. */
export type FailureCode = 'bad_request' | 'unauthorized' | 'forbidden' | 'not_found' | 'conflict' | 'rate_limited' | 'unavailable' | 'internal_error' | 'network' | 'timeout'

/** Something wrong with what was sent. */
export interface FailureDetail {
  in: 'path' | 'query' | 'body'
  /** For example `event_types[0]`. */
  field: string
  message: string
}

/** A failed request. */
export interface Failure {
  code: FailureCode
  /** 0 without an answer. */
  status: number
  /** To quote when asking for help; `null` without an answer of the API. */
  requestId: string | null
  /** When to try again, if the answer says so. */
  retryAfterMs: number | null
  /** Empty unless the vendor sends them. */
  details: readonly FailureDetail[]
}

/** A value, or why there is none. */
export type Result<Value> = { value: Value, failure: null } | { value: null, failure: Failure }

const byStatus: Record<number, FailureCode> = {
  400: 'bad_request', 401: 'unauthorized', 403: 'forbidden', 404: 'not_found', 409: 'conflict', 429: 'rate_limited', 502: 'unavailable', 503: 'unavailable', 504: 'unavailable'
}

/** Reads a failed answer. Proxies may answer in place of the API, with anything as body. */
export async function readFailure (response: Response, now: number): Promise<Failure> {
  const { error } = await readBody(response)
  return {
    code: byStatus[response.status] ?? 'internal_error',
    status: response.status,
    requestId: typeof error?.request_id === 'string' ? error.request_id : response.headers.get('x-request-id'),
    retryAfterMs: readRetryAfter(response.headers.get('retry-after'), now),
    details: Array.isArray(error?.details) ? error.details : []
  }
}

/** Describes a request that got no answer. */
export function noAnswer (code: 'network' | 'timeout'): Failure {
  return { code, status: 0, requestId: null, retryAfterMs: null, details: [] }
}

/** Finds what a failure says about a field of the body, for example `target_url`; `null` if nothing. */
export function messageFor (failure: Failure | null, field: string): string | null {
  const detail = failure?.details.find((entry) => entry.in === 'body' && (entry.field === field || entry.field.startsWith(`${field}[`)))
  return detail?.message ?? null
}

interface ErrorBody {
  error?: { request_id?: unknown, details?: FailureDetail[] } | null
}

async function readBody (response: Response): Promise<ErrorBody> {
  try {
    const body = await response.json() as ErrorBody | null
    return body ?? {}
  } catch {
    return {}
  }
}

function readRetryAfter (text: string | null, now: number): number | null {
  if (text === null) return null
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}
