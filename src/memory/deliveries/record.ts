import type { NewEvent, RecordedEvent } from '../../ports/index.js'
import { createFilterTest } from '../../shared/filters.js'
import { refuseEvent, refuseTransaction } from '../checks.js'
import type { EventRecord } from './records.js'
import { addDelivery, notify, openTenant, type WebhookData } from '../webhook-data.js'

/** Records an event and a delivery for each webhook that subscribes to its type and whose filters it matches. */
export function record (data: WebhookData, tenant: string, event: NewEvent, transaction: unknown): RecordedEvent {
  refuseTransaction(transaction)
  data.resting.assertAwake(tenant)
  const { webhooks, eventsByKey } = openTenant(data, tenant)
  const earlier = event.idempotencyKey === null ? undefined : eventsByKey.get(event.idempotencyKey)
  if (earlier !== undefined) return showRecorded(earlier)
  if (data.events.has(event.id)) refuseEvent('id', 'belongs to another event')

  // One time for both, because replays select events by the time that the log shows.
  const now = data.now()
  const recorded = createEventRecord(event, tenant, { now, position: ++data.lastEventPosition })
  data.events.set(event.id, recorded)
  if (event.idempotencyKey !== null) eventsByKey.set(event.idempotencyKey, recorded)

  const isMatch = createFilterTest(event.body)
  for (const webhook of webhooks.values()) {
    if (!webhook.eventTypes.includes(event.type) || !isMatch(webhook.filters)) continue
    const isActive = webhook.status === 'active'
    if (isActive) recorded.deliveries++
    addDelivery(data, recorded, webhook, { status: isActive ? 'pending' : 'skipped', isReplay: false, now })
  }
  if (recorded.deliveries > 0) notify(data)
  return showRecorded(recorded)
}

function createEventRecord (
  event: NewEvent,
  tenant: string,
  { now, position }: { now: number; position: number }
): EventRecord {
  const otherSubjects = [...(event.otherSubjects ?? [])]
  return { event: { ...event, otherSubjects }, tenant, position, recordedAt: now, deliveries: 0, deliveriesLeft: 0 }
}

function showRecorded ({ event, deliveries }: EventRecord): RecordedEvent {
  return { id: event.id, deliveries, fingerprint: event.fingerprint }
}
