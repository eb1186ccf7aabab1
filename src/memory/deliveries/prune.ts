import type { DeliveryRecord, WebhookRecord } from './records.js'
import type { WebhookData } from '../webhook-data.js'

const dayMs = 86_400_000

/** Deletes old ended deliveries, then old events without deliveries, at most `limit` of each. */
export function prune (data: WebhookData, { retentionDays, limit }: { retentionDays: number, limit: number }): number {
  const before = data.now() - retentionDays * dayMs
  return pruneDeliveries(data, before, limit) + pruneEvents(data, before, limit)
}

function pruneDeliveries ({ deliveries }: WebhookData, before: number, limit: number): number {
  const touched = new Set<WebhookRecord>()
  let count = 0
  for (const delivery of deliveries.values()) {
    if (count === limit) break
    if (delivery.status === 'pending' || delivery.createdAt >= before) continue
    deliveries.delete(delivery.id)
    forget(delivery)
    touched.add(delivery.webhook)
    count++
  }
  for (const webhook of touched) webhook.log = webhook.log.filter(({ id }) => deliveries.has(id))
  return count
}

function forget ({ event, webhook: { lastDeliveries }, id }: DeliveryRecord): void {
  event.deliveriesLeft--
  if (lastDeliveries.get(event.event.id)?.id === id) lastDeliveries.delete(event.event.id)
}

function pruneEvents ({ events, tenants }: WebhookData, before: number, limit: number): number {
  let count = 0
  for (const { event, tenantSlug, recordedAt, deliveriesLeft } of events.values()) {
    if (count === limit) break
    if (deliveriesLeft > 0 || recordedAt >= before) continue
    events.delete(event.id)
    if (event.idempotencyKey !== null) tenants.get(tenantSlug)?.eventsByKey.delete(event.idempotencyKey)
    count++
  }
  return count
}
