import { hash } from 'node:crypto'
import { RecruitingApiError, rejectEvent, rejectInput } from '../../shared/errors.js'
import { generateEventId } from '../../shared/event-id.js'
import { readText } from '../../observe/logger.js'
import type { ChangeKind, ChangeSource, Clock, DeliveryStore, Id, IdKind, IdKinds } from '../../ports/index.js'
import { isId, isStorableId, readChangeKind, textIdRule } from '../../shared/ids.js'
import {
  findNearestName, findUnknownName, assertOption, flag, readInput, unread
} from '../../shared/read-options.js'
import { type Tenants, readTenant, tenantNames } from '../../shared/tenants.js'
import { isPlainText, normalizeInstant } from '../../shared/text.js'
import { publishEmit } from '../diagnostics.js'
import type { EmitOptions, EmitResult, EmittedEvent, EngineCalls } from '../recruiting.js'
import type { EventCatalogue, EventValidator } from '../../api/catalogue.js'

/** A sequence is a time in microseconds since the epoch, which has this length from 2001 to 2286. */
const sequenceDigits = 16

/** The sequence of a test, which is older than every event. */
export const testSequence = '0'.repeat(sequenceDigits)

interface DispatchParts {
  tenants: Tenants
  deliveries: DeliveryStore
  validate: EventValidator
  clock: Clock
  maxEventBytes: number
  requireSubject: boolean
}

/** Records an event and its deliveries, and publishes it on the diagnostics channel. */
export async function dispatch (
  { tenants, deliveries, validate, clock, maxEventBytes, requireSubject }: DispatchParts,
  event: EmittedEvent<EventCatalogue, string>, { transaction }: EmitOptions, traceParent: string | null
): Promise<EmitResult> {
  const { type, data, occurredAt, idempotencyKey = null, changed } = event
  const reference = readTenant(event, 'invalid_event')
  const [subject = null, ...otherSubjects] = readSubjects(event, requireSubject)
  if (idempotencyKey !== null) assertText('idempotencyKey', idempotencyKey)
  // Before the lookup, during which the caller may change the data.
  const end = formatData({ data })
  validate(type, JSON.parse(end).data, changed)
  const changes = changed === undefined || changed.length === 0 ? {} : { changed: [...changed] }
  const timestamp = occurredAt === undefined ? new Date(clock.now()).toISOString() : readOccurredAt(occurredAt)
  const id = generateEventId(clock.now())
  const fingerprint =
    idempotencyKey === null
      ? ''
      : hash(
        'sha256',
        JSON.stringify([
          type, data, subject, occurredAt === undefined ? null : timestamp, ...otherSubjects, ...Object.values(changes)
        ]),
        'hex'
      )
  const tenant = await tenants.get(reference, transaction)
  const begin = JSON.stringify({ id, type, timestamp, sequence: '', tenant_slug: tenant.slug, ...changes })
  const sequenceAt = begin.indexOf('"sequence":"') + '"sequence":"'.length
  const body = joinObjects(begin, end)
  const bytes = Buffer.byteLength(body) + sequenceDigits
  if (bytes > maxEventBytes) {
    rejectEvent('data', `expected an event whose body is at most ${maxEventBytes} bytes, got ${bytes}`)
  }
  const tombstone = subject === null ? null : joinObjects(begin, '{"data":null,"erased":true}')
  const recorded = await deliveries.record(tenant.id, {
    id, type, body, sequenceAt, subject, otherSubjects, tombstone, idempotencyKey, fingerprint, traceParent
  }, transaction)
  if (recorded.fingerprint !== fingerprint) {
    throw new RecruitingApiError(
      'idempotency_conflict', 'idempotencyKey: was used before for a different event', 'idempotencyKey'
    )
  }
  // A different id belongs to an earlier emit with the same key. Nothing was recorded now.
  if (recorded.id === id) {
    publishEmit({ tenantSlug: tenant.slug, eventId: id, eventType: type, deliveries: recorded.deliveries })
  }
  return { id: recorded.id, deliveries: recorded.deliveries }
}

