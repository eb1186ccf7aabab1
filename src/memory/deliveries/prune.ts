import type { ErasedEvents } from '../../ports/index.js'
import type { WebhookData } from '../webhook-data.js'
import { refuseTransaction } from '../checks.js'
import { deleteRequests } from '../idempotency.js'
import { type DeliveryRecord, type EventRecord, hasSubject, type WebhookRecord } from './records.js'

/**
 * Replaces the events of a subject with their tombstones and cancels their pending deliveries. Erases the responses
 * too.
 */
export function erase (data: WebhookData, tenant: string, subject: string, transaction: unknown): ErasedEvents {
  refuseTransaction(transaction)
  const erased = new Set<EventRecord>()
  for (const record of data.events.values()) {
    if (record.tenant !== tenant || !hasSubject(record, subject)) continue
    record.event = { ...record.event, body: record.event.tombstone ?? '' }
    erased.add(record)
  }
  for (const delivery of data.deliveries.values()) {
    if (!erased.has(delivery.event)) continue
    for (const attempt of delivery.attempts) attempt.responseExcerpt = null
    if (delivery.status !== 'pending') continue
    data.pending.stop(delivery)
    delivery.status = 'cancelled'
  }
  return { events: erased.size, truncated: false }
}

const dayMs = 86_400_000

/** Deletes old ended deliveries, then old events without deliveries, and expired requests: at most `limit` of each. */
export function prune (data: WebhookData, { retentionDays, limit }: { retentionDays: number, limit: number }): number {
  const now = data.now()
  const before = now - retentionDays * dayMs
  return pruneDeliveries(data, before, limit) + pruneEvents(data, before, limit) +
    deleteRequests(data, ({ expiresAt }) => expiresAt <= now, limit)
}

function pruneDeliveries ({ deliveries }: WebhookData, before: number, limit: number): number {
  const lastIds = new Map<WebhookRecord, number>()
  let count = 0
  for (const delivery of deliveries.values()) {
    if (count === limit) break
    if (delivery.status === 'pending' || delivery.createdAt >= before) continue
    deliveries.delete(delivery.id)
    forget(delivery)
    lastIds.set(delivery.webhook, delivery.id)
    count++
  }
  for (const [webhook, lastId] of lastIds) {
    // The log is in the order of ids, and may be long.
    const kept = webhook.log.findIndex(({ id }) => id > lastId)
    const rest = kept === -1 ? [] : webhook.log.splice(kept)
    webhook.log = webhook.log.filter(({ id }) => deliveries.has(id)).concat(rest)
  }
  return count
}

function forget ({ event, webhook: { lastDeliveries }, id }: DeliveryRecord): void {
  event.deliveriesLeft--
  if (lastDeliveries.get(event.event.id)?.id === id) lastDeliveries.delete(event.event.id)
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
