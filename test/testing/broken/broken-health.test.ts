import { findWebhook } from '../../../src/memory/webhook-data.js'
import type { WebhookHealth } from '../../../src/ports/index.js'
import { type Mistake, testMistakes } from '../../fixtures/delivery/broken-storage.js'

/** Shows another health than the right one. */
function shows (change: (health: WebhookHealth) => Partial<WebhookHealth>): Mistake['breaks'] {
  return ({ webhooks }) => ({
    webhooks: {
      async findHealth (tenantSlug, id) {
        const health = await webhooks.findHealth(tenantSlug, id)
        return health && { ...health, ...change(health) }
      }
    }
  })
}

testMistakes([
  {
    storage: 'counts retried attempts as failed deliveries',
    caughtBy: 'a webhook is failing from its first failed attempt until its next success',
    breaks: shows(({ failing_since: since, failed_deliveries: failed }) => ({ failed_deliveries: since === null ? failed : failed + 1 }))
  },
  {
    storage: 'moves failing_since with each failure',
    caughtBy: 'a webhook is failing from its first failed attempt until its next success',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const left = await deliveries.recordAttempts(results, rule)
          for (const { deliveryId } of results) {
            const webhook = data.deliveries.get(deliveryId)?.webhook
            if (webhook !== undefined && webhook.failingSince !== null) webhook.failingSince = data.now()
          }
          return left
        }
      }
    })
  },
  {
    storage: 'shows a pause that is over',
    caughtBy: 'a pause is shown until it ends',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async findHealth (tenantSlug, id) {
          const health = await webhooks.findHealth(tenantSlug, id)
          const until = findWebhook(data, tenantSlug, id)?.pausedUntil ?? 0
          return health && { ...health, paused_until: until === 0 ? null : new Date(until).toISOString() }
        }
      }
    })
  },
  {
    storage: 'clears the record of failures of a webhook that it disables',
    caughtBy: 'a disabled webhook shows why, and keeps its record of failures until it is made active',
    breaks: shows(({ disabled_reason: reason }) => reason === null ? {} : { failing_since: null, failed_deliveries: 0 })
  },
  {
    storage: 'calls every disabled webhook failing',
    caughtBy: 'a disabled webhook shows why, and keeps its record of failures until it is made active',
    breaks: shows(({ disabled_reason: reason }) => ({ disabled_reason: reason === null ? null : 'failing' }))
  },
  {
    storage: 'counts late results of an inactive webhook',
    caughtBy: 'late results of a webhook that is not active change nothing about its health',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const left = await deliveries.recordAttempts(results, rule)
          for (const { deliveryId, outcome } of results) {
            const webhook = data.deliveries.get(deliveryId)?.webhook
            if (webhook?.status === 'inactive' && outcome === 'failed') webhook.failedDeliveries++
          }
          return left
        }
      }
    })
  },
  {
    storage: 'lists failing webhooks by id',
    caughtBy: 'failing and disabled webhooks of all tenants are listed, the longest failing first',
    breaks: ({ webhooks }) => ({
      webhooks: { listFailing: async (options) => (await webhooks.listFailing(options)).sort((a, b) => a.webhook.id - b.webhook.id) }
    })
  },
  {
    storage: 'lists the failing webhooks of one tenant',
    caughtBy: 'failing and disabled webhooks of all tenants are listed, the longest failing first',
    breaks: ({ webhooks }) => ({
      webhooks: { listFailing: async (options) => (await webhooks.listFailing(options)).filter(({ tenantSlug }) => tenantSlug === 'acme') }
    })
  },
  {
    storage: 'counts all pending deliveries of a failing webhook',
    caughtBy: 'the pending deliveries of a failing webhook are counted up to a limit',
    breaks: ({ webhooks }) => ({ webhooks: { listFailing: ({ limit }) => webhooks.listFailing({ limit, maxPending: 1e9 }) } })
  },
  {
    storage: 'shows the health of webhooks of other tenants',
    caughtBy: 'the health of another tenant\'s webhook is not shown',
    breaks: ({ webhooks }) => ({
      webhooks: { findHealth: async (_tenantSlug, id) => await webhooks.findHealth('acme', id) ?? webhooks.findHealth('globex', id) }
    })
  }
])
