import { hash, randomUUID } from 'node:crypto'
import { RecruitingApiError } from '../../errors.js'
import type { Clock, DeliveryStore } from '../../ports/index.js'
import type { Tenants } from '../../shared/tenants.js'
import { publishEmit } from '../listeners.js'
import type { EmitOptions, EmitResult, EmittedEvent } from '../recruiting.js'
import { assertSize, assertTenantSlug, assertText, formatData, readOccurredAt, readSubjects } from './arguments.js'
import type { EventCatalogue, EventValidator } from './catalogue.js'

/**
 * Generates an event id: `evt_` and 32 hexadecimal digits. The first 12 are the time, so that new ids are adjacent in
 * an index; the others are random.
 */
export function generateEventId (): string {
  const time = Date.now().toString(16).padStart(12, '0')
  // The first and last group of a UUID are fully random. It is ten times faster than random bytes.
  const uuid = randomUUID()
  return `evt_${time}${uuid.slice(0, 8)}${uuid.slice(-12)}`
}

interface Dependencies {
  tenants: Tenants
  deliveries: DeliveryStore
  validate: EventValidator
  clock: Clock
  maxEventBytes: number
  requireSubject: boolean
}

/** Records an event and its deliveries, and publishes it on the diagnostics channel. */
export async function dispatch (
  { tenants, deliveries, validate, clock, maxEventBytes, requireSubject }: Dependencies,
  event: EmittedEvent<EventCatalogue, string>,
  { transaction }: EmitOptions,
  traceParent: string | null
): Promise<EmitResult> {
  const { tenantSlug, type, data, occurredAt, idempotencyKey = null } = event
  assertTenantSlug(tenantSlug)
  const [subject = null, ...otherSubjects] = readSubjects(event, requireSubject)
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
    : hash('sha256', JSON.stringify([type, data, subject, occurredAt === undefined ? null : timestamp, ...otherSubjects]), 'hex')
  const { id: tenant } = await tenants.get(tenantSlug, transaction)
  const recorded = await deliveries.record(tenant, { id, type, body, subject, otherSubjects, tombstone, idempotencyKey, fingerprint, traceParent }, transaction)
  if (recorded.fingerprint !== fingerprint) {
    throw new RecruitingApiError('idempotency_conflict', 'idempotencyKey: was used before for a different event', 'idempotencyKey')
  }
  // A different id belongs to an earlier emit with the same key. Nothing was recorded now.
  if (recorded.id === id) publishEmit({ tenantSlug, eventId: id, eventType: type, deliveries: recorded.deliveries })
  return { id: recorded.id, deliveries: recorded.deliveries }
}
