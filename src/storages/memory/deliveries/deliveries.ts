import type {
  AnswerToStore, Delivery, DeliveryStore, ErasedEvents, NewEvent, RecordedEvent, ReplayResult, ReplaySelection
} from '../../../core/ports/index.js'
import { createFilterTest } from '../../../core/shared/fields.js'
import { rejectEvent, rejectTransaction } from '../checks.js'
import { deleteRequests, storeAnswer } from '../idempotency.js'
import { findWebhook, notify, openTenant, type WebhookData } from '../webhook-data.js'
import { assertAwake } from '../webhooks.js'
import { createAttempts } from './attempts.js'
import { createLog, showDelivery } from './log.js'
import {
  addSequence, type DeliveryRecord, type EventRecord, hasSubject, nextSequence, type WebhookRecord
} from './records.js'

export function createDeliveryStore (data: WebhookData): DeliveryStore {
  return {
    database: data,
    ...createAttempts(data, (tenant, event, except) => { record(data, tenant, event, undefined, except) }),
    ...createLog(data),
    record: async (tenant, event, transaction) => record(data, tenant, event, transaction),
    replay: async (tenant, webhookId, selection, answer) => {
      const selected = select(data, tenant, webhookId, selection)
      if (selected === null) return null
      const { webhook, events, result } = selected
      storeAnswer(data, tenant, answer, result)
      const now = data.now()
      for (const event of events) addDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
      if (events.length > 0) notify(data)
      return result
    },
    countReplay: async (tenant, webhookId, selection) => select(data, tenant, webhookId, selection)?.result ?? null,
    retry: async (tenant, webhookId, id, answer) => retry(data, tenant, webhookId, id, answer),
    prune: async (options) => prune(data, options),
    erase: async (tenant, subject, transaction) => erase(data, tenant, subject, transaction)
  }
}

/** Records an event and a delivery for each webhook that subscribes to its type and whose filters it matches. */
function record (
  data: WebhookData, tenant: string, event: NewEvent, transaction: unknown, except?: WebhookRecord
): RecordedEvent {
  rejectTransaction(transaction)
  assertAwake(data, tenant)
  const own = openTenant(data, tenant)
  const { webhooks, eventsByKey } = own
  const earlier = event.idempotencyKey === null ? undefined : eventsByKey.get(event.idempotencyKey)
  if (earlier !== undefined) return showRecorded(earlier)
  if (data.events.has(event.id)) rejectEvent('id', 'belongs to another event')

  // The event and its deliveries have the same time, because replays select events by the time in the log.
  const now = data.now()
  own.lastSequence = nextSequence(own.lastSequence, now)
  const recorded: EventRecord = {
    event: { ...addSequence(event, own.lastSequence), otherSubjects: [...event.otherSubjects ?? []] },
    tenant,
    position: ++data.lastEventPosition,
    recordedAt: now,
    deliveries: 0,
    deliveriesLeft: 0
  }
  data.events.set(event.id, recorded)
  if (event.idempotencyKey !== null) eventsByKey.set(event.idempotencyKey, recorded)

  const isMatch = createFilterTest(recorded.event.body)
  for (const webhook of webhooks.values()) {
    const isWanted = webhook !== except && webhook.subscription === null && webhook.eventTypes.includes(event.type)
    if (!isWanted || !isMatch(webhook.filters, webhook.changed)) continue
    const isActive = webhook.status === 'active'
    if (isActive) recorded.deliveries++
    addDelivery(data, recorded, webhook, { status: isActive ? 'pending' : 'skipped', isReplay: false, now })
  }
  if (recorded.deliveries > 0) notify(data)
  return showRecorded(recorded)
}

function showRecorded ({ event, deliveries }: EventRecord): RecordedEvent {
  return { id: event.id, deliveries, fingerprint: event.fingerprint }
}

function select (
  data: WebhookData, tenant: string, webhookId: number, selection: ReplaySelection
): { webhook: WebhookRecord, events: EventRecord[], result: ReplayResult } | null {
  const webhook = findWebhook(data, tenant, webhookId)
  if (webhook?.status !== 'active' || webhook.subscription !== null) return null
  const selected = [...data.events.values()].filter(createSelectionTest(webhook, selection))
  const events = selected.slice(0, selection.limit)
  return { webhook, events, result: { queued: events.length, truncated: selected.length > selection.limit } }
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
    return isWanted && !isAboutHealth(event, webhook) && createFilterTest(event.body)(webhook.filters, webhook.changed)
  }
}

function isAboutHealth ({ type, body }: NewEvent, { id }: WebhookRecord): boolean {
  return (type === 'webhook.failing' || type === 'webhook.disabled') && body.endsWith(`,"data":{"webhook_id":${id}}}`)
}

