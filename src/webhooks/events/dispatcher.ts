import { hash } from 'node:crypto'
import { RecruitingApiError } from '../../errors.js'
import type { Clock, DeliveryStore } from '../../ports/index.js'
import { assertSize, assertTenantSlug, assertText, formatData, readOccurredAt } from './arguments.js'
import { publishEmit } from '../channels.js'
import { generateEventId } from './event-id.js'
import type { EventCatalogue, EventValidator } from './catalogue.js'
import type { EmitOptions, EmitResult, EmittedEvent } from '../recruiting.js'

interface Dependencies {
  deliveries: DeliveryStore
  validate: EventValidator
  clock: Clock
  maxEventBytes: number
}

/** Records an event and its deliveries, and publishes it on the diagnostics channel. */
export async function dispatch (
  { deliveries, validate, clock, maxEventBytes }: Dependencies,
  event: EmittedEvent<EventCatalogue, string>,
  { transaction }: EmitOptions
): Promise<EmitResult> {
  const { tenantSlug, type, data, occurredAt, subject = null, idempotencyKey = null } = event
  assertTenantSlug(tenantSlug)
  if (subject !== null) assertText('subject', subject)
  if (idempotencyKey !== null) assertText('idempotencyKey', idempotencyKey)
  validate(type, data)
  const timestamp = occurredAt === undefined ? new Date(clock.now()).toISOString() : readOccurredAt(occurredAt)
  const id = generateEventId()
  const notification = { id, type, timestamp, tenant_slug: tenantSlug, data }
  const body = formatData(notification)
  assertSize(body, maxEventBytes)
  const tombstone = subject === null ? null : formatData({ ...notification, data: null, erased: true })
  const fingerprint = idempotencyKey === null
    ? ''
    : hash('sha256', JSON.stringify([type, data, subject, occurredAt === undefined ? null : timestamp]), 'hex')
  const recorded = await deliveries.record(tenantSlug, { id, type, body, subject, tombstone, idempotencyKey, fingerprint }, transaction)
  if (recorded.fingerprint !== fingerprint) {
    throw new RecruitingApiError('idempotency_conflict', 'idempotencyKey: was used before for a different event', 'idempotencyKey')
  }
  // A different id belongs to an earlier emit with the same key. Nothing was recorded now.
  if (recorded.id === id) publishEmit({ tenantSlug, eventId: id, eventType: type, deliveries: recorded.deliveries })
  return { id: recorded.id, deliveries: recorded.deliveries }
}
