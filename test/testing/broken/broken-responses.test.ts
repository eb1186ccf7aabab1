import type { DeliveryWithAttempts } from '../../../src/ports/index.js'
import { type Mistake, testMistakes } from '../../fixtures/delivery/broken-storage.js'

/** Shows another delivery than the right one. */
function shows (change: (delivery: DeliveryWithAttempts) => Partial<DeliveryWithAttempts>): Mistake['breaks'] {
  return ({ deliveries }) => ({
    deliveries: {
      async find (tenantSlug, webhookId, id) {
        const delivery = await deliveries.find(tenantSlug, webhookId, id)
        return delivery && { ...delivery, ...change(delivery) }
      }
    }
  })
}

testMistakes([
  {
    storage: 'parses the body and writes it anew',
    caughtBy: 'a delivery shows the exact body, and the tombstone once its subject is erased',
    breaks: shows(({ body }) => ({ body: JSON.stringify(JSON.parse(body)) }))
  },
  {
    storage: 'keeps a copy of the body with each delivery',
    caughtBy: 'a delivery shows the exact body, and the tombstone once its subject is erased',
    breaks: ({ deliveries }) => {
      const bodies = new Map<string, string>()
      return {
        deliveries: {
          async record (tenantSlug, event, transaction) {
            bodies.set(event.id, event.body)
            return deliveries.record(tenantSlug, event, transaction)
          },
          async find (tenantSlug, webhookId, id) {
            const delivery = await deliveries.find(tenantSlug, webhookId, id)
            return delivery && { ...delivery, body: bodies.get(delivery.event_id) ?? '' }
          }
        }
      }
    }
  },
  {
    storage: 'trims excerpts',
    caughtBy: 'the excerpt of each response is kept unchanged, whatever it contains',
    breaks: ({ deliveries }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) => (
          { ...result, responseExcerpt: result.responseExcerpt?.trim() ?? null }
        )), rule)
      }
    })
  },
  {
    storage: 'keeps only the excerpt of the last attempt',
    caughtBy: 'the excerpt of each response is kept unchanged, whatever it contains',
    breaks: shows(({ attempts }) => ({
      attempts: attempts.map((attempt, index) => index < attempts.length - 1 ? { ...attempt, response_excerpt: null } : attempt)
    }))
  },
  {
    storage: 'keeps the response to an attempt whose delivery was cancelled',
    caughtBy: 'the response to an attempt whose delivery was cancelled in between is not kept',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const left = await deliveries.recordAttempts(results, rule)
          for (const { deliveryId, responseExcerpt } of results) {
            const last = data.deliveries.get(deliveryId)?.attempts.at(-1)
            if (last !== undefined) last.responseExcerpt = responseExcerpt
          }
          return left
        }
      }
    })
  },
  {
    storage: 'erases only the response to the last attempt',
    caughtBy: 'responses to an erased event are erased, and no others',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async erase (tenantSlug, subject, transaction) {
          const kept = [...data.deliveries.values()].map(({ attempts }) => attempts.slice(0, -1).map((attempt) => ({ attempt, text: attempt.responseExcerpt })))
          const erased = await deliveries.erase(tenantSlug, subject, transaction)
          for (const { attempt, text } of kept.flat()) attempt.responseExcerpt = text
          return erased
        }
      }
    })
  }
])
