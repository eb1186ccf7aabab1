import { addDelivery, findWebhook } from '../../../src/memory/webhook-data.js'
import { showDelivery } from '../../../src/memory/deliveries/log.js'
import { type RightStorage, testMistakes } from '../../fixtures/delivery/broken-storage.js'

/** Queues the event of a delivery once more, whatever became of it. */
function queueAgain ({ data }: RightStorage, webhookId: number, id: number) {
  const delivery = data.deliveries.get(id)
  const webhook = findWebhook(data, 'acme', webhookId)
  if (delivery === undefined || webhook?.status !== 'active') return null
  return showDelivery(addDelivery(data, delivery.event, webhook, { status: 'pending', isReplay: true, now: data.now() }))
}

testMistakes([
  {
    storage: 'queues the event of a waiting delivery once more',
    caughtBy: 'a delivery that waits for its next attempt becomes due now, and its attempts count on',
    breaks: (right) => ({ deliveries: { retry: async (_tenantSlug, webhookId, id) => queueAgain(right, webhookId, id) } })
  },
  {
    storage: 'ends the lease of a delivery to retry it',
    caughtBy: 'retrying a delivery that is due or leased changes nothing',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async retry (tenantSlug, webhookId, id) {
          await deliveries.release([{ webhookId, deliveryId: id, fence: data.deliveries.get(id)?.fence ?? 0 }])
          return deliveries.retry(tenantSlug, webhookId, id)
        }
      }
    })
  },
  {
    storage: 'returns a delivery that an erasure holds as cancelled',
    caughtBy: 'retrying a delivery that an open transaction erases does not wait for it',
    isSlow: true,
    breaks: ({ deliveries }) => ({
      deliveries: {
        async retry (tenantSlug, webhookId, id) {
          await deliveries.erase(tenantSlug, 'candidate:1')
          const delivery = await deliveries.find(tenantSlug, webhookId, id)
          return delivery
        }
      }
    })
  },
  {
    storage: 'retries only events that the webhook subscribes to',
    caughtBy: 'retrying an ended delivery queues its event again, whatever became of it',
    breaks: ({ deliveries, webhooks }) => ({
      deliveries: {
        async retry (tenantSlug, webhookId, id) {
          const webhook = await webhooks.find(tenantSlug, webhookId)
          const delivery = await deliveries.find(tenantSlug, webhookId, id)
          const isSubscribed = delivery !== null && webhook?.event_types.includes(delivery.event_type)
          return isSubscribed ? deliveries.retry(tenantSlug, webhookId, id) : null
        }
      }
    })
  },
  {
    storage: 'queues an event that is pending again',
    caughtBy: 'retrying an ended delivery whose event is pending again retries the pending one',
    breaks: (right) => ({
      deliveries: {
        async retry (tenantSlug, webhookId, id) {
          const delivery = await right.deliveries.find(tenantSlug, webhookId, id)
          return delivery?.status === 'pending' ? right.deliveries.retry(tenantSlug, webhookId, id) : queueAgain(right, webhookId, id)
        }
      }
    })
  },
  {
    storage: 'retries deliveries of inactive webhooks',
    caughtBy: 'a delivery of a webhook that is not active is not retried, and neither is an unknown one',
    breaks: ({ deliveries }) => ({
      deliveries: {
        retry: async (tenantSlug, webhookId, id) => await deliveries.retry(tenantSlug, webhookId, id) ?? deliveries.find(tenantSlug, webhookId, id)
      }
    })
  },
  {
    storage: 'retries deliveries of other tenants',
    caughtBy: 'a delivery of another webhook or tenant is not retried',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async retry (_tenantSlug, _webhookId, id) {
          const webhook = data.deliveries.get(id)?.webhook
          return webhook === undefined ? null : deliveries.retry(webhook.tenantSlug, webhook.id, id)
        }
      }
    })
  },
  {
    storage: 'looks for a pending delivery and queues one in two steps',
    caughtBy: 'of several concurrent retries of an ended delivery, exactly one queues its event',
    breaks: (right) => ({
      deliveries: {
        async retry (tenantSlug, webhookId, id) {
          const delivery = await right.deliveries.find(tenantSlug, webhookId, id)
          const pending = await right.deliveries.count(tenantSlug, webhookId, { status: 'pending' })
          return pending > 0 || delivery === null ? right.deliveries.retry(tenantSlug, webhookId, id) : queueAgain(right, webhookId, id)
        }
      }
    })
  }
])