/** Joins the JSON texts of two objects without common names. */
function joinObjects (one: string, other: string): string {
  return other === '{}' ? one : `${one.slice(0, -1)},${other.slice(1)}`
}

// The checks of arguments to `emit` and `erase`. Each throws `invalid_event` with the path of the argument.

export const eventNames: ReadonlyArray<keyof EmittedEvent<EventCatalogue>> = [
  ...tenantNames, 'type', 'data', 'changed', 'occurredAt', 'subject', 'subjects', 'idempotencyKey'
]
export const optionNames: ReadonlyArray<keyof EmitOptions> = ['transaction']

/** Rejects non-objects and unknown property names, which would otherwise be ignored silently. */
export function assertNames (argument: string, value: unknown, names: readonly string[]): void {
  if (typeof value !== 'object' || value === null) rejectEvent(argument, 'expected an object')
  const unknown = findUnknownName(value, names)
  if (unknown !== undefined) rejectEvent(unknown, `expected a known name such as ${findNearestName(unknown, names)}`)
}

/** Rejects anything but text of 1 to 255 characters without control characters. */
export function assertText (field: string, value: unknown): void {
  if (!isPlainText(value, 255)) rejectEvent(field, 'expected 1 to 255 characters without control characters')
}

function readSubjects (
  { subject, subjects = [] }: Pick<EmittedEvent<EventCatalogue>, 'subject' | 'subjects'>, isRequired: boolean
): string[] {
  if (!Array.isArray(subjects) || subjects.length > 100) rejectEvent('subjects', 'expected an array of at most 100 subjects')
  const given = subject === undefined || subject === null ? [] : [subject]
  if (given.length > 0) assertText('subject', subject)
  for (const [index, one] of [...subjects].entries()) assertText(`subjects[${index}]`, one)
  const all = [...new Set([...given, ...subjects])]
  if (isRequired && all.length === 0) rejectEvent('subject', 'expected a subject, because the option requireSubject is set')
  return all
}

/** Returns the event's time as it is sent, in UTC with milliseconds. */
function readOccurredAt (value: Date | string): string {
  const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
  return normalizeInstant(text) ?? rejectEvent('occurredAt', 'expected a Date or an RFC 3339 date-time')
}

/** Returns an object with the data as JSON text. Rejects data that cannot be converted. */
function formatData (part: { data: unknown }): string {
  try {
    return JSON.stringify(part)
  } catch (error) {
    rejectEvent('data', readText(error, 'message') ?? 'is not JSON')
  }
}

const readers = {
  tenantSlug: unread,
  tenantId: unread,
  kind: readChangeKind,
  id: unread,
  deleted: flag(false)
}

export function createChanged (
  changes: ChangeSource | undefined, ids: IdKinds, tenants: Tenants
): EngineCalls['changed'] {
  return async (changed, options = {}) => {
    assertOption(changes !== undefined, 'storage.changes', 'a storage that keeps changes', changes)
    assertNames('options', options, optionNames)
    const { kind, id, deleted } = readInput(changed, readers)
    const reference = readTenant(changed)
    assertChangedId(id, kind, kind === 'candidate' || kind === 'job' ? ids[kind] : null)
    const tenant = await tenants.getId(reference, options.transaction)
    await changes.record(tenant, { kind, id: String(id), deleted }, options.transaction)
  }
}

/** `idKind` is `null` for an own list, which only the server that serves it knows. */
function assertChangedId (id: unknown, kind: ChangeKind, idKind: IdKind | null): asserts id is Id {
  const kinds = idKind === null ? ['integer', 'string'] as const : [idKind]
  if (kinds.some((one) => isId(id, one) && isStorableId(id))) return
  const rules = { integer: 'an integer from 1 to 2^53-1', string: `a string of ${textIdRule}` }
  const rule = kinds.map((one) => rules[one]).join(' or ')
  const reason = idKind === null ? '' : `, because ids.${kind} is '${idKind}'`
  rejectInput('id', `expected ${rule}${reason}`)
}
