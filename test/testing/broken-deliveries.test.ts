import type { AttemptResult, ClaimedDelivery, Lease } from '../../src/ports/index.js'
import { addDelivery, findWebhook } from '../../src/memory/webhook-data.js'
import { testMistakes } from '../fixtures/delivery/broken-storage.js'

const everyone = { limit: 1000, perEndpoint: 1000 }

testMistakes([
  {
    storage: 'claims what is leased',
    caughtBy: 'a leased delivery is not claimed',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimDue (options) {
          const claimed = await deliveries.claimDue(options)
          await deliveries.release(claimed.slice(0, 1))
          return claimed
        }
      }
    })
  },
  {
    storage: 'forgets that leases run out',
    caughtBy: 'once a lease has run out, the delivery is claimed again, with a greater fence',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, leaseMs: 1e9 }) } })
  },
  {
    storage: 'gives every lease the same fence',
    caughtBy: 'once a lease has run out, the delivery is claimed again, with a greater fence',
    breaks: ({ deliveries, data }) => {
      const restore = <Given extends Lease>(lease: Given): Given => ({ ...lease, fence: data.deliveries.get(lease.deliveryId)?.fence ?? 0 })
      return {
        deliveries: {
          claimDue: async (options) => (await deliveries.claimDue(options)).map((claimed) => ({ ...claimed, fence: 1 })),
          complete: (results, rule) => deliveries.complete(results.map(restore), rule),
          release: (leases) => deliveries.release(leases.map(restore))
        }
      }
    }
  },
  {
    storage: 'accepts a result with an old fence',
    caughtBy: 'a result with an old fence changes nothing',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        complete: (results, rule) => deliveries.complete(results.map((result): AttemptResult =>
          ({ ...result, fence: data.deliveries.get(result.deliveryId)?.fence ?? result.fence })), rule)
      }
    })
  },
  {
    storage: 'loses all leases of a claim with one of them',
    caughtBy: 'of what was claimed at once, one lease is lost without the others',
    breaks: ({ deliveries, data }) => {
      const isLost = ({ deliveryId, fence }: Lease): boolean => data.deliveries.get(deliveryId)?.fence !== fence
      const claims: ClaimedDelivery[][] = []
      return {
        deliveries: {
          async claimDue (options) {
            const claimed = await deliveries.claimDue(options)
            claims.push(claimed)
            return claimed
          },
          complete: (results, rule) => deliveries.complete(results.filter(({ deliveryId, fence }) => {
            const claim = claims.find((claimed) => claimed.some((lease) => lease.deliveryId === deliveryId && lease.fence === fence))
            return claim?.some(isLost) !== true
          }), rule)
        }
      }
    }
  },
  {
    storage: 'has one fence for a claim, and looks for its deliveries among all that are reported with it',
    caughtBy: 'a lost lease stays lost beside another of the claim that took it over',
    breaks: ({ deliveries }) => {
      const fences = new Map<string, number>()
      let claims = 0
      const restore = <Given extends Lease>(given: readonly Given[]): Given[] => given.map((lease) => {
        const known = given.flatMap(({ fence }) => fences.get(`${fence} ${lease.deliveryId}`) ?? [])
        return { ...lease, fence: Math.max(...known) }
      })
      return {
        deliveries: {
          async claimDue (options) {
            const fence = ++claims
            return (await deliveries.claimDue(options)).map((claimed) => {
              fences.set(`${fence} ${claimed.deliveryId}`, claimed.fence)
              return { ...claimed, fence }
            })
          },
          complete: (results, rule) => deliveries.complete(restore(results), rule),
          release: (leases) => deliveries.release(restore(leases))
        }
      }
    }
  },
  {
    storage: 'gives back a lease that somebody else holds',
    caughtBy: 'a lost, completed or repeated lease that is given back is passed over',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        release: (leases) => deliveries.release(leases.map((lease) =>
          ({ ...lease, fence: data.deliveries.get(lease.deliveryId)?.fence ?? lease.fence })))
      }
    })
  },
  {
    storage: 'drops a result as soon as its lease has expired',
    caughtBy: 'a late result still counts while nobody has claimed the delivery again',
    breaks: ({ deliveries, data, clock }) => ({
      deliveries: {
        complete: (results, rule) => deliveries.complete(results.filter(({ deliveryId }) =>
          Number(data.deliveries.get(deliveryId)?.leaseExpiresAt) > clock.now()), rule)
      }
    })
  },
  {
    storage: 'counts an attempt when a lease is given back',
    caughtBy: 'a lease given back makes its delivery due at once, with no attempt counted',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async release (leases) {
          const retries = leases.map(({ webhookId, deliveryId, fence }): AttemptResult => (
            { webhookId, deliveryId, fence, targetUrl: '', outcome: 'retry', retryInMs: 0, pauseMs: 0, durationMs: 0, responseStatus: null, error: 'timeout' }
          ))
          await deliveries.complete(retries, { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e9 })
        }
      }
    })
  },
  {
    storage: 'forgets perEndpoint',
    caughtBy: 'a webhook has no more leases at once than perEndpoint, over all claims',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, perEndpoint: 1000 }) } })
  },
  {
    storage: 'counts perEndpoint for each claim alone',
    caughtBy: 'a webhook has no more leases at once than perEndpoint, over all claims',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimDue ({ limit, perEndpoint, leaseMs }) {
          const all = await deliveries.claimDue({ ...everyone, leaseMs })
          const kept: ClaimedDelivery[] = []
          for (const claimed of all) {
            const own = kept.filter(({ webhookId }) => webhookId === claimed.webhookId).length
            if (kept.length < limit && own < perEndpoint) kept.push(claimed)
          }
          await deliveries.release(all.filter((claimed) => !kept.includes(claimed)))
          return kept
        }
      }
    })
  },
  {
    storage: 'starves an endpoint behind one that floods',
    caughtBy: 'small claims come round to every endpoint, whoever floods',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimDue ({ limit, leaseMs }) {
          const all = await deliveries.claimDue({ ...everyone, leaseMs })
          all.sort((a, b) => a.webhookId - b.webhookId || a.deliveryId - b.deliveryId)
          await deliveries.release(all.slice(limit))
          return all.slice(0, limit)
        }
      }
    })
  },
  {
    storage: 'claims the newest first',
    caughtBy: 'first attempts come in the order in which their events were recorded',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: async (options) => (await deliveries.claimDue(options)).toReversed() } })
  },
  {
    storage: 'claims replays before anything else',
    caughtBy: 'first attempts come before later ones, and both before replays',
    breaks: ({ deliveries }) => ({
      deliveries: { claimDue: async (options) => (await deliveries.claimDue(options)).sort((a, b) => a.deliveryId - b.deliveryId) }
    })
  },
  {
    storage: 'claims what is not yet due',
    caughtBy: 'a delivery that waits for its next attempt is claimed when it is due, not before',
    breaks: ({ deliveries }) => ({
      deliveries: {
        complete: (results, rule) => deliveries.complete(results.map((result) =>
          result.outcome === 'retry' ? { ...result, retryInMs: Math.min(50, result.retryInMs) } : result), rule)
      }
    })
  },
  {
    storage: 'sends to the address of before',
    caughtBy: 'a claim has all that is needed to attempt a delivery',
    breaks: ({ deliveries }) => ({
      deliveries: {
        claimDue: async (options) => (await deliveries.claimDue(options)).map((claimed) =>
          ({ ...claimed, targetUrl: `https://hooks.example/${claimed.webhookId}` }))
      }
    })
  },
  {
    storage: 'keeps bodies as JSON values',
    caughtBy: 'the body comes back byte for byte, whatever becomes of the object handed in',
    breaks: ({ deliveries }) => ({
      deliveries: { record: (tenantSlug, event) => deliveries.record(tenantSlug, { ...event, body: JSON.stringify(JSON.parse(event.body)) }) }
    })
  },
  {
    storage: 'takes the part of a tenant\'s event in another tenant\'s claim',
    caughtBy: 'a claim has the body, address and secret of the delivery\'s own tenant',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimDue (options) {
          const claimed = await deliveries.claimDue(options)
          const [first] = claimed
          return claimed.map((one) => ({ ...one, body: first?.body ?? '' }))
        }
      }
    })
  },
  {
    storage: 'records an event for every tenant\'s webhooks',
    caughtBy: 'an event goes to the webhooks of its tenant alone',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async record (tenantSlug, event, transaction) {
          const recorded = await deliveries.record(tenantSlug, event, transaction)
          const record = data.events.get(event.id)
          for (const [slug, { webhooks }] of data.tenants) {
            if (slug === tenantSlug || record?.deliveriesLeft !== 0) continue
            for (const webhook of webhooks.values()) addDelivery(data, record, webhook, { status: 'pending', isReplay: false, now: data.now() })
          }
          return recorded
        }
      }
    })
  },
  {
    storage: 'counts skipped deliveries',
    caughtBy: 'a webhook that is not active gets a skipped delivery, which is not counted',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async record (tenantSlug, event, transaction) {
          const recorded = await deliveries.record(tenantSlug, event, transaction)
          return { ...recorded, deliveries: data.events.get(recorded.id)?.deliveriesLeft ?? 0 }
        }
      }
    })
  },
  {
    storage: 'takes an idempotency key for unique over all tenants',
    caughtBy: 'an idempotency key is unique for its tenant alone, and its absence is no key',
    breaks: ({ deliveries }) => {
      const known = new Map<string, Awaited<ReturnType<typeof deliveries.record>>>()
      return {
        deliveries: {
          async record (tenantSlug, event, transaction) {
            const key = event.idempotencyKey ?? event.id
            const recorded = known.get(key) ?? await deliveries.record(tenantSlug, event, transaction)
            known.set(key, recorded)
            return recorded
          }
        }
      }
    }
  },
  {
    storage: 'gives the fingerprint of the second time',
    caughtBy: 'an idempotency key that was used before records nothing and gives the result of the first time',
    breaks: ({ deliveries }) => ({
      deliveries: {
        record: async (tenantSlug, event, transaction) => ({ ...await deliveries.record(tenantSlug, event, transaction), fingerprint: event.fingerprint })
      }
    })
  },
  {
    storage: 'takes a transaction and pays no heed to it',
    caughtBy: 'an event is kept with the host\'s transaction, or refused by a storage that has none',
    breaks: ({ deliveries }) => ({ deliveries: { record: (tenantSlug, event) => deliveries.record(tenantSlug, event) } })
  },
  {
    storage: 'ignores a hold',
    caughtBy: 'a pause keeps back the other deliveries of the webhook, and of no other webhook',
    breaks: ({ deliveries }) => ({
      deliveries: {
        complete: (results, rule) => deliveries.complete(results.map((result) => result.outcome === 'retry' ? { ...result, pauseMs: 0 } : result), rule)
      }
    })
  },
  {
    storage: 'lets a shorter pause replace a longer one',
    caughtBy: 'a shorter pause, or none, does not shorten a longer one',
    breaks: ({ deliveries, data, clock }) => ({
      deliveries: {
        async complete (results, rule) {
          const notices = await deliveries.complete(results, rule)
          for (const result of results) {
            const webhook = data.deliveries.get(result.deliveryId)?.webhook
            if (webhook && result.outcome === 'retry' && result.pauseMs > 0) webhook.pausedUntil = clock.now() + result.pauseMs
          }
          return notices
        }
      }
    })
  },
  {
    storage: 'never disables a webhook',
    caughtBy: 'a webhook that failed for long enough and often enough is disabled',
    breaks: ({ deliveries }) => ({
      deliveries: { complete: (results, rule) => deliveries.complete(results, { ...rule, failedDeliveries: 1e9 }) }
    })
  },
  {
    storage: 'disables a webhook for the time alone',
    caughtBy: 'deliveries that will be tried again count for the time, not for the number',
    breaks: ({ deliveries }) => ({
      deliveries: { complete: (results, rule) => deliveries.complete(results, { ...rule, failedDeliveries: Math.min(0, rule.failedDeliveries) }) }
    })
  },
  {
    storage: 'takes a 410 for any failure',
    caughtBy: 'a webhook that is gone is disabled at once, and its other deliveries are skipped',
    breaks: ({ deliveries }) => ({
      deliveries: {
        complete: (results, rule) => deliveries.complete(results.map((result) => result.outcome === 'failed' ? { ...result, isGone: false } : result), rule)
      }
    })
  },
  {
    storage: 'disables what the client made inactive',
    caughtBy: 'a webhook is disabled once, and a client\'s inactive wins over a late 410',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async complete (results, rule) {
          for (const result of results) {
            const webhook = data.deliveries.get(result.deliveryId)?.webhook
            if (webhook?.status === 'inactive' && result.outcome === 'failed' && result.isGone) webhook.status = 'disabled'
          }
          return deliveries.complete(results, rule)
        }
      }
    })
  },
  {
    storage: 'says again and again that a webhook is failing',
    caughtBy: 'the host is told once that a webhook has been failing for long, and the webhook stays active',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        complete (results, rule) {
          for (const { webhooks } of data.tenants.values()) {
            for (const webhook of webhooks.values()) webhook.isWarned = false
          }
          return deliveries.complete(results, rule)
        }
      }
    })
  },
  {
    storage: 'forgets the failures when the name changes',
    caughtBy: 'a webhook made active starts with a clean record, other changes leave it alone',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async update (tenantSlug, id, changes) {
          const webhook = await webhooks.find(tenantSlug, id)
          const status = webhook?.status === 'active' ? { status: webhook.status } : {}
          return webhooks.update(tenantSlug, id, { ...status, ...changes })
        }
      }
    })
  },
  {
    storage: 'queues once more what is still pending',
    caughtBy: 'events still pending are not queued again, leased ones neither',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async replay (tenantSlug, webhookId, selection) {
          const webhook = findWebhook(data, tenantSlug, webhookId)
          if (webhook?.status === 'active') webhook.lastDeliveries.clear()
          return deliveries.replay(tenantSlug, webhookId, selection)
        }
      }
    })
  },
  {
    storage: 'replays for a webhook of another tenant',
    caughtBy: 'a replay neither takes another tenant\'s events nor goes to its webhook',
    breaks: ({ deliveries }) => ({
      deliveries: {
        replay: async (_tenantSlug, webhookId, selection) =>
          await deliveries.replay('acme', webhookId, selection) ?? deliveries.replay('globex', webhookId, selection)
      }
    })
  },
  {
    storage: 'excludes since and until',
    caughtBy: 'since and until are both included, to the millisecond that the log shows',
    breaks: ({ deliveries }) => ({
      deliveries: {
        replay: (tenantSlug, webhookId, selection) => deliveries.replay(tenantSlug, webhookId, {
          ...selection, since: selection.since && new Date(Date.parse(selection.since) + 1).toISOString()
        })
      }
    })
  },
  {
    storage: 'leaves the body when a subject is erased',
    caughtBy: 'an erased event is replayed as its tombstone',
    breaks: ({ deliveries }) => {
      const bodies = new Map<string, string>()
      return {
        deliveries: {
          record (tenantSlug, event, transaction) {
            bodies.set(event.id, event.body)
            return deliveries.record(tenantSlug, event, transaction)
          },
          claimDue: async (options) => (await deliveries.claimDue(options)).map((claimed) => ({ ...claimed, body: bodies.get(claimed.eventId) ?? '' }))
        }
      }
    }
  },
  {
    storage: 'delivers what was pending when its subject is erased',
    caughtBy: 'pending deliveries of an erased event are cancelled, leased and waiting ones too',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        erase: async (tenantSlug, subject) =>
          [...data.events.values()].filter((record) => record.tenantSlug === tenantSlug && record.event.subject === subject).length
      }
    })
  },
  {
    storage: 'drops the result of a delivery that was stopped under way',
    caughtBy: 'a delivery that stopped being pending under way keeps its status, unless the attempt delivered it',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        complete: (results, rule) => deliveries.complete(results.filter(({ deliveryId }) =>
          data.deliveries.get(deliveryId)?.status === 'pending'), rule)
      }
    })
  },
  {
    storage: 'tries again what was erased under way',
    caughtBy: 'a delivery whose event is erased under way is not tried again',
    breaks: ({ deliveries, data, clock }) => ({
      deliveries: {
        async complete (results, rule) {
          const notices = await deliveries.complete(results, rule)
          for (const { deliveryId, outcome } of results) {
            const delivery = data.deliveries.get(deliveryId)
            if (outcome !== 'retry' || delivery?.status !== 'cancelled' || delivery.webhook.isDeleted) continue
            Object.assign(delivery, { status: 'pending', nextAttemptAt: clock.now() })
            data.pending.add(delivery)
          }
          return notices
        }
      }
    })
  },
  {
    storage: 'erases the subject of every tenant',
    caughtBy: 'erasing a subject leaves another tenant\'s subject of the same name',
    breaks: ({ deliveries }) => ({
      deliveries: { erase: async (_tenantSlug, subject) => await deliveries.erase('acme', subject) + await deliveries.erase('globex', subject) }
    })
  },
  {
    storage: 'prunes everything at once',
    caughtBy: 'pruning in batches deletes everything in the end, the limit of each at once',
    breaks: ({ deliveries }) => ({ deliveries: { prune: ({ retentionDays }) => deliveries.prune({ retentionDays, limit: 1000 }) } })
  },
  {
    storage: 'prunes what is still pending',
    caughtBy: 'a pending delivery stays, and so does its event',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async prune (options) {
          for (const delivery of options.retentionDays === 0 ? data.deliveries.values() : []) delivery.status = 'failed'
          return deliveries.prune(options)
        }
      }
    })
  },
  {
    storage: 'keeps idempotency keys for ever',
    caughtBy: 'an event stays while a delivery of it is left, and takes its idempotency key with it',
    breaks: ({ deliveries }) => {
      const known = new Map<string, Awaited<ReturnType<typeof deliveries.record>>>()
      return {
        deliveries: {
          async record (tenantSlug, event, transaction) {
            if (event.idempotencyKey === null) return deliveries.record(tenantSlug, event, transaction)
            const key = `${tenantSlug} ${event.idempotencyKey}`
            const recorded = known.get(key) ?? await deliveries.record(tenantSlug, event, transaction)
            known.set(key, recorded)
            return recorded
          }
        }
      }
    }
  },
  {
    storage: 'counts what is leased as neither pending nor due',
    caughtBy: 'the figures tell what waits, what is due and what is leased, over all tenants',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async stats () {
          const { pending, due, leased, ...rest } = await deliveries.stats()
          return { pending: pending - leased, due: due - leased, leased, ...rest }
        }
      }
    })
  },
  {
    storage: 'counts what is paused as due',
    caughtBy: 'what is paused is pending, but not due',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async stats () {
          const { pending, leased, due, ...rest } = await deliveries.stats()
          return { pending, leased, due: due === 1 && pending === 3 && leased === 1 ? 3 : due, ...rest }
        }
      }
    })
  },
  {
    storage: 'takes what is leased for ended',
    caughtBy: 'what is leased is pending until it ends',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async hasPending (withinMs) {
          const { leased, pending } = await deliveries.stats()
          return pending > leased && deliveries.hasPending(withinMs)
        }
      }
    })
  },
  {
    storage: 'finds deliveries of other webhooks',
    caughtBy: 'a delivery of another webhook or tenant is not found',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async find (tenantSlug, _webhookId, id) {
          const own = data.deliveries.get(id)?.webhook
          return own?.tenantSlug === tenantSlug ? deliveries.find(tenantSlug, own.id, id) : null
        }
      }
    })
  },
  {
    storage: 'ignores a filter of the log',
    caughtBy: 'the log is filtered by status, event type and event',
    breaks: ({ deliveries }) => ({
      deliveries: {
        list: (tenantSlug, webhookId, { filter: { eventId, ...filter }, ...query }) => deliveries.list(tenantSlug, webhookId, { ...query, filter })
      }
    })
  },
  {
    storage: 'keeps the last attempt alone',
    caughtBy: 'attempts are kept in the order they were made',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async find (tenantSlug, webhookId, id) {
          const delivery = await deliveries.find(tenantSlug, webhookId, id)
          return delivery && { ...delivery, attempts: delivery.attempts.slice(-1) }
        }
      }
    })
  },
  {
    storage: 'leaves pending what a webhook made inactive had',
    caughtBy: 'a webhook made inactive has its pending deliveries skipped, leased and waiting ones too',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async update (tenantSlug, id, changes) {
          const webhook = findWebhook(data, tenantSlug, id)
          if (webhook === undefined || changes.status !== 'inactive') return webhooks.update(tenantSlug, id, changes)
          webhook.status = 'inactive'
          return webhooks.update(tenantSlug, id, {})
        }
      }
    })
  }
])
