import type {
  Attempt, Delivery, DeliveryFilter, DeliverySortField, DeliveryWithAttempts, ListQuery, SortItem, TenantDeliveryStats
} from '../../ports/index.js'
import { formatDateTime } from '../checks.js'
import { countRows, type RowTest, takePage } from '../lists/page.js'
import type { WebhookData } from '../webhook-data.js'
import type { AttemptRecord, DeliveryRecord, WebhookRecord } from './records.js'

export function listLog (
  { log }: WebhookRecord,
  { filter, sort, offset, limit }: ListQuery<DeliveryFilter, DeliverySortField>
): Delivery[] {
  return takePage(sortLog(log, sort), createTest(filter), { offset, limit }).map(showDelivery)
}

export function countLog ({ log }: WebhookRecord, filter: DeliveryFilter): number {
  return countRows(log, createTest(filter))
}

export function showDeliveryWithAttempts (delivery: DeliveryRecord): DeliveryWithAttempts {
  return { ...showDelivery(delivery), body: delivery.event.event.body, attempts: delivery.attempts.map(showAttempt) }
}

// The log is in the order of creation, which is the order of ids.
function sortLog (
  log: readonly DeliveryRecord[],
  [first]: ReadonlyArray<SortItem<DeliverySortField>>
): readonly DeliveryRecord[] {
  return first?.direction === 'desc' ? log.toReversed() : log
}

function createTest ({ status, eventType, eventId }: DeliveryFilter): RowTest<DeliveryRecord> {
  if (status === undefined && eventType === undefined && eventId === undefined) return null
  return (delivery) =>
    (status === undefined || delivery.status === status) &&
    (eventType === undefined || delivery.event.event.type === eventType) &&
    (eventId === undefined || delivery.event.event.id === eventId)
}

export function showDelivery (delivery: DeliveryRecord): Delivery {
  const { id, event: { event }, status, attempts, nextAttemptAt, createdAt, deliveredAt } = delivery
  const last = attempts.at(-1)
  return {
    id,
    event_id: event.id,
    event_type: event.type,
    status,
    attempt_count: attempts.length,
    response_status: last?.responseStatus ?? null,
    error: last?.error ?? null,
    next_attempt_at: status === 'pending' ? formatDateTime(nextAttemptAt) : null,
    created_at: formatDateTime(createdAt),
    delivered_at: deliveredAt === null ? null : formatDateTime(deliveredAt)
  }
}

function showAttempt ({ startedAt, durationMs, responseStatus, error, responseExcerpt }: AttemptRecord): Attempt {
  return {
    started_at: formatDateTime(startedAt),
    duration_ms: durationMs,
    response_status: responseStatus,
    error,
    response_excerpt: responseExcerpt
  }
}

const hourMs = 3_600_000

/** Reads the figures of a tenant. */
export function readTenantStats ({ tenants, pending }: WebhookData, tenant: string, now: number): TenantDeliveryStats {
  const webhooks = [...tenants.get(tenant)?.webhooks.values() ?? []]
  const ended = webhooks.flatMap(({ log }) => log).filter((delivery) => endOf(delivery) > now - hourMs)
  const count = (status: DeliveryRecord['status']): number =>
    ended.filter((delivery) => delivery.status === status).length
  return {
    ...pending.tenantStats(new Set(webhooks), now),
    failing: webhooks.filter(
      ({ status, failingSince }) => status === 'disabled' || (status === 'active' && failingSince !== null)
    ).length,
    delivered: count('delivered'),
    failed: count('failed'),
    atLeast: { pending: false, delivered: false, failed: false }
  }
}

/** When the last attempt ended. */
function endOf ({ attempts }: DeliveryRecord): number {
  const last = attempts.at(-1)
  return last === undefined ? Number.NEGATIVE_INFINITY : last.startedAt + last.durationMs
}
