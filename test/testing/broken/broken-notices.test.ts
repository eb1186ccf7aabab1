import { setTimeout as sleep } from 'node:timers/promises'
import { stopDeliveries } from '../../../src/memory/webhook-data.js'
import { type RightStorage, testMistakes } from '../../fixtures/delivery/broken-storage.js'

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
