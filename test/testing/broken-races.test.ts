import { setImmediate } from 'node:timers/promises'
import type { AttemptResult, ClaimedDelivery } from '../../src/ports/index.js'
import { findWebhook } from '../../src/memory/webhook-data.js'
import { testMistakes } from '../fixtures/delivery/broken-storage.js'

testMistakes([
  {
    storage: 'looks for an idempotency key and records in two steps',
    caughtBy: 'of several events at once with the same idempotency key, exactly one is recorded',
    breaks: ({ deliveries }) => {
      const known = new Map<string, Awaited<ReturnType<typeof deliveries.record>>>()
      return {
        deliveries: {
          async record (tenantSlug, event, transaction) {
            if (event.idempotencyKey === null) return deliveries.record(tenantSlug, event, transaction)
            const key = `${tenantSlug} ${event.idempotencyKey}`
            const earlier = known.get(key)
            await setImmediate()
            if (earlier !== undefined) return earlier
            const recorded = await deliveries.record(tenantSlug, { ...event, idempotencyKey: null }, transaction)
            known.set(key, recorded)
            return recorded
          }
        }
      }
    }
  },
  {
    storage: 'looks for what is due and leases it in two steps',
    caughtBy: 'no delivery is claimed by two callers at once',
    breaks: ({ deliveries }) => {
      let underWay: Promise<ClaimedDelivery[]> | null = null
      return {
        deliveries: {
          async claimDue (options) {
            underWay ??= deliveries.claimDue(options)
            const claimed = await underWay
            underWay = null
            return claimed
          }
        }
      }
    }
  },
  {
    storage: 'counts the leases of a webhook before it waits for the claim',
    caughtBy: 'a webhook has no more leases at once than perEndpoint, whatever callers come at once',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimDue ({ limit, perEndpoint, leaseMs }) {
          const { leased } = await deliveries.stats()
          await setImmediate()
          return leased === 0 && perEndpoint < 100
            ? deliveries.claimDue({ limit: Math.min(limit, perEndpoint), perEndpoint: 1000, leaseMs })
            : deliveries.claimDue({ limit, perEndpoint, leaseMs })
        }
      }
    })
  },
  {
    storage: 'looks at a fence and completes in two steps',
    caughtBy: 'of several results at once for one lease, exactly one counts',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async complete (results, rule) {
          const valid = results.filter(({ deliveryId, fence }) => data.deliveries.get(deliveryId)?.fence === fence)
          await setImmediate()
          for (const { deliveryId } of valid) {
            const delivery = data.deliveries.get(deliveryId)
            if (delivery?.lease === 'none') delivery.attempts.push({ startedAt: 0, durationMs: 0, responseStatus: null, error: null })
          }
          return deliveries.complete(valid, rule)
        }
      }
    })
  },
  {
    storage: 'gives the notice of a gone webhook to every caller',
    caughtBy: 'of several results at once that say a webhook is gone, one gives the notice',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async complete (results, rule) {
          const locked = await deliveries.complete(results, rule)
          const isGone = (result: AttemptResult): boolean => result.outcome === 'failed' && result.isGone
          const late = results.filter((result) => isGone(result) && data.deliveries.get(result.deliveryId)?.webhook.status === 'disabled')
          for (const { webhookId } of late) {
            data.notices.add({ kind: 'gone', tenantSlug: 'acme', webhookId, failingSince: '', failedDeliveries: 0, lastError: 'http_status', lastResponseStatus: 410 })
          }
          return locked
        }
      }
    })
  },
  {
    storage: 'reads the secret and rotates it in two steps',
    caughtBy: 'of two rotations at once, one makes the other\'s secret the previous one',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async rotateSecret (tenantSlug, id, rotation) {
          const previous = findWebhook(data, tenantSlug, id)?.secret
          await setImmediate()
          const rotated = await webhooks.rotateSecret(tenantSlug, id, rotation)
          const webhook = findWebhook(data, tenantSlug, id)
          if (webhook && previous !== undefined && webhook.previousSecret !== null) webhook.previousSecret = previous
          return rotated
        }
      }
    })
  },
  {
    storage: 'finds a webhook and deletes it in two steps',
    caughtBy: 'of several deletions at once, exactly one finds the webhook',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async delete (tenantSlug, id) {
          const webhook = await webhooks.find(tenantSlug, id)
          await webhooks.delete(tenantSlug, id)
          return webhook !== null
        }
      }
    })
  },
  {
    storage: 'looks for what is pending and replays in two steps',
    caughtBy: 'of several replays at once, one queues an event',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async replay (tenantSlug, webhookId, selection) {
          const last = new Map(findWebhook(data, tenantSlug, webhookId)?.lastDeliveries)
          await setImmediate()
          const webhook = findWebhook(data, tenantSlug, webhookId)
          const known = new Map(webhook?.lastDeliveries)
          for (const [event, delivery] of last) webhook?.lastDeliveries.set(event, delivery)
          const replayed = await deliveries.replay(tenantSlug, webhookId, selection)
          if (replayed?.queued === 0) for (const [event, delivery] of known) webhook?.lastDeliveries.set(event, delivery)
          return replayed
        }
      }
    })
  },
  {
    storage: 'never says that something is due',
    caughtBy: 'every listener hears of an event that is recorded',
    isSlow: true,
    breaks: () => ({ deliveries: { onDue: () => () => {} } })
  },
  {
    storage: 'ends every listener with the first',
    caughtBy: 'each listener is ended by itself, and may be ended twice',
    isSlow: true,
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        onDue (listener) {
          deliveries.onDue(listener)
          return () => data.listeners.clear()
        }
      }
    })
  },
  {
    storage: 'calls a listener before the event is there',
    caughtBy: 'a listener finds the change made',
    isSlow: true,
    breaks: ({ deliveries }) => {
      const listeners = new Set<() => void>()
      return {
        deliveries: {
          onDue (listener) {
            listeners.add(listener)
            return () => listeners.delete(listener)
          },
          record (tenantSlug, event, transaction) {
            for (const listener of listeners) listener()
            return deliveries.record(tenantSlug, event, transaction)
          }
        }
      }
    }
  }
])
