import { assertOption } from '../shared/read-options.js'
import { toLoggableError } from '../observe/logger.js'
import { readField } from '../shared/fields.js'
import { InputError, isRecruitingApiError, type RecruitingApiErrorCode } from '../shared/errors.js'

/** All errors of the API. `npm run tables` writes the comments into a table of docs/contract.md. */
export const wireErrors = {
  /**
   * A parameter or the body is invalid. This includes malformed JSON, other media types, bodies over 64 KiB or nested
   * more than 100 levels deep, text with NUL or a lone surrogate, and numbers out of range.
   */
  bad_request: { status: 400, message: 'Validation failed for request payload' },
  /**
   * The key is missing or invalid. The response, with `WWW-Authenticate: Bearer`, is the same for a malformed, unknown,
   * expired or revoked key, for another tenant's key, for a key that is not allowed from the caller's address, and for
   * a tenant that does not exist.
   */
  unauthorized: { status: 401, message: 'Missing or invalid API key' },
  /** The key lacks a scope, or was replaced and creates or rotates a key. */
  forbidden: { status: 403, message: 'API key does not have required scope' },
  /** The vendor has suspended the tenant. Once it is resumed, the same key works again, and no event is missing. */
  suspended: { status: 403, message: 'The tenant is suspended' },
  /** The path, method or resource does not exist, or the resource belongs to another tenant. */
  not_found: { status: 404, message: 'Resource was not found' },
  /**
   * The same request, with this `Idempotency-Key`, is still running: retry after the time in `Retry-After`. The
   * vendor's own operations also return this if another request has changed the resource.
   */
  conflict: { status: 409, message: 'The request conflicts with another request' },
  /**
   * The token of a sync or of the list of events is malformed, expired, for another tenant, resource or filter, or from
   * a restored database.
   */
  sync_token_expired: { status: 410, message: 'Sync token is no longer valid' },
  /**
   * The key sent too many requests, or its address too many invalid keys, if the vendor limits them; or the tenant has
   * used too many `Idempotency-Key`s. Retry after the time in `Retry-After`, if present.
   */
  rate_limited: { status: 429, message: 'Rate limit exceeded' },
  /**
   * The service failed; its log contains the cause with the `request_id`. It is safe to retry `GET`, requests with an
   * `Idempotency-Key` and others that are harmless to repeat.
   */
  internal_error: { status: 500, message: 'Unexpected server error' },
  /**
   * The first request with this `Idempotency-Key` failed in a way that leaves open whether it took effect. It is never
   * processed again: check the resource, then send a request with a new key if it is needed.
   */
  outcome_unknown: { status: 500, message: 'The outcome of the first request with this Idempotency-Key is unknown' },
  /**
   * The service cannot process the request now, because it is overloaded or the tenant's other requests use its share.
   * Nothing has changed. Retry after the time in `Retry-After`, if present.
   */
  unavailable: { status: 503, message: 'Service is temporarily unavailable' }
} as const

/** The code of an error of the API. */
export type WireErrorCode = keyof typeof wireErrors

/** A fault in a request. */
export interface ErrorDetail {
  /** The part of the request with the fault. */
  in: 'path' | 'query' | 'header' | 'body'
  /** Path of the field, such as `event_types[0]`; empty for the whole body. */
  field: string
  /** The violated rule, such as `must be <= 200`. */
  message: string
}

const kBrand = Symbol.for('fastify-recruiting-api.http-error')

/**
 * Responds to a request with one of the API's errors, such as `not_found`. Handlers of the option `routes` can throw it
 * too. The constructor throws `invalid_option` for an unknown code.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  /** Determines the status and the message. */
  readonly code: WireErrorCode
  /** The response status, so that Fastify also sends it from your own routes. */
  readonly statusCode: number
  /** Faults of a request: always logged, and sent if the option `errorDetails` is on. */
  readonly details: readonly ErrorDetail[]
  readonly [kBrand] = true

  constructor (code: WireErrorCode, details: readonly ErrorDetail[] = [], options?: ErrorOptions) {
    super(messageOf(code), options)
    this.code = code
    this.statusCode = wireErrors[code].status
    this.details = details
  }

  static override [Symbol.hasInstance] (value: unknown): boolean {
    return readField(value, kBrand) === true
  }
}

