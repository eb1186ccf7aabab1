import { RecruitingApiError } from '../errors.js'

/** Throws `invalid_option`, with the path, the expected and the actual value, unless the condition holds. */
export function expect (condition: boolean, path: string, expected: string, value: unknown): asserts condition {
  if (!condition) refuse(path, expected, value)
}

export function refuse (path: string, expected: string, value: unknown): never {
  throw new RecruitingApiError('invalid_option', `${path}: expected ${expected}, got ${show(value)}`, path)
}

/** Throws `invalid_option` unless the value is an integer from `minimum` to `maximum`. */
export function expectInteger (
  value: unknown, path: string, minimum: number, maximum: number
): asserts value is number {
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
  if (unknown !== undefined) {
    refuse(`${path}${unknown}`, `a known name such as ${findNearestName(unknown, names)}`, unknown)
  }
}

export function findUnknownName (given: object, names: readonly string[]): string | undefined {
  return Object.keys(given).find((name) => !names.includes(name))
}

/** Shows a value in a message, without the content of objects. */
export function show (value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}

/** Returns the name with the fewest edits from `given`, ignoring case: most unknown names are misspelt. */
export function findNearestName (given: string, names: readonly string[]): string {
  const edits = (name: string): number => countEdits(given.toLowerCase(), name.toLowerCase())
  const [nearest = ''] = names.toSorted((one, other) => edits(one) - edits(other))
  return nearest
}

/** Returns the nearest name, or `null` if none is similar: at most a third of `given` may be wrong. */
export function findSimilarName (given: string, names: readonly string[]): string | null {
  const nearest = findNearestName(given, names)
  return countEdits(given.toLowerCase(), nearest.toLowerCase()) * 3 <= given.length ? nearest : null
}

/** Returns the Levenshtein distance, computed row by row. */
function countEdits (from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...to].entries()) {
      const [replaced = 0, deleted = 0] = row.slice(column)
      const [inserted = 0] = next.slice(column)
      next.push(Math.min(replaced + Number(letter !== other), deleted + 1, inserted + 1))
    }
    row = next
  }
  const [edits = 0] = row.slice(-1)
  return edits
}
