import type { Delivery } from '../../ports/index.js'
import { showDelivery } from './log.js'
import { addDelivery, findWebhook, notify } from '../webhook-data.js'
import type { WebhookData } from '../webhook-data.js'

/** Makes a delivery due now, or queues its event again. */
export function retry (data: WebhookData, tenantSlug: string, webhookId: number, id: number): Delivery | null {
  const webhook = findWebhook(data, tenantSlug, webhookId)
  const delivery = data.deliveries.get(id)
  if (webhook?.status !== 'active' || delivery?.webhook !== webhook) return null

  const { event } = delivery
  const now = data.now()
  const last = webhook.lastDeliveries.get(event.event.id)
  const retried = last?.status === 'pending' ? last : addDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
  data.pending.hasten(retried, now)
  notify(data)
  return showDelivery(retried)
}
