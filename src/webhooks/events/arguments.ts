import { RecruitingApiError } from '../../errors.js'
import { readText } from '../../observe/call-host.js'
import { findNearestName, findUnknownName } from '../../shared/read-options.js'
import { tenantNames } from '../../shared/tenant-reference.js'
import { isPlainText, normalizeInstant } from '../../shared/text.js'
import type { EventCatalogue } from './catalogue.js'
import type { EmitOptions, EmittedEvent, ErasedSubject } from '../recruiting.js'

// The checks of arguments to `emit` and `erase`. Each throws `invalid_event` with the path of the argument.

export const eventNames: ReadonlyArray<keyof EmittedEvent<EventCatalogue>> = [
  ...tenantNames, 'type', 'data', 'occurredAt', 'subject', 'subjects', 'idempotencyKey'
]
export const subjectNames: ReadonlyArray<keyof ErasedSubject> = [...tenantNames, 'subject']
export const optionNames: ReadonlyArray<keyof EmitOptions> = ['transaction']

/** Rejects non-objects and unknown property names, which would otherwise be ignored silently. */
export function assertNames (argument: string, value: unknown, names: readonly string[]): void {
  if (typeof value !== 'object' || value === null) refuse(argument, 'expected an object')
  const unknown = findUnknownName(value, names)
  if (unknown !== undefined) refuse(unknown, `expected a known name such as ${findNearestName(unknown, names)}`)
}

/** Rejects values that are not text of 1 to 255 characters without control characters. */
export function assertText (field: string, value: unknown): void {
  if (!isPlainText(value, 255)) refuse(field, 'expected 1 to 255 characters without control characters')
}

/** Returns the subjects of the event, each once. */
export function readSubjects (
  { subject, subjects = [] }: Pick<EmittedEvent<EventCatalogue>, 'subject' | 'subjects'>,
  isRequired: boolean
): string[] {
  if (!Array.isArray(subjects) || subjects.length > 100) refuse('subjects', 'expected an array of at most 100 subjects')
  const given = subject === undefined || subject === null ? [] : [subject]
  if (given.length > 0) assertText('subject', subject)
  for (const [index, one] of [...subjects].entries()) assertText(`subjects[${index}]`, one)
  const all = [...new Set([...given, ...subjects])]
  if (isRequired && all.length === 0) refuse('subject', 'expected a subject, because the option requireSubject is set')
  return all
}

/** Returns the time of the event in the form that is sent, in UTC with milliseconds. */
export function readOccurredAt (value: Date | string): string {
  const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
  return normalizeInstant(text) ?? refuse('occurredAt', 'expected a Date or an RFC 3339 date-time')
}

/** Returns an object with the data as JSON. Rejects data that cannot be converted. */
export function formatData (part: { data: unknown }): string {
  try {
    return JSON.stringify(part)
  } catch (error) {
    refuse('data', readText(error, 'message') ?? 'is not JSON')
  }
}

/** Rejects a body of more than `maxBytes`. */
export function assertSize (body: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(body)
  if (bytes > maxBytes) refuse('data', `expected an event whose body is at most ${maxBytes} bytes, got ${bytes}`)
}

function refuse (field: string, problem: string): never {
  throw new RecruitingApiError('invalid_event', `${field}: ${problem}`, field)
}
