import { refuseTransaction } from './record.js'
import type { EventRecord } from './records.js'
import type { WebhookData } from '../webhook-data.js'

/** Replaces the events of a subject with their tombstones and cancels their pending deliveries. Erases the responses too. */
export function erase (data: WebhookData, tenantSlug: string, subject: string, transaction: unknown): number {
  refuseTransaction(transaction)
  const erased = new Set<EventRecord>()
  for (const record of data.events.values()) {
    if (record.tenantSlug !== tenantSlug || record.event.subject !== subject) continue
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
  return erased.size
}
