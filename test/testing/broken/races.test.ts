import { setImmediate } from 'node:timers/promises'
import type { AttemptResult, ClaimedDelivery } from '../../../src/ports/index.js'
import { findWebhook } from '../../../src/memory/webhook-data.js'
import { testMistakes } from '../../fixtures/delivery/broken-storage.js'

testMistakes([
  {
    storage: 'looks for an idempotency key and records in two steps',
    caughtBy: 'of several concurrent events with the same idempotency key, exactly one is recorded',
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
    storage: 'finds due deliveries and leases them in two steps',
    caughtBy: 'no delivery is claimed by two concurrent callers',
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
    storage: 'counts the leases of a webhook before waiting for the claim',
    caughtBy: 'perEndpoint limits the leases of a webhook, over concurrent callers',
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
    storage: 'checks a fence and completes in two steps',
    caughtBy: 'of several concurrent results for one lease, exactly one counts',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const valid = results.filter(({ deliveryId, fence }) => data.deliveries.get(deliveryId)?.fence === fence)
          await setImmediate()
          for (const { deliveryId } of valid) {
            const delivery = data.deliveries.get(deliveryId)
            if (delivery?.lease === 'none') delivery.attempts.push({ startedAt: 0, durationMs: 0, responseStatus: null, error: null, responseExcerpt: null })
          }
          return deliveries.recordAttempts(valid, rule)
        }
      }
    })
  },
  {
    storage: 'creates a notice of a gone webhook for every caller',
    caughtBy: 'of several concurrent results that report a webhook gone, one creates the notice',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const locked = await deliveries.recordAttempts(results, rule)
          const isGone = (result: AttemptResult): boolean => result.outcome === 'failed' && result.isGone
          const late = results.filter((result) => isGone(result) && data.deliveries.get(result.deliveryId)?.webhook.status === 'disabled')
          for (const { webhookId } of late) {
            data.notices.add({ kind: 'gone', tenantId: 'acme', tenantSlug: 'acme', webhookId, failingSince: '', failedDeliveries: 0, lastError: 'http_status', lastResponseStatus: 410 })
          }
          return locked
        }
      }
    })
  },
  {
    storage: 'reads the secret and rotates it in two steps',
    caughtBy: 'of two concurrent rotations, the later one keeps the secret of the earlier one as the previous one',
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
    caughtBy: 'of several concurrent deletions, exactly one finds the webhook',
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
    storage: 'finds pending deliveries and replays in two steps',
    caughtBy: 'of several concurrent replays, only one queues an event',
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
    storage: 'never calls a listener',
    caughtBy: 'every listener is called for a recorded event',
    isSlow: true,
    breaks: () => ({ deliveries: { onDue: () => () => {} } })
  },
  {
    storage: 'stops all listeners with the first',
    caughtBy: 'each listener stops independently, and may be stopped twice',
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
    storage: 'calls a listener before the event is recorded',
    caughtBy: 'a listener can claim the recorded event',
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
