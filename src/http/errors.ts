import { Refusal } from '../refusal.js'

/** Every error that the API answers with. The comments are the tables of the documents: `npm run tables`. */
export const wireErrors = {
  /**
   * A parameter or the body is not valid. So are malformed JSON, another media type, a body of more than 64 KiB, text with
   * a NUL or half a surrogate pair, and numbers out of range.
   */
  bad_request: { status: 400, message: 'Validation failed for request payload' },
  /**
   * The key is missing or not valid. It is the same answer, with `WWW-Authenticate: Bearer`, whether it is malformed,
   * unknown, expired, revoked or another tenant's, or the tenant does not exist.
   */
  unauthorized: { status: 401, message: 'Missing or invalid API key' },
  /** The key lacks a scope. */
  forbidden: { status: 403, message: 'API key does not have required scope' },
  /** There is no such path, method or resource. Those of another tenant look the same. */
  not_found: { status: 404, message: 'Resource was not found' },
  /**
   * There were too many requests of the key, or too many invalid keys from its address, where the vendor limits them.
   * `Retry-After` says when to come back.
   */
  rate_limited: { status: 429, message: 'Rate limit exceeded' },
  /**
   * The service failed; its log has the cause under the `request_id`. It is safe to try again for `GET`, and for what may
   * happen twice.
   */
  internal_error: { status: 500, message: 'Unexpected server error' }
} as const

/** The code of an error that the API answers with. */
export type WireErrorCode = keyof typeof wireErrors

/** Where a request is at fault. */
export interface ErrorDetail {
  /** The part of the request. */
  in: 'path' | 'query' | 'body'
  /** The field's path, such as `event_types[0]`; empty for a whole body. */
  field: string
  /** What it must be, such as `must be <= 200`. */
  message: string
}

/**
 * Ends a request with one of the errors of the API, such as `not_found`; for the handlers of the option `routes`, too.
 * Its status and message are those of the code.
 */
export class HttpError extends Error {
  /** Decides status and message. */
  readonly code: WireErrorCode
  /** For a 400: shown with the option `errorDetails`, logged in any case. */
  readonly details: readonly ErrorDetail[]

  constructor (code: WireErrorCode, details: readonly ErrorDetail[] = []) {
    super(wireErrors[code].message)
    this.code = code
    this.details = details
  }
}

/** A 400 that tells what was wrong. */
export function badRequest (...details: ErrorDetail[]): HttpError {
  return new HttpError('bad_request', details)
}

/** The codes of what is thrown for a body that cannot be read. */
const bodyFaults: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'must be application/json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'must be at most 64 KiB',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'must have the length that its Content-Length header gives',
  ECONNRESET: 'must arrive whole'
}

/**
 * The error to answer with: a client's fault as it is, and anything else as 500. A code tells a fault of the body only
 * while the body is being read: a storage may throw an error of the same code.
 */
export function toHttpError (error: unknown, isReadingBody: boolean): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof Refusal) return badRequest({ in: 'body', field: error.field, message: error.message })
  const message = isReadingBody ? bodyFaults[String((error as { code?: unknown } | null)?.code)] : undefined
  if (message !== undefined) return badRequest({ in: 'body', field: '', message })
  return new HttpError('internal_error')
}
