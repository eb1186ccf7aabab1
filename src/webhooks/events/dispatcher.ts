import { hash, randomUUID } from 'node:crypto'
import { RecruitingApiError } from '../../errors.js'
import type { Clock, DeliveryStore } from '../../ports/index.js'
import { readTenant } from '../../shared/tenant-reference.js'
import type { Tenants } from '../../shared/tenants.js'
import { publishEmit } from '../listeners.js'
import type { EmitOptions, EmitResult, EmittedEvent } from '../recruiting.js'
import { assertSize, assertText, formatData, readOccurredAt, readSubjects } from './arguments.js'
import type { EventCatalogue, EventValidator } from './catalogue.js'

/**
 * Generates an event id: `evt_` and 32 hexadecimal digits. The first 12 are the time, so that new ids are adjacent in
 * an index; the others are random.
 */
export function generateEventId (nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0')
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
  const { type, data, occurredAt, idempotencyKey = null } = event
  const reference = readTenant(event, 'invalid_event')
  const [subject = null, ...otherSubjects] = readSubjects(event, requireSubject)
  if (idempotencyKey !== null) assertText('idempotencyKey', idempotencyKey)
  validate(type, data)
  const timestamp = occurredAt === undefined ? new Date(clock.now()).toISOString() : readOccurredAt(occurredAt)
  const id = generateEventId(clock.now())
  // Before the lookup, during which the caller may change the data.
  const end = formatData({ data })
  const fingerprint =
    idempotencyKey === null
      ? ''
      : hash(
        'sha256',
        JSON.stringify([type, data, subject, occurredAt === undefined ? null : timestamp, ...otherSubjects]),
        'hex'
      )
  const tenant = await tenants.get(reference, transaction)
  const begin = JSON.stringify({ id, type, timestamp, tenant_slug: tenant.slug })
  const body = joinObjects(begin, end)
  assertSize(body, maxEventBytes)
  const tombstone = subject === null ? null : joinObjects(begin, '{"data":null,"erased":true}')
  const recorded = await deliveries.record(tenant.id, {
    id, type, body, subject, otherSubjects, tombstone, idempotencyKey, fingerprint, traceParent
  }, transaction)
  if (recorded.fingerprint !== fingerprint) {
    throw new RecruitingApiError(
      'idempotency_conflict',
      'idempotencyKey: was used before for a different event',
      'idempotencyKey'
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
