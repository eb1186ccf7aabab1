import type {
  Delivery, DeliveryFilter, DeliveryStore, SubjectDelivery, TenantDeliveryStats
} from '../../../core/ports/index.js'
import { formatDateTime } from '../checks.js'
import { type RowTest, select, takePage } from '../sorting.js'
import { findWebhook, listWebhooks, type WebhookData } from '../webhook-data.js'
import { type DeliveryRecord, type EventRecord, hasSubject, isErased, isFailing } from './records.js'

export function createLog (
  data: WebhookData
): Pick<DeliveryStore, 'list' | 'count' | 'find' | 'listSubjectEvents' | 'stats' | 'tenantStats'> {
  return {
    async list (tenant, webhookId, { filter, sort: [first], offset, limit }) {
      // The log is sorted by creation, which is also the order of ids.
      const log = findWebhook(data, tenant, webhookId)?.log ?? []
      const sorted = first?.direction === 'desc' ? log.toReversed() : log
      return takePage(sorted, createTest(filter), { offset, limit }).map(showDelivery)
    },

    async count (tenant, webhookId, filter) {
      return select(findWebhook(data, tenant, webhookId)?.log ?? [], createTest(filter)).length
    },

    async find (tenant, webhookId, id, { omitBody = false } = {}) {
      const webhook = findWebhook(data, tenant, webhookId)
      const delivery = data.deliveries.get(id)
      if (delivery === undefined || delivery.webhook !== webhook) return null
      const body = omitBody ? '' : delivery.event.event.body
      return { ...showDelivery(delivery), body, attempts: structuredClone(delivery.attempts) }
    },

    async listSubjectEvents (tenant, subject, { after, limit }) {
      const found = [...data.events.values()]
        .filter((event) => event.tenant === tenant && event.position > after && hasSubject(event, subject))
        .slice(0, limit)
      const deliveries = new Map<EventRecord, SubjectDelivery[]>(found.map((event) => [event, []]))
      for (const delivery of data.deliveries.values()) {
        deliveries.get(delivery.event)?.push(showSubjectDelivery(delivery))
      }
      return [...deliveries].map(([record, sent]) => ({
        position: record.position,
        eventId: record.event.id,
        eventType: record.event.type,
        recordedAt: formatDateTime(record.recordedAt),
        isErased: isErased(record),
        deliveries: sent
      }))
    },

    async stats () {
      const { suspended } = data.pending
      return {
        ...data.pending.stats(data.now()), atLeast: { pending: false, due: false }, suspendedTenants: suspended.size
      }
    },

    async tenantStats (tenant) {
      return readTenantStats(data, tenant)
    }
  }
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
    response_status: last?.response_status ?? null,
    error: last?.error ?? null,
    detail: last?.detail ?? null,
    next_attempt_at: status === 'pending' ? formatDateTime(nextAttemptAt) : null,
    created_at: formatDateTime(createdAt),
    delivered_at: deliveredAt === null ? null : formatDateTime(deliveredAt)
  }
}

function showSubjectDelivery ({ id, webhook, status, deliveredAt, attempts }: DeliveryRecord): SubjectDelivery {
  return {
    deliveryId: id,
    webhookId: webhook.id,
    webhookName: webhook.isDeleted ? null : webhook.name,
    targetUrl: webhook.isDeleted ? null : webhook.targetUrl,
    status,
    deliveredAt: deliveredAt === null ? null : formatDateTime(deliveredAt),
    attempts: attempts.map(({ started_at: startedAt, response_status: responseStatus, error }) =>
      ({ startedAt, responseStatus, error }))
  }
}

const hourMs = 3_600_000

function readTenantStats (data: WebhookData, tenant: string): TenantDeliveryStats {
  const now = data.now()
  const webhooks = listWebhooks(data, tenant)
  const { pending, oldestDueMs } = data.pending.stats(now, new Set(webhooks))
  const ended = webhooks.flatMap(({ log }) => log).filter(({ attempts }) => {
    const last = attempts.at(-1)
    return last !== undefined && Date.parse(last.started_at) + last.duration_ms > now - hourMs
  })
  const count = (status: DeliveryRecord['status']): number =>
    ended.filter((delivery) => delivery.status === status).length
  const suspendedAt = data.pending.suspended.get(tenant)
  return {
    pending,
    oldestDueMs,
    failing: webhooks.filter((webhook) => webhook.subscription === null && isFailing(webhook)).length,
    delivered: count('delivered'),
    failed: count('failed'),
    atLeast: { pending: false, delivered: false, failed: false },
    suspendedSince: suspendedAt === undefined ? null : formatDateTime(suspendedAt)
  }
}
