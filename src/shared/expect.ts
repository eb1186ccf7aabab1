import { RecruitingApiError } from '../errors.js'
import { findNearestName } from './nearest-name.js'

/** Throws `invalid_option`, with the path, the expected and the actual value, unless the condition holds. */
export function expect (condition: boolean, path: string, expected: string, value: unknown): asserts condition {
  if (!condition) refuse(path, expected, value)
}

export function refuse (path: string, expected: string, value: unknown): never {
  throw new RecruitingApiError('invalid_option', `${path}: expected ${expected}, got ${show(value)}`, path)
}

/** Throws `invalid_option` unless the value is an integer from `minimum` to `maximum`. */
export function expectInteger (value: unknown, path: string, minimum: number, maximum: number): asserts value is number {
  const isValid = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
  expect(isValid, path, `an integer from ${minimum} to ${maximum}`, value)
}

/**
 * Throws `invalid_option` for an unknown name, and suggests the nearest one. Does not show the value, which may be a
 * secret.
 */
export function expectNames (given: object, known: object, path = ''): void {
  const names = Object.keys(known)
  const unknown = findUnknownName(given, names)
  if (unknown !== undefined) refuse(`${path}${unknown}`, `a known name such as ${findNearestName(unknown, names)}`, unknown)
}

export function findUnknownName (given: object, names: readonly string[]): string | undefined {
  return Object.keys(given).find((name) => !names.includes(name))
}

function show (value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
