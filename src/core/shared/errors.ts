import { readField } from './fields.js'
import type { Hold } from '../ports/index.js'

const kBrand = Symbol.for('fastify-recruiting-api.error')
const kInputBrand = Symbol.for('fastify-recruiting-api.input-error')

/** Why a call failed. `npm run tables` copies these comments to docs/events.md. */
export type RecruitingApiErrorCode =
  /**
   * An option of the plugin, `createRecruiting`, `drain`, `defineList`, `recordEvents` or an adapter is invalid;
   * `field` is its path.
   */
  | 'invalid_option'
  /**
   * An argument of `emit` or `erase` is invalid; `field` is its path. Passing both `tenantSlug` and `tenantId` is
   * `invalid_input`.
   */
  | 'invalid_event'
  /**
   * An argument of `changed`, `stats`, `renameTenant`, `removeTenant`, `webhooks`, `portal`, `apiKeys` or a recorder is
   * invalid; `field` is its name or path.
   */
  | 'invalid_input'
  /** The webhook, delivery or key to change does not exist, or the key is no longer valid. */
  | 'not_found'
  /** The idempotency key was used before for a different event, or another attempt has claimed the request. */
  | 'idempotency_conflict'
  /** The option `tenantId` returned `null` for the tenant. */
  | 'unknown_tenant'
  /** The tenant was renamed or removed. Nothing can be stored under its name before `until`. */
  | 'tenant_resting'
  /** The database is a copy, or belongs to another `delivery.environment`, so nothing is sent: see `adopt`. */
  | 'held'
  /**
   * Too many other calls by code are reading the tenant's history, as replays, `erase` and `findSubject` do; or other
   * calls are changing its API keys or webhooks. Try again later.
   */
  | 'busy'
  /** The engine was closed before the call. */
  | 'closed'
  /** `app.recruiting.drain` was called before the server was ready. */
  | 'not_started'
  /** The storage cannot be used; the message describes the fix. */
  | 'storage_not_ready'
  /**
   * The storage, the key lookup, `tenantId` or a limit's function did not respond in time. The call's data may have
   * been stored.
   */
  | 'storage_timeout'

const statuses: Record<RecruitingApiErrorCode, number> = {
  invalid_option: 500,
  invalid_event: 400,
  invalid_input: 400,
  not_found: 404,
  idempotency_conflict: 409,
  unknown_tenant: 404,
  tenant_resting: 409,
  held: 503,
  busy: 503,
  closed: 503,
  not_started: 503,
  storage_not_ready: 503,
  storage_timeout: 503
}

/** The error that this package throws to the host. Nothing was stored, except possibly with `storage_timeout`. */
export class RecruitingApiError extends Error {
  override readonly name = 'RecruitingApiError'
  /** The kind of error. */
  readonly code: RecruitingApiErrorCode
  /** The status that fits the code. Fastify sends it if one of your own routes throws the error. */
  readonly statusCode: number
  /** The path of the invalid option or argument, such as `delivery.pollMs`; empty if there is none. */
  readonly field: string
  /** Only for `tenant_resting`: when the rest ends, as an RFC 3339 date-time. Otherwise `null`. */
  readonly until: string | null
  readonly [kBrand] = true

  constructor (
    code: RecruitingApiErrorCode,
    message: string,
    field = '',
    { until = null, ...options }: ErrorOptions & { until?: string | null } = {}
  ) {
    super(message, options)
    this.code = code
    this.statusCode = statuses[code]
    this.field = field
    this.until = until
  }

  /** `instanceof` is also true for errors of another copy of this package, such as its CommonJS build. */
  static override [Symbol.hasInstance] (value: unknown): boolean {
    return isRecruitingApiError(value)
  }
}

/** Returns whether a value is a `RecruitingApiError`, even from another copy of this package in the same process. */
export function isRecruitingApiError (error: unknown): error is RecruitingApiError {
  return readField(error, kBrand) === true
}

/** Throws for an invalid argument of `emit` or `erase`. */
export function rejectEvent (field: string, problem: string): never {
  throw new RecruitingApiError('invalid_event', `${field}: ${problem}`, field)
}

/** Throws for an invalid argument of any other call. */
export function rejectInput (field: string, problem: string): never {
  throw new RecruitingApiError('invalid_input', `${field}: ${problem}`, field)
}

/** Thrown for invalid input. A client gets 400, a call from code throws `invalid_input`. */
export class InputError extends Error {
  /** The field of the input, such as `target_url`; empty for the whole input. */
  readonly field: string
  /** The part of the request with the field. */
  readonly place: 'body' | 'query'
  readonly [kInputBrand] = true

  constructor (field: string, message: string, place: 'body' | 'query' = 'body') {
    super(message)
    this.field = field
    this.place = place
  }

  static override [Symbol.hasInstance] (value: unknown): boolean {
    return readField(value, kInputBrand) === true
  }
}

/** The error of calls that would send notifications from a held storage. */
export function heldError (reason: Hold['reason']): RecruitingApiError {
  const problem = reason === 'copy' ? 'the database is a copy' : 'the database belongs to another delivery.environment'
  return new RecruitingApiError(
    'held',
    `${problem}: nothing is sent until you call adopt, or run npx fastify-recruiting-api adopt`
  )
}

export function isHeldError (error: unknown): error is RecruitingApiError {
  return isRecruitingApiError(error) && error.code === 'held'
}

/** The error of a storage that was about to store the answer to a request. */
export function claimLost (): RecruitingApiError {
  return new RecruitingApiError('idempotency_conflict', 'another attempt has claimed the request')
}

/** Logged by a process that must not send notifications. */
export const heldMessage = 'deliveries are held'
