import type { SubjectAttempt, SubjectDelivery, SubjectEvent } from '../../ports/index.js'
import { formatDateTime } from '../checks.js'
import type { WebhookData } from '../webhook-data.js'
import { type AttemptRecord, type DeliveryRecord, type EventRecord, hasSubject } from './records.js'

/** Lists events with a subject, with their deliveries. */
export function listSubjectEvents (
  data: WebhookData, tenant: string, subject: string, { after, limit }: { after: number, limit: number }
): SubjectEvent[] {
  const found = [...data.events.values()]
    .filter((event) => event.tenant === tenant && event.position > after && hasSubject(event, subject))
    .slice(0, limit)
  const deliveries = new Map<EventRecord, SubjectDelivery[]>(found.map((event) => [event, []]))
  for (const delivery of data.deliveries.values()) deliveries.get(delivery.event)?.push(showDelivery(delivery))
  return [...deliveries].map(([event, sent]) => showEvent(event, sent))
}

function showEvent (
  { position, recordedAt, event: { id, type, body, tombstone } }: EventRecord,
  deliveries: SubjectDelivery[]
): SubjectEvent {
  const isErased = body === (tombstone ?? '')
  return { position, eventId: id, eventType: type, recordedAt: formatDateTime(recordedAt), isErased, deliveries }
}

function showDelivery ({ id, webhook, status, deliveredAt, attempts }: DeliveryRecord): SubjectDelivery {
  return {
    deliveryId: id,
    webhookId: webhook.id,
    webhookName: webhook.isDeleted ? null : webhook.name,
    targetUrl: webhook.isDeleted ? null : webhook.targetUrl,
    status,
    deliveredAt: deliveredAt === null ? null : formatDateTime(deliveredAt),
    attempts: attempts.map(showAttempt)
  }
}

function showAttempt ({ startedAt, responseStatus, error }: AttemptRecord): SubjectAttempt {
  return { startedAt: formatDateTime(startedAt), responseStatus, error }
}
