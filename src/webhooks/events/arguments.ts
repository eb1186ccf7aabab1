import { RecruitingApiError } from '../../errors.js'
import { findUnknownName } from '../../shared/expect.js'
import { normalizeInstant } from '../../shared/instant.js'
import { findNearestName } from '../../shared/nearest-name.js'
import { isPlainText, isTenantSlug, tenantSlugRule } from '../../shared/text.js'
import type { EventCatalogue } from './catalogue.js'
import type { EmitOptions, EmittedEvent, ErasedSubject } from '../recruiting.js'

/*
 * What the host passes to `emit` and `erase`. Every check throws `invalid_event` with the path of the argument at fault.
 */

export const eventNames: ReadonlyArray<keyof EmittedEvent<EventCatalogue>> = [
  'tenantSlug', 'type', 'data', 'occurredAt', 'subject', 'idempotencyKey'
]
export const subjectNames: ReadonlyArray<keyof ErasedSubject> = ['tenantSlug', 'subject']
export const optionNames: ReadonlyArray<keyof EmitOptions> = ['transaction']

/** Refuses what is no object, and a name that is none of its own: it is misspelt, and would be ignored without a word. */
export function assertNames (argument: string, value: unknown, names: readonly string[]): void {
  if (typeof value !== 'object' || value === null) refuse(argument, 'expected an object')
  const unknown = findUnknownName(value, names)
  if (unknown !== undefined) refuse(unknown, `expected a known name such as ${findNearestName(unknown, names)}`)
}

/** Refuses what names no tenant. */
export function assertTenantSlug (value: unknown): void {
  if (!isTenantSlug(value)) refuse('tenantSlug', `expected ${tenantSlugRule}`)
}

/** Refuses what is no text of 1 to 255 characters that every storage can keep. */
export function assertText (field: string, value: unknown): void {
  if (!isPlainText(value, 255)) refuse(field, 'expected 1 to 255 characters without control characters')
}

/** When it happened, as it is sent: in UTC with milliseconds. */
export function readOccurredAt (value: Date | string): string {
  const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
  return normalizeInstant(text) ?? refuse('occurredAt', 'expected a Date or an RFC 3339 date-time')
}

/** The JSON of the host's data, and of what goes along with it. */
export function formatData (notification: object): string {
  try {
    return JSON.stringify(notification)
  } catch (error) {
    refuse('data', error instanceof Error ? error.message : 'is not JSON')
  }
}

/** Refuses a body that is too long to send. */
export function assertSize (body: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(body)
  if (bytes > maxBytes) refuse('data', `expected an event whose body is at most ${maxBytes} bytes, got ${bytes}`)
}

function refuse (field: string, problem: string): never {
  throw new RecruitingApiError('invalid_event', `${field}: ${problem}`, field)
}
