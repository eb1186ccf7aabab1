import { setTimeout as sleep } from 'node:timers/promises'
import { stopDeliveries } from '../../src/memory/webhook-data.js'
import { type RightStorage, testMistakes } from '../fixtures/delivery/broken-storage.js'

/** Believes that every attempt was sent to the address of today. */
function forgetAddress ({ deliveries, data }: RightStorage): ReturnType<Parameters<typeof testMistakes>[0][number]['breaks']> {
  return {
    deliveries: {
      complete: (results, rule) => deliveries.complete(results.map((result) => (
        { ...result, targetUrl: data.deliveries.get(result.deliveryId)?.webhook.targetUrl ?? '' }
      )), rule)
    }
  }
}

testMistakes([
  { storage: 'disables a webhook by a 410 of an earlier address', caughtBy: 'a late 410 of an earlier address disables nothing', breaks: forgetAddress },
  {
    storage: 'counts failures of an earlier address',
    caughtBy: 'late failures and pauses of an earlier address do not count for the new one',
    breaks: forgetAddress
  },
  {
    storage: 'takes a success of an earlier address for one of the new',
    caughtBy: 'a late success of an earlier address does not clear the record of the new one',
    breaks: forgetAddress
  },
  {
    storage: 'keeps a pause when the address changes',
    caughtBy: 'a pause and a record of failures end with another address',
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
    storage: 'forgets a notice once somebody has claimed it',
    caughtBy: 'a notice comes again until it is confirmed',
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
    storage: 'rejects for a notice that was confirmed before',
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
    storage: 'skips at the end of a slow stop whatever is pending by then',
    caughtBy: 'nothing that is recorded after a webhook was made active again is skipped',
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
    storage: 'has every result told again',
    caughtBy: 'an open transaction that erases a delivery keeps no other from being completed',
    isSlow: true,
    breaks: ({ deliveries }) => ({
      deliveries: {
        async complete (results, rule) {
          await deliveries.complete(results, rule)
          return [...results]
        }
      }
    })
  },
  {
    storage: 'claims what was erased',
    caughtBy: 'what an open transaction erases is not claimed, and keeps nothing else from being claimed',
    isSlow: true,
    breaks: () => ({ deliveries: { erase: async () => 1 } })
  }
])
