import { hash } from 'node:crypto'
import { RecruitingApiError } from '../errors.js'
import { normalizeInstant } from '../instant.js'
import type { Clock, DeliveryStore } from '../ports/index.js'
import { isTenantSlug, tenantSlugRule } from '../tenant-slug.js'
import { publishEmit } from './channels.js'
import { generateEventId } from './event-id.js'
import type { EventCatalogue, EventValidator } from './events.js'
import type { EmitOptions, EmitResult, EmittedEvent } from './recruiting.js'

interface Dependencies {
  deliveries: DeliveryStore
  validate: EventValidator
  clock: Clock
}

/** As a tenant slug, but longer. */
const shortText = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/** Records an event and its deliveries, and tells the diagnostics channel. */
export async function dispatch (
  { deliveries, validate, clock }: Dependencies,
  event: EmittedEvent<EventCatalogue, string>,
  options: EmitOptions = {}
): Promise<EmitResult> {
  const { tenantSlug, type, data, occurredAt, subject = null, idempotencyKey = null } = event
  assertTenantSlug(tenantSlug)
  if (subject !== null) assertText('subject', subject)
  if (idempotencyKey !== null) assertText('idempotencyKey', idempotencyKey)
  validate(type, data)
  const timestamp = occurredAt === undefined ? new Date(clock.now()).toISOString() : readInstant(occurredAt)
  const id = generateEventId()
  const notification = { id, type, timestamp, tenant_slug: tenantSlug, data }
  const body = toJson(notification)
  const tombstone = subject === null ? null : toJson({ ...notification, data: null, erased: true })
  const fingerprint = idempotencyKey === null
    ? ''
    : hash('sha256', JSON.stringify([type, data, subject, occurredAt === undefined ? null : timestamp]), 'hex')
  const recorded = await deliveries.record(tenantSlug, { id, type, body, subject, tombstone, idempotencyKey, fingerprint }, options.transaction)
  if (recorded.fingerprint !== fingerprint) {
    throw new RecruitingApiError('idempotency_conflict', 'idempotencyKey: was used before for another event', 'idempotencyKey')
  }
  // Another id is that of an earlier emit with the same key, and now nothing was recorded.
  if (recorded.id === id) publishEmit({ tenantSlug, eventId: id, eventType: type, deliveries: recorded.deliveries })
  return { id: recorded.id, deliveries: recorded.deliveries }
}

/** Throws `invalid_event` for what names no tenant. */
export function assertTenantSlug (value: unknown): void {
  if (!isTenantSlug(value)) throw new RecruitingApiError('invalid_event', `tenantSlug: expected ${tenantSlugRule}`, 'tenantSlug')
}

/** Throws `invalid_event` for what is no text of 1 to 255 characters that every storage can keep. */
export function assertText (field: string, value: unknown): void {
  if (typeof value === 'string' && shortText.test(value)) return
  throw new RecruitingApiError('invalid_event', `${field}: expected 1 to 255 characters without control characters`, field)
}

function readInstant (value: Date | string): string {
  const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
  const instant = normalizeInstant(text)
  if (instant !== null) return instant
  throw new RecruitingApiError('invalid_event', 'occurredAt: expected a Date or an RFC 3339 date-time', 'occurredAt')
}

function toJson (notification: object): string {
  try {
    return JSON.stringify(notification)
  } catch (error) {
    throw new RecruitingApiError('invalid_event', `data: ${error instanceof Error ? error.message : 'is not JSON'}`, 'data')
  }
}
