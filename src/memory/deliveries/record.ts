import { RecruitingApiError } from '../../errors.js'
import type { NewEvent, RecordedEvent } from '../../ports/index.js'
import type { EventRecord } from './records.js'
import { addDelivery, notify, openTenant } from '../webhook-data.js'
import type { WebhookData } from '../webhook-data.js'

/** Records an event and a delivery for each webhook that subscribes to its type. */
export function record (data: WebhookData, tenantSlug: string, event: NewEvent, transaction: unknown): RecordedEvent {
  refuseTransaction(transaction)
  const { webhooks, eventsByKey } = openTenant(data, tenantSlug)
  const earlier = event.idempotencyKey === null ? undefined : eventsByKey.get(event.idempotencyKey)
  if (earlier !== undefined) return showRecorded(earlier)
  if (data.events.has(event.id)) refuse('id', 'belongs to another event')

  // One time for both, because replays select events by the time that the log shows.
  const now = data.now()
  const recorded = createEventRecord(event, tenantSlug, now)
  data.events.set(event.id, recorded)
  if (event.idempotencyKey !== null) eventsByKey.set(event.idempotencyKey, recorded)

  for (const webhook of webhooks.values()) {
    if (!webhook.eventTypes.includes(event.type)) continue
    const isActive = webhook.status === 'active'
    if (isActive) recorded.deliveries++
    addDelivery(data, recorded, webhook, { status: isActive ? 'pending' : 'skipped', isReplay: false, now })
  }
  if (recorded.deliveries > 0) notify(data)
  return showRecorded(recorded)
}

/** Throws `invalid_event` for a transaction: memory cannot be rolled back with it. */
export function refuseTransaction (transaction: unknown): void {
  if (transaction !== undefined) refuse('transaction', 'the memory storage has no transactions')
}

function createEventRecord (event: NewEvent, tenantSlug: string, recordedAt: number): EventRecord {
  return { event: { ...event }, tenantSlug, recordedAt, deliveries: 0, deliveriesLeft: 0 }
}

function showRecorded ({ event, deliveries }: EventRecord): RecordedEvent {
  return { id: event.id, deliveries, fingerprint: event.fingerprint }
}

function refuse (field: string, problem: string): never {
  throw new RecruitingApiError('invalid_event', `${field}: ${problem}`, field)
}
