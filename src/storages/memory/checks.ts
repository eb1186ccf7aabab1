import { RecruitingApiError } from '../../core/shared/errors.js'
import type { Id, IdKind } from '../../core/ports/index.js'
import { rejectOption } from '../../core/shared/read-options.js'
import { isId, textIdRule } from '../../core/shared/ids.js'
import { isPlainText, isStorableText, normalizeInstant } from '../../core/shared/text.js'

const maxShownLength = 60

/** Throws `invalid_option` with the path, the expected and the actual value. Truncates long text. */
export function reject (path: string, expected: string, value: unknown): never {
  const isLong = typeof value === 'string' && value.length > maxShownLength
  rejectOption(path, expected, isLong ? `${value.slice(0, maxShownLength)}…` : value)
}

export function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the id of a row: a positive integer up to 2^53-1, or text. */
export function parseRowId (value: unknown, path: string, kind: IdKind): Id {
  if (isId(value, kind) && (typeof value === 'string' || value > 0)) return value
  return reject(path, kind === 'integer' ? 'a positive integer' : `a string of ${textIdRule}`, value)
}

/** Returns an id that a row refers to: an integer from -(2^53-1) to 2^53-1, or text; `null` if it is absent. */
export function parseReference (value: unknown, path: string, kind: IdKind): Id | null {
  if (value === undefined || value === null) return null
  return isId(value, kind)
    ? value
    : reject(path, kind === 'integer' ? 'an integer or null' : `a string of ${textIdRule}, or null`, value)
}

/** Returns text that every storage can store. */
export function parseText (value: unknown, path: string): string {
  if (typeof value !== 'string') reject(path, 'a string', value)
  if (!isStorableText(value)) reject(path, 'a string without NUL and lone surrogates', value)
  return value
}

/** Returns text; `null` if it is absent. */
export function parseOptionalText (value: unknown, path: string): string | null {
  return value === undefined || value === null ? null : parseText(value, path)
}

/** Returns a tenant's id as text. Without the option `tenantId` it is the slug. */
export function parseTenant (value: unknown, path: string): string {
  return isPlainText(value, 200)
    ? value
    : reject(path, 'a tenant of 1 to 200 characters without control characters', value)
}

/** Converts an RFC 3339 date-time of the years 1 to 9999 to milliseconds since the epoch. */
export function parseDateTime (value: unknown, path: string): number {
  const instant = typeof value === 'string' ? normalizeInstant(value) : null
  return instant === null ? reject(path, 'an RFC 3339 date-time', value) : Date.parse(instant)
}

/** Returns the dates of a row. By default it was created now, and updated when it was created. */
export function parseRowDates (
  { created_at: created, updated_at: updated }: Record<string, unknown>, path: string, now: number
): { created_at: string, updated_at: string } {
  const createdAt = created === undefined ? now : parseDateTime(created, `${path}.created_at`)
  const updatedAt = updated === undefined ? createdAt : parseDateTime(updated, `${path}.updated_at`)
  return { created_at: formatDateTime(createdAt), updated_at: formatDateTime(updatedAt) }
}

/** Formats a time as RFC 3339 in UTC with milliseconds. */
export function formatDateTime (time: number): string {
  return new Date(time).toISOString()
}

/** Throws `invalid_event` for a transaction: memory cannot roll back. */
export function rejectTransaction (transaction: unknown): void {
  if (transaction !== undefined) {
    rejectEvent(
      'transaction',
      'the memory storage has no transactions; in tests, recordEvents of fastify-recruiting-api/testing takes any handle'
    )
  }
}

export function rejectEvent (field: string, problem: string): never {
  throw new RecruitingApiError('invalid_event', `${field}: ${problem}`, field)
}
