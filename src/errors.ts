const kBrand = Symbol.for('fastify-recruiting-api.error')

/**
 * Why a call by the host was refused.
 *
 * - `invalid_option`: an option of the plugin, of `createRecruiting`, of `drain` or of an adapter; `field` is its path
 * - `invalid_event`: an argument of `emit` or `erase`; `field` is its path
 * - `idempotency_conflict`: an idempotency key was used before for another event
 * - `closed`: the engine was closed before the call
 * - `storage_not_ready`: a storage cannot be used as it is; the message says what to do
 * - `storage_timeout`: a storage or a key lookup did not answer in time
 */
export type RecruitingApiErrorCode =
  | 'invalid_option' | 'invalid_event' | 'idempotency_conflict' | 'closed' | 'storage_not_ready' | 'storage_timeout'

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
  return typeof error === 'object' && error !== null && kBrand in error
}
