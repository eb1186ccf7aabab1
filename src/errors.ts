import { readField } from './shared/read-field.js'

const kBrand = Symbol.for('fastify-recruiting-api.error')

/** Why a call by the host failed. The comments are a table in docs/events.md: `npm run tables`. */
export type RecruitingApiErrorCode =
  /** An option of the plugin, of `createRecruiting`, of `drain` or of an adapter is wrong; `field` is its path. */
  | 'invalid_option'
  /** An argument of `emit` or `erase` is wrong; `field` is its path. */
  | 'invalid_event'
  /** The idempotency key was used before, for another event. */
  | 'idempotency_conflict'
  /** The engine was closed before the call. */
  | 'closed'
  /** A storage cannot be used as it is; the message says what to do. */
  | 'storage_not_ready'
  /** A storage or a key lookup did not answer in time. */
  | 'storage_timeout'

/** Thrown to the host for every mistake this package can name. Nothing has been stored when it is thrown. */
export class RecruitingApiError extends Error {
  override readonly name = 'RecruitingApiError'
  /** Which mistake it is. */
  readonly code: RecruitingApiErrorCode
  /** The path of the option or argument at fault, such as `delivery.pollMs`; empty when there is none. */
  readonly field: string
  readonly [kBrand] = true

  constructor (code: RecruitingApiErrorCode, message: string, field = '', options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.field = field
  }
}

/** Tells a `RecruitingApiError`, also one thrown by another copy of this package in the same process. */
export function isRecruitingApiError (error: unknown): error is RecruitingApiError {
  return readField(error, kBrand) === true
}

/** Thrown for client input that only the engine can judge; the client gets 400. */
export class Refusal extends Error {
  /** The field of the body, such as `target_url`. */
  readonly field: string

  constructor (field: string, message: string) {
    super(message)
    this.field = field
  }
}
