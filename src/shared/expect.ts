import { RecruitingApiError } from '../errors.js'
import { findNearestName } from './nearest-name.js'

/** Throws `invalid_option` with the option's path, what was expected and what came. */
export function expect (condition: boolean, path: string, expected: string, value: unknown): asserts condition {
  if (!condition) refuse(path, expected, value)
}

/** What `expect` does where there is no condition left. */
export function refuse (path: string, expected: string, value: unknown): never {
  throw new RecruitingApiError('invalid_option', `${path}: expected ${expected}, got ${show(value)}`, path)
}

/** Throws unless the value is an integer between the two, both included. */
export function expectInteger (value: unknown, path: string, minimum: number, maximum: number): asserts value is number {
  const isValid = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
  expect(isValid, path, `an integer from ${minimum} to ${maximum}`, value)
}

/** Throws for a name that no option has, and says which comes nearest. The value is not shown, it may be a secret. */
export function expectNames (given: object, known: object, path = ''): void {
  const names = Object.keys(known)
  const unknown = findUnknownName(given, names)
  if (unknown !== undefined) refuse(`${path}${unknown}`, `a known name such as ${findNearestName(unknown, names)}`, unknown)
}

/** The first name of an object that is not among those it may have. */
export function findUnknownName (given: object, names: readonly string[]): string | undefined {
  return Object.keys(given).find((name) => !names.includes(name))
}

function show (value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
