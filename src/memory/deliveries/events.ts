import type {
  Delivery, DeliveryStore, NewEvent, RecordedEvent, ReplayResult, ReplaySelection
} from '../../ports/index.js'
import { createFilterTest } from '../../shared/fields.js'
import { refuseEvent, refuseTransaction } from '../checks.js'
import { assertAwake } from '../tenants.js'
import { findWebhook, notify, openTenant, type WebhookData } from '../webhook-data.js'
import { showDelivery } from './log.js'
import type { DeliveryRecord, EventRecord, WebhookRecord } from './records.js'

/** Everything that queues deliveries. */
export function createEvents (
  data: WebhookData
): Pick<DeliveryStore, 'record' | 'replay' | 'countReplay' | 'retry'> {
  return {
    record: async (tenant, event, transaction) => record(data, tenant, event, transaction),
    replay: async (tenant, webhookId, selection) => replay(data, tenant, webhookId, selection, true),
    countReplay: async (tenant, webhookId, selection) => replay(data, tenant, webhookId, selection, false),
    retry: async (tenant, webhookId, id) => retry(data, tenant, webhookId, id)
  }
}

/** Records an event and a delivery for each webhook that subscribes to its type and whose filters it matches. */
function record (data: WebhookData, tenant: string, event: NewEvent, transaction: unknown): RecordedEvent {
  refuseTransaction(transaction)
  assertAwake(data, tenant)
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

/** Selects events of a webhook and, unless they are only counted, queues them again. */
function replay (
  data: WebhookData, tenant: string, webhookId: number, selection: ReplaySelection, isQueued: boolean
): ReplayResult | null {
  const webhook = findWebhook(data, tenant, webhookId)
  if (webhook?.status !== 'active') return null
  const selected = [...data.events.values()].filter(createSelectionTest(webhook, selection))
  const events = selected.slice(0, selection.limit)
  if (isQueued) {
    const now = data.now()
    for (const event of events) addDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
    if (events.length > 0) notify(data)
  }
  return { queued: events.length, truncated: selected.length > selection.limit }
}

function createSelectionTest (webhook: WebhookRecord, selection: ReplaySelection): (event: EventRecord) => boolean {
  const { include, eventTypes } = selection
  const ids = selection.eventIds === null ? null : new Set(selection.eventIds)
  const types = webhook.eventTypes.filter((type) => eventTypes === null || eventTypes.includes(type))
  const since = selection.since === null ? Number.NEGATIVE_INFINITY : Date.parse(selection.since)
  const until = selection.until === null ? Number.POSITIVE_INFINITY : Date.parse(selection.until)

  return ({ tenant, event, recordedAt }) => {
    if (tenant !== webhook.tenant || !types.includes(event.type)) return false
    if (ids !== null && !ids.has(event.id)) return false
    if (recordedAt < since || recordedAt > until) return false
    const last = webhook.lastDeliveries.get(event.id)?.status
    const isWanted = include === 'all' ? last !== 'pending' : last === 'failed' || last === 'skipped'
    return isWanted && createFilterTest(event.body)(webhook.filters)
  }
}

/** Makes a delivery due now, or queues its event again. */
function retry (data: WebhookData, tenant: string, webhookId: number, id: number): Delivery | null {
  const webhook = findWebhook(data, tenant, webhookId)
  const delivery = data.deliveries.get(id)
  if (webhook?.status !== 'active' || delivery?.webhook !== webhook) return null

  const { event } = delivery
  const now = data.now()
  const last = webhook.lastDeliveries.get(event.event.id)
  const retried =
    last?.status === 'pending' ? last : addDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
  data.pending.hasten(retried, now)
  notify(data)
  return showDelivery(retried)
}

/** Adds a delivery of an event, due `now` if it is pending, and returns it. */
function addDelivery (
  data: WebhookData,
  event: EventRecord,
  webhook: WebhookRecord,
  { status, isReplay, now }: { status: 'pending' | 'skipped', isReplay: boolean, now: number }
): DeliveryRecord {
  const delivery: DeliveryRecord = {
    id: ++data.lastDeliveryId,
    event,
    webhook,
    isReplay,
    createdAt: now,
    attempts: [],
    status,
    isScheduled: false,
    nextAttemptAt: now,
    deliveredAt: null,
    fence: 0,
    lease: 'none',
    leaseExpiresAt: 0
  }
  data.deliveries.set(delivery.id, delivery)
  webhook.log.push(delivery)
  webhook.lastDeliveries.set(event.event.id, delivery)
  event.deliveriesLeft++
  if (status === 'pending') data.pending.add(delivery)
  return delivery
}
