import type { DeliveryStore, SubjectDelivery } from 'fastify-recruiting-api'
import type { Context } from '../storage.js'
import { toIso } from '../webhooks.js'
import { hasSubject } from './record.js'

/** Lists events with a subject and where they were sent. */
export function createSubjects ({ db }: Context): Pick<DeliveryStore, 'listSubjectEvents'> {
  async function listDeliveries (eventId: string): Promise<SubjectDelivery[]> {
    const deliveries = await db.selectFrom('deliveries as d').leftJoin('webhooks as w', 'w.id', 'd.webhook_id')
      .select(['d.id', 'd.webhook_id', 'd.status', 'd.delivered_at', 'w.name', 'w.target_url'])
      .where('d.event_id', '=', eventId).orderBy('d.id').execute()
    return Promise.all(deliveries.map(async (delivery) => {
      const attempts = await db.selectFrom('attempts').select(['started_at', 'response_status', 'error'])
        .where('delivery_id', '=', delivery.id).orderBy('rowid' as 'started_at').execute()
      return {
        deliveryId: delivery.id,
        webhookId: delivery.webhook_id,
        webhookName: delivery.name,
        targetUrl: delivery.target_url,
        status: delivery.status,
        deliveredAt: delivery.delivered_at === null ? null : toIso(delivery.delivered_at),
        attempts: attempts.map(({ started_at: startedAt, response_status: responseStatus, error }) =>
          ({ startedAt: toIso(startedAt), responseStatus, error: error as SubjectDelivery['attempts'][number]['error'] }))
      }
    }))
  }

  return {
    async listSubjectEvents (tenant, subject, { after, limit }) {
      const events = await db.selectFrom('events').select(['position', 'id', 'type', 'recorded_at', 'body', 'tombstone'])
        .where('tenant', '=', tenant).where(hasSubject(subject)).where('position', '>', after).orderBy('position').limit(limit).execute()
      return Promise.all(events.map(async ({ position, id, type, recorded_at: recordedAt, body, tombstone }) => ({
        position,
        eventId: id,
        eventType: type,
        recordedAt: toIso(recordedAt),
        isErased: body === (tombstone ?? ''),
        deliveries: await listDeliveries(id)
      })))
    }
  }
}
