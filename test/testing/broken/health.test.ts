import { setTimeout as sleep } from 'node:timers/promises'
import { addDelivery, findWebhook, stopDeliveries } from '../../../src/memory/webhook-data.js'
import type { WebhookHealth } from '../../../src/ports/index.js'
import { showDelivery } from '../../../src/memory/deliveries/log.js'
import { type Mistake, type RightStorage, testMistakes } from '../../fixtures/delivery/broken-storage.js'

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

testMistakes([
  {
    storage: 'lets each environment claim',
    caughtBy: 'only workers of the first environment, and those without one, claim',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, environment: null }) } })
  },
  {
    storage: 'holds workers without an environment',
    caughtBy: 'only workers of the first environment, and those without one, claim',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, environment: options.environment ?? 'none' }) } })
  },
  {
    storage: 'gives notices to each environment',
    caughtBy: 'notices are not given to another environment',
    breaks: ({ deliveries }) => ({ deliveries: { claimNotices: (options) => deliveries.claimNotices({ ...options, environment: null }) } })
  },
  {
    storage: 'forgets when a hold was noticed',
    caughtBy: 'another environment is held, from the time when it is first noticed',
    breaks: ({ holds, clock }) => ({
      holds: {
        async find (environment) {
          const hold = await holds.find(environment)
          return hold && { ...hold, since: new Date(clock.now()).toISOString() }
        }
      }
    })
  },
  {
    storage: 'adopts for nobody',
    caughtBy: 'an adopted storage belongs to the other environment',
    breaks: ({ holds, data }) => ({
      holds: {
        async adopt (options) {
          const adoption = await holds.adopt(options)
          if (adoption !== null) data.home.move(null)
          return adoption
        }
      }
    })
  },
  {
    storage: 'keeps what an adoption discards',
    caughtBy: 'an adoption that discards skips all that is pending',
    breaks: ({ holds }) => ({ holds: { adopt: (options) => holds.adopt({ ...options, pending: 'deliver' }) } })
  },
  {
    storage: 'adopts what it does not hold',
    caughtBy: 'an adoption changes nothing if nothing is held',
    breaks: ({ holds, data }) => ({
      holds: {
        async adopt (options) {
          const adoption = await holds.adopt(options)
          data.home.move(options.environment)
          return adoption
        }
      }
    })
  }
])

/** Believes that every attempt was sent to the address of today. */
function forgetAddress ({ deliveries, data }: RightStorage): ReturnType<Parameters<typeof testMistakes>[0][number]['breaks']> {
  return {
    deliveries: {
      recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) => (
        { ...result, targetUrl: data.deliveries.get(result.deliveryId)?.webhook.targetUrl ?? '' }
      )), rule)
    }
  }
}

testMistakes([
  { storage: 'disables a webhook after a 410 from an old address', caughtBy: 'a late 410 from an old address disables nothing', breaks: forgetAddress },
  {
    storage: 'counts failures of an old address',
    caughtBy: 'late failures and pauses of an old address do not count for the new one',
    breaks: forgetAddress
  },
  {
    storage: 'treats a success of an old address as one of the new',
    caughtBy: 'a late success of an old address does not clear the record of the new one',
    breaks: forgetAddress
  },
  {
    storage: 'keeps a pause when the address changes',
    caughtBy: 'a new address ends the pause and clears the record of failures',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async update (tenantSlug, id, changes) {
          const record = data.tenants.get(tenantSlug)?.webhooks.get(id)
          const pausedUntil = record?.pausedUntil ?? 0
          const updated = await webhooks.update(tenantSlug, id, changes)
          if (record !== undefined && changes.status !== 'active') record.pausedUntil = pausedUntil
          return updated
        }
      }
    })
  },
  {
    storage: 'drops a notice once it is claimed',
    caughtBy: 'a notice can be claimed again until it is confirmed',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimNotices (options) {
          const claimed = await deliveries.claimNotices(options)
          for (const { noticeId } of claimed) await deliveries.confirmNotice(noticeId)
          return claimed
        }
      }
    })
  },
  {
    storage: 'rejects a notice that was already confirmed',
    caughtBy: 'a notice may be confirmed twice',
    breaks: ({ deliveries }) => {
      const confirmed = new Set<number>()
      return {
        deliveries: {
          async confirmNotice (noticeId) {
            if (confirmed.has(noticeId)) throw new Error('it was confirmed before')
            confirmed.add(noticeId)
            return deliveries.confirmNotice(noticeId)
          }
        }
      }
    }
  },
  {
    storage: 'skips, at the end of a slow stop, all deliveries pending by then',
    caughtBy: 'deliveries recorded after a webhook was made active again are not skipped',
    isSlow: true,
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async update (tenantSlug, id, changes) {
          const updated = await webhooks.update(tenantSlug, id, changes)
          if (changes.status !== 'inactive') return updated
          await sleep(50)
          const record = data.tenants.get(tenantSlug)?.webhooks.get(id)
          if (record !== undefined) stopDeliveries(data, record, 'skipped')
          return updated
        }
      }
    })
  },
  {
    storage: 'asks for every result again',
    caughtBy: 'a transaction that erases a delivery does not block the completion of others',
    isSlow: true,
    breaks: ({ deliveries }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          await deliveries.recordAttempts(results, rule)
          return [...results]
        }
      }
    })
  },
  {
    storage: 'claims erased deliveries',
    caughtBy: 'a delivery being erased by an open transaction is not claimed and does not block other claims',
    isSlow: true,
    breaks: () => ({ deliveries: { erase: async () => 1 } })
  }
])

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