function messageOf (code: WireErrorCode): string {
  assertOption(Object.hasOwn(wireErrors, code), 'code', `one of ${Object.keys(wireErrors).join(', ')}`, code)
  return wireErrors[code].message
}

/** Throws the 410 of a token that is no longer valid. */
export function expired (): never {
  throw new HttpError('sync_token_expired')
}

export function badRequest (...details: ErrorDetail[]): HttpError {
  return new HttpError('bad_request', details)
}

/**
 * Reads an `HttpError`, even from another copy of this package; `null` for anything else. Copies the details as text,
 * because plain JavaScript can pass any value.
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

/**
 * Converts an error of our own code, a port or a handler: a 500 unless it is meant for the client. A timeout is a 503
 * if the request only reads. Otherwise it may have changed something, which a 503 would deny.
 */
export function toHttpError (thrown: unknown, isReading = false): HttpError {
  if (readHttpError(thrown) !== null) return thrown as HttpError
  if (thrown instanceof InputError) {
    return badRequest({ in: thrown.place, field: thrown.field, message: thrown.message })
  }
  if (hasCode(thrown, 'busy') || (isReading && hasCode(thrown, 'storage_timeout'))) {
    return new HttpError('unavailable', [], { cause: thrown })
  }
  // Another process removed the tenant after the key was checked.
  if (hasCode(thrown, 'tenant_resting')) return new HttpError('unauthorized')
  return toInternalError(thrown)
}

export function hasCode (thrown: unknown, code: RecruitingApiErrorCode): boolean {
  return isRecruitingApiError(thrown) && readField(thrown, 'code') === code
}

/** Codes that a key lookup and a storage may throw. */
const portCodes: readonly WireErrorCode[] = ['rate_limited', 'unavailable']

/**
 * Converts an error of a key lookup: an `HttpError` with 429 or 503 stays, a timeout and a lack of places become a 503,
 * and all others a 500. Another `HttpError` would make a fault of the host look like a fault of the request.
 */
export function toPortError (thrown: unknown): HttpError {
  const known = readHttpError(thrown)
  if (known !== null && portCodes.includes(known.code)) {
    return new HttpError(known.code, [], { cause: toLoggableError(thrown) })
  }
  const isLate = hasCode(thrown, 'busy') || hasCode(thrown, 'storage_timeout')
  return isLate ? new HttpError('unavailable', [], { cause: thrown }) : toInternalError(thrown)
}

type Methods = Record<string, (...args: unknown[]) => unknown>

/** Returns the port with methods that convert `HttpError`s this way. Other errors pass. */
export function guardPort<Port extends object> (port: Port): Port {
  const guarded: Methods = {}
  for (const name of methodNames(port)) {
    guarded[name] = async (...args) => {
      try {
        return await (port as Methods)[name]?.(...args)
      } catch (thrown) {
        throw readHttpError(thrown) === null ? thrown : toPortError(thrown)
      }
    }
  }
  return guarded as Port
}

/** Includes inherited methods, because a port can be an instance of a class. */
function methodNames (port: object): string[] {
  if (port === Object.prototype) return []
  const names = Object.getOwnPropertyNames(port).filter((name) => typeof Reflect.get(port, name) === 'function')
  return [...names, ...methodNames(Object.getPrototypeOf(port) ?? Object.prototype)]
}

/** Returns a 500 with the cause for the log. */
export function toInternalError (thrown: unknown): HttpError {
  return new HttpError('internal_error', [], { cause: toLoggableError(thrown) })
}
