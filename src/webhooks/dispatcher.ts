import { hash, randomBytes } from 'node:crypto'
import { RecruitingApiError } from '../errors.js'
import { normalizeInstant } from '../instant.js'
import type { Clock, DeliveryStore } from '../ports/index.js'
import { publishEmit } from './channels.js'
import type { EventCatalogue, EventData, EventValidator } from './events.js'

/** What happened in the ATS. */
export interface EmittedEvent<Events extends EventCatalogue, Name extends keyof Events = keyof Events> {
  /** Whose it is: 1 to 100 characters, none of them control characters. */
  tenantSlug: string
  /** A name of the catalogue, such as `application.created`. */
  type: Name
  /** Sent as it is, as JSON; it must match the schema of its type. */
  data: EventData<Events, Name>
  /**
   * When it happened: a `Date` or an RFC 3339 date-time.
   * @default now
   */
  occurredAt?: Date | string
  /** What it is about, such as `candidate:42`, for `erase`; 1 to 255 characters. Not sent. */
  subject?: string
  /** Makes a repeated `emit` a no-op: 1 to 255 characters, unique for the tenant. Not sent. */
  idempotencyKey?: string
}

/** What `erase` erases. */
export interface ErasedSubject {
  /** Whose events they are: 1 to 100 characters, none of them control characters. */
  tenantSlug: string
  /** The `subject` that events were emitted with; 1 to 255 characters. */
  subject: string
}

/** How `emit` and `erase` write. */
export interface EmitOptions {
  /**
   * The host's own transaction, such as a client of `pg`: nothing is sent or erased unless it commits. A storage without
   * transactions rejects.
   * @default one of the storage's own, committed at once
   */
  transaction?: unknown
}

/** What `emit` has recorded. */
export interface EmitResult {
  /** The event's id, which receivers see as `webhook-id`. */
  id: string
  /** How many active webhooks it goes to. */
  deliveries: number
}

interface Dependencies {
  deliveries: DeliveryStore
  validate: EventValidator
  clock: Clock
}

/**
 * Makes an event id: `evt_` and 32 hexadecimal digits, the first 12 the time and the others random, so that new ids stand
 * side by side in an index.
 */
export function generateEventId (): string {
  return `evt_${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`
}

/** The exact text that is signed and sent. */
export function formatEventBody (
  { id, type, timestamp, tenantSlug, data }: { id: string, type: string, timestamp: string, tenantSlug: string, data: unknown },
  marks: { test?: true, erased?: true } = {}
): string {
  return JSON.stringify({ id, type, timestamp, tenant_slug: tenantSlug, data, ...marks })
}

/** Records an event and its deliveries, and tells the diagnostics channel. */
export async function dispatch (
  { deliveries, validate, clock }: Dependencies,
  event: EmittedEvent<EventCatalogue, string>,
  options: EmitOptions = {}
): Promise<EmitResult> {
  const { tenantSlug, type, data, occurredAt, subject = null, idempotencyKey = null } = event
  assertText('tenantSlug', tenantSlug, 100)
  if (subject !== null) assertText('subject', subject, 255)
  if (idempotencyKey !== null) assertText('idempotencyKey', idempotencyKey, 255)
  validate(type, data)
  const timestamp = occurredAt === undefined ? new Date(clock.now()).toISOString() : readInstant(occurredAt)
  const id = generateEventId()
  const head = { id, type, timestamp, tenantSlug }
  const body = toJson(() => formatEventBody({ ...head, data }))
  const tombstone = subject === null ? null : formatEventBody({ ...head, data: null }, { erased: true })
  const asked = [type, data, subject, occurredAt === undefined ? null : timestamp]
  const fingerprint = idempotencyKey === null ? '' : hash('sha256', JSON.stringify(asked), 'hex')
  const recorded = await deliveries.record(tenantSlug, { id, type, body, subject, tombstone, idempotencyKey, fingerprint }, options.transaction)
  if (recorded.fingerprint !== fingerprint) {
    throw new RecruitingApiError('idempotency_conflict', 'idempotencyKey: was used before for another event', 'idempotencyKey')
  }
  // Another id is that of an earlier emit with the same key, and now nothing was recorded.
  if (recorded.id === id) publishEmit({ tenantSlug, eventId: id, eventType: type, deliveries: recorded.deliveries })
  return { id: recorded.id, deliveries: recorded.deliveries }
}

/** Throws `invalid_event` for what no storage could hold. */
export function assertText (field: string, value: unknown, maxLength: number): void {
  const isValid = typeof value === 'string' && value !== '' && value.length <= maxLength &&
    value.isWellFormed() && !/\p{Cc}/u.test(value)
  if (isValid) return
  throw new RecruitingApiError('invalid_event', `${field}: expected 1 to ${maxLength} characters without control characters`, field)
}

function readInstant (value: Date | string): string {
  const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
  const instant = normalizeInstant(text)
  if (instant !== null) return instant
  throw new RecruitingApiError('invalid_event', 'occurredAt: expected a Date or an RFC 3339 date-time', 'occurredAt')
}

function toJson (format: () => string): string {
  try {
    return format()
  } catch (error) {
    throw new RecruitingApiError('invalid_event', `data: ${error instanceof Error ? error.message : 'is not JSON'}`, 'data')
  }
}
