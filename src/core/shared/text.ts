import { InputError } from './errors.js'
import { formatFieldPath } from './fields.js'

const withoutControls = /^[^\p{Cc}\p{Cs}]+$/u

/** The rule for tenant slugs, for messages. */
export const tenantSlugRule = 'a tenant slug of 1 to 100 characters without control characters'

/** Returns whether every storage can store a text: PostgreSQL rejects NUL and lone surrogates. */
export function isStorableText (text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Returns whether a value is text of 1 to `maxLength` characters without control characters or lone surrogates. */
export function isPlainText (value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && hasLength(value, maxLength) && withoutControls.test(value)
}

/** Returns whether a value can be a tenant slug. Keys, rows, requests and events share this rule. */
export function isTenantSlug (value: unknown): value is string {
  return isPlainText(value, 100)
}

/**
 * Folds text so that `q` ignores case. Only Σ has two lower-case forms: `toLowerCase` returns ς at the end of a word.
 * Symbols that resemble letters, such as ϑ, stay different.
 */
export function foldCase (text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

// An emoji is one character, though its length is 2.
function hasLength (text: string, maxLength: number): boolean {
  return text.length <= maxLength || (text.length <= 2 * maxLength && [...text].length <= maxLength)
}

/**
 * Converts an RFC 3339 date-time to UTC with milliseconds. Returns `null` for other text and for years outside 1 to
 * 9999, which not every storage can compare. A leap second becomes the first second of the next minute.
 */
export function normalizeInstant (text: string): string | null {
  const match = dateTime.exec(text.toUpperCase())
  if (match === null) return null
  const [, day = '', time = '', second = '', rest = ''] = match
  const isLeapSecond = second === '60'
  const date = new Date(Date.parse(`${day}T${time}:${isLeapSecond ? '59' : second}${rest}`) + (isLeapSecond ? 1000 : 0))
  // Date.parse accepts 30 February and returns 2 March.
  const isRealDay = new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice(8))
  const year = date.getUTCFullYear()
  return isRealDay && year >= 1 && year <= 9999 ? date.toISOString() : null
}

const dateTime = /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):\d\d):(\d\d)((?:\.\d+)?(?:Z|[+-]\d\d:\d\d))$/

/** Deeper values could exhaust the stack of validators, which recurse. */
const maxDepth = 100

/**
 * Returns why a JSON value is rejected before validation, or `null`. Every storage must be able to store its texts, and
 * objects and arrays can be nested 100 levels deep. `field` is the path, such as `event_types[0]`; empty for the whole
 * value.
 */
export function findJsonFault (
  value: unknown, steps: readonly string[] = []
): { field: string, message: string } | null {
  if (typeof value === 'string') return isStorableText(value) ? null : unstorable(steps)
  if (typeof value !== 'object' || value === null) return null
  if (steps.length === maxDepth) return { field: '', message: `is nested more than ${maxDepth} levels deep` }
  for (const [name, member] of Object.entries(value)) {
    const fault = isStorableText(name) ? findJsonFault(member, [...steps, name]) : unstorable(steps)
    if (fault !== null) return fault
  }
  return null
}

function unstorable (steps: readonly string[]) {
  return { field: formatFieldPath(steps), message: 'contains a NUL or half of a surrogate pair' }
}

/** Decodes a part of a URL; `null` for text that is not percent-encoded UTF-8. */
export function decodePart (text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

export function parseUrl (text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

const maxNameLength = 255

/** Returns the trimmed name of a record. Throws an `InputError` unless it has 1 to 255 plain characters. */
export function readName (text: string): string {
  const name = text.trim()
  const { length } = [...name]
  if (length < 1 || length > maxNameLength) throw new InputError('name', `must be 1 to ${maxNameLength} characters`)
  if (/\p{Cc}/u.test(name)) throw new InputError('name', 'must not contain control characters')
  return name
}
