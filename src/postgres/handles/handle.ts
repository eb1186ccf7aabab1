import { RecruitingApiError } from '../../errors.js'
import { kHandle, readField } from '../../shared/fields.js'
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

/**
 * Adds the handle of the library to the client that it was converted to, so that a recorder knows the transaction by
 * it.
 */
export function keepHandle (handle: object, client: PgQueryable): PgQueryable {
  return Object.assign(client, { [kHandle]: handle })
}

/** A statement and its values. */
interface Statement {
  text: string
  values: unknown[]
}

// Matches quoted text, names and comments, where `$1` is not a parameter, and parameters with an optional cast.
const tokens = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$(\d+)(::)?/gs

/**
 * Sends parameters with a cast as text: `$1::jsonb` becomes `$1::text::jsonb`. Otherwise some libraries type a
 * parameter by its JavaScript value, and some drivers convert it by its PostgreSQL type: text would become a JSON
 * string or `bytea`.
 */
export function sendAsText (text: string, values: readonly unknown[]): Statement {
  const bare = new Set<string>()
  for (const [, position, cast] of text.matchAll(tokens)) {
    if (position !== undefined && cast === undefined) bare.add(position)
  }
  const isText = (position: string): boolean => !bare.has(position)
  return {
    text: text.replace(tokens, (token, position?: string, cast?: string) =>
      position !== undefined && cast !== undefined && isText(position) ? `$${position}::text::` : token),
    values: values.map((value, index) => isText(String(index + 1)) ? formatValue(value) : value)
  }
}

/** Formats a value as PostgreSQL text input. */
export function formatValue (value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? `{${value.map(formatItem).join(',')}}` : String(value)
}

function formatItem (item: unknown): string {
  if (Array.isArray(item)) return String(formatValue(item))
  if (item === null || item === undefined) return 'null'
  return `"${String(item).replace(/["\\]/g, '\\$&')}"`
}
