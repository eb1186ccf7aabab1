import { expect } from '../shared/expect.js'
import { toLoggableError } from '../observe/loggable-error.js'
import { readField } from '../shared/read-field.js'
import { Refusal } from '../errors.js'

/** Every error that the API answers with. The comments are a table in docs/contract.md: `npm run tables`. */
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
  /** Somebody else has changed the resource. Only operations that the vendor has added answer it. */
  conflict: { status: 409, message: 'The resource was changed by another request' },
  /**
   * There were too many requests of the key, or too many invalid keys from its address, where the vendor limits them.
   * `Retry-After` says when to come back.
   */
  rate_limited: { status: 429, message: 'Rate limit exceeded' },
  /**
   * The service failed; its log has the cause under the `request_id`. It is safe to try again for `GET`, and for what may
   * happen twice.
   */
  internal_error: { status: 500, message: 'Unexpected server error' },
  /** The service takes no requests for now. `Retry-After`, if there is one, says when to come back. */
  unavailable: { status: 503, message: 'Service is temporarily unavailable' }
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

const kBrand = Symbol.for('fastify-recruiting-api.http-error')

/**
 * Ends a request with one of the errors of the API, such as `not_found`; for the handlers of the option `routes`, too.
 * The code decides status and message. Throws `invalid_option` for an unknown code.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  /** Decides status and message. */
  readonly code: WireErrorCode
  /** For a 400: shown with the option `errorDetails`, logged in any case. */
  readonly details: readonly ErrorDetail[]
  readonly [kBrand] = true

  constructor (code: WireErrorCode, details: readonly ErrorDetail[] = [], options?: ErrorOptions) {
    super(messageOf(code), options)
    this.code = code
    this.details = details
  }
}

function messageOf (code: WireErrorCode): string {
  expect(Object.hasOwn(wireErrors, code), 'code', `one of ${Object.keys(wireErrors).join(', ')}`, code)
  return wireErrors[code].message
}

/** A 400 that tells what was wrong. */
export function badRequest (...details: ErrorDetail[]): HttpError {
  return new HttpError('bad_request', details)
}

/**
 * Returns an `HttpError` as it is, also one of another copy of this package, and `null` for anything else. The details
 * are copied as text, because plain JavaScript may give any.
 */
export function readHttpError (thrown: unknown): Required<Pick<HttpError, 'code' | 'details' | 'cause'>> | null {
  if (readField(thrown, kBrand) !== true) return null
  try {
    const { code, details, cause } = thrown as HttpError
    if (!Object.hasOwn(wireErrors, code)) return null
    return { code, cause, details: details.map(copyDetail) }
  } catch {
    return null
  }
}

function copyDetail ({ in: place, field, message }: ErrorDetail): ErrorDetail {
  return { in: String(place) as ErrorDetail['in'], field: String(field), message: String(message) }
}

/** The error to answer with for what our own code, a port or a handler has thrown: unless it is meant for the client, a 500. */
export function toHttpError (thrown: unknown): HttpError {
  if (readHttpError(thrown) !== null) return thrown as HttpError
  if (isRefusal(thrown)) return badRequest({ in: 'body', field: thrown.field, message: thrown.message })
  return toInternalError(thrown)
}

/** A 500 with the cause for the log. */
export function toInternalError (thrown: unknown): HttpError {
  return new HttpError('internal_error', [], { cause: toLoggableError(thrown) })
}

function isRefusal (thrown: unknown): thrown is Refusal {
  try {
    return thrown instanceof Refusal
  } catch {
    return false
  }
}