/** Makes a delivery due now, or queues its event again. */
function retry (
  data: WebhookData, tenant: string, webhookId: number, id: number, answer: AnswerToStore<Delivery> | undefined
): Delivery | null {
  const webhook = findWebhook(data, tenant, webhookId)
  const delivery = data.deliveries.get(id)
  if (webhook?.status !== 'active' || webhook.subscription !== null || delivery?.webhook !== webhook) return null

  const { event } = delivery
  const now = data.now()
  const last = webhook.lastDeliveries.get(event.event.id)
  const isPending = last?.status === 'pending'
  const retried = isPending ? last : createDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
  const shown = showDelivery({ ...retried, ...data.pending.planHaste(retried, now) })
  storeAnswer(data, tenant, answer, shown)
  if (!isPending) add(data, retried)
  data.pending.hasten(retried, now)
  notify(data)
  return shown
}

interface NewDelivery { status: 'pending' | 'skipped', isReplay: boolean, now: number }

/** Adds a delivery of an event. A pending delivery is due `now`. */
export function addDelivery (data: WebhookData, event: EventRecord, webhook: WebhookRecord, given: NewDelivery): void {
  add(data, createDelivery(data, event, webhook, given))
}

function createDelivery (
  data: WebhookData, event: EventRecord, webhook: WebhookRecord, { status, isReplay, now }: NewDelivery
): DeliveryRecord {
  return {
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
}

function add (data: WebhookData, delivery: DeliveryRecord): void {
  const { event, webhook } = delivery
  data.deliveries.set(delivery.id, delivery)
  webhook.log.push(delivery)
  webhook.lastDeliveries.set(event.event.id, delivery)
  event.deliveriesLeft++
  if (delivery.status === 'pending') data.pending.add(delivery)
}

/** Replaces a subject's events with tombstones, cancels their pending deliveries and erases their responses. */
function erase (data: WebhookData, tenant: string, subject: string, transaction: unknown): ErasedEvents {
  rejectTransaction(transaction)
  const erased = new Set<EventRecord>()
  for (const record of data.events.values()) {
    if (record.tenant !== tenant || !hasSubject(record, subject)) continue
    record.event = { ...record.event, body: record.event.tombstone ?? '' }
    erased.add(record)
  }
  for (const delivery of data.deliveries.values()) {
    if (!erased.has(delivery.event)) continue
    for (const attempt of delivery.attempts) attempt.response_excerpt = null
    if (delivery.status !== 'pending') continue
    data.pending.stop(delivery)
    delivery.status = 'cancelled'
  }
  return { events: erased.size, truncated: false }
}

const dayMs = 86_400_000

/** Deletes old ended deliveries, then old events without deliveries, and expired requests: at most `limit` of each. */
function prune (data: WebhookData, { retentionDays, limit }: { retentionDays: number, limit: number }): number {
  const now = data.now()
  const before = now - retentionDays * dayMs
  data.pending.expireLeases(now)
  return pruneDeliveries(data, before, limit) + pruneEvents(data, before, limit) +
    deleteRequests(data, ({ expiresAt }) => expiresAt <= now, limit)
}

function pruneDeliveries ({ deliveries, pending }: WebhookData, before: number, limit: number): number {
  const lastIds = new Map<WebhookRecord, number>()
  let count = 0
  for (const delivery of deliveries.values()) {
    if (count === limit) break
    const { id, status, lease, createdAt, event, webhook } = delivery
    const isPending = status === 'pending'
    if (createdAt >= before || (isPending && (lease === 'held' || !pending.suspended.has(webhook.tenant)))) continue
    if (isPending) pending.remove(delivery)
    deliveries.delete(id)
    event.deliveriesLeft--
    if (webhook.lastDeliveries.get(event.event.id) === delivery) webhook.lastDeliveries.delete(event.event.id)
    lastIds.set(webhook, id)
    count++
  }
  for (const [webhook, lastId] of lastIds) {
    // The log is sorted by id, and may be long.
    const kept = webhook.log.findIndex(({ id }) => id > lastId)
    const rest = kept === -1 ? [] : webhook.log.splice(kept)
    webhook.log = webhook.log.filter(({ id }) => deliveries.has(id)).concat(rest)
  }
  return count
}

function pruneEvents (data: WebhookData, before: number, limit: number): number {
  const { events, tenants } = data
  let count = 0
  for (const { event, tenant, position, recordedAt, deliveriesLeft } of events.values()) {
    if (count === limit) break
    if (deliveriesLeft > 0 || recordedAt >= before) continue
    events.delete(event.id)
    data.prunedEventPosition = Math.max(data.prunedEventPosition, position)
    if (event.idempotencyKey !== null) tenants.get(tenant)?.eventsByKey.delete(event.idempotencyKey)
    count++
  }
  return count
}
