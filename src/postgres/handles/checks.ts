import { RecruitingApiError } from '../../errors.js'
import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'

/** Throws `invalid_event` for the argument `transaction`. */
export function refuseTransaction (problem: string): never {
  throw new RecruitingApiError('invalid_event', `transaction: ${problem}`, 'transaction')
}

/** Throws `invalid_event` unless the argument is the handle that a function expects. */
export function expectHandle (condition: boolean, name: string, expected: string): asserts condition {
  if (!condition) refuseTransaction(`${name} expects ${expected}`)
}

/** Throws `invalid_event` if a transaction has ended, because its connection may be in use by another caller. */
export function expectOpen (isOpen: boolean, library: string): asserts isOpen {
  if (!isOpen) refuseTransaction(`this ${library} transaction has ended, or has not begun`)
}

/** Returns whether a value has all of these methods. */
export function hasMethods (value: unknown, ...names: string[]): boolean {
  return names.every((name) => typeof readField(value, name) === 'function')
}

/** Returns whether a value has a method `query`, like a client of `pg`. */
export function isQueryable (value: unknown): value is PgQueryable {
  return hasMethods(value, 'query')
}
