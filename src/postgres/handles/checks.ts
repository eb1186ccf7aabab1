import { RecruitingApiError } from '../../errors.js'
import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'

/** Throws `invalid_event` for the argument `transaction`. */
export function refuseTransaction (problem: string): never {
  throw new RecruitingApiError('invalid_event', `transaction: ${problem}`, 'transaction')
}

/** Throws `invalid_event` unless a function was given the handle it expects. */
export function expectHandle (condition: boolean, name: string, expected: string): asserts condition {
  if (!condition) refuseTransaction(`${name} expects ${expected}`)
}

/** Throws `invalid_event` once a transaction has ended: the library may have lent its connection to somebody else. */
export function expectOpen (isOpen: boolean, library: string): asserts isOpen {
  if (!isOpen) refuseTransaction(`this ${library} transaction has ended, or has not begun`)
}

/** Whether a value has all of these methods. */
export function hasMethods (value: unknown, ...names: string[]): boolean {
  return names.every((name) => typeof readField(value, name) === 'function')
}

/** Whether a value can run a statement, as a client of `pg` does. */
export function isQueryable (value: unknown): value is PgQueryable {
  return hasMethods(value, 'query')
}
