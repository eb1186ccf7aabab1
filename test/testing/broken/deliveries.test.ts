import type { AttemptResult, ClaimedDelivery, ClaimOptions, DeliveryStore, Lease } from '../../../src/ports/index.js'
import { addDelivery, findWebhook } from '../../../src/memory/webhook-data.js'
import { testMistakes } from '../../fixtures/delivery/broken-storage.js'

const everyone = { limit: 1000, perEndpoint: 1000 }

/** Claims everything, keeps the first of them by their rank, then by webhook, and releases the others. */
async function claimInOrder (
  deliveries: DeliveryStore,
  { limit, leaseMs }: ClaimOptions,
  rank: (claimed: readonly ClaimedDelivery[]) => Map<ClaimedDelivery, number>
): Promise<ClaimedDelivery[]> {
  const all = await deliveries.claimDue({ ...everyone, leaseMs })
  all.sort((a, b) => a.webhookId - b.webhookId || a.deliveryId - b.deliveryId)
  const ranks = rank(all)
  all.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
  await deliveries.release(all.slice(limit))
  return all.slice(0, limit)
}

/** Numbers the deliveries with the same key. */
function countBy (claimed: readonly ClaimedDelivery[], keyOf: (delivery: ClaimedDelivery) => unknown): Map<ClaimedDelivery, number> {
  const counts = new Map<unknown, number>()
  return new Map(claimed.map((delivery) => {
    const count = (counts.get(keyOf(delivery)) ?? 0) + 1
    counts.set(keyOf(delivery), count)
    return [delivery, count]
  }))
}

testMistakes([
  {
    storage: 'claims leased deliveries',
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
    storage: 'claims one delivery at a time while others are leased',
    caughtBy: 'webhooks whose deliveries are leased do not make claims smaller',
    breaks: ({ deliveries }) => {
      let leased = 0
      return {
        deliveries: {
          async claimDue (options) {
            const claimed = await deliveries.claimDue(leased === 0 ? options : { ...options, limit: 1 })
            leased += claimed.length
            return claimed
          }
        }
      }
    }
  },
  {
    storage: 'never lets a lease expire',
    caughtBy: 'after its lease has expired, a delivery is claimed again with a greater fence',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, leaseMs: 1e9 }) } })
  },
  {
    storage: 'gives every lease the same fence',
    caughtBy: 'after its lease has expired, a delivery is claimed again with a greater fence',
    breaks: ({ deliveries, data }) => {
      const restore = <Given extends Lease>(lease: Given): Given => ({ ...lease, fence: data.deliveries.get(lease.deliveryId)?.fence ?? 0 })
      return {
        deliveries: {
          claimDue: async (options) => (await deliveries.claimDue(options)).map((claimed) => ({ ...claimed, fence: 1 })),
          recordAttempts: (results, rule) => deliveries.recordAttempts(results.map(restore), rule),
          release: (leases) => deliveries.release(leases.map(restore))
        }
      }
    }
  },
  {
    storage: 'accepts a result with an old fence',
    caughtBy: 'a result with an old fence is ignored',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result): AttemptResult =>
          ({ ...result, fence: data.deliveries.get(result.deliveryId)?.fence ?? result.fence })), rule)
      }
    })
  },
  {
    storage: 'loses all leases of a claim when one is lost',
    caughtBy: 'of several leases of one claim, one is lost without the others',
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
          recordAttempts: (results, rule) => deliveries.recordAttempts(results.filter(({ deliveryId, fence }) => {
            const claim = claims.find((claimed) => claimed.some((lease) => lease.deliveryId === deliveryId && lease.fence === fence))
            return claim?.some(isLost) !== true
          }), rule)
        }
      }
    }
  },
  {
    storage: 'has one fence per claim and looks it up among all results reported together',
    caughtBy: 'a lost lease stays lost when reported with another delivery of the claim that took it over',
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
          recordAttempts: (results, rule) => deliveries.recordAttempts(restore(results), rule),
          release: (leases) => deliveries.release(restore(leases))
        }
      }
    }
  },
  {
    storage: 'releases a lease that another caller holds',
    caughtBy: 'release ignores a lease that was lost, completed or released',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        release: (leases) => deliveries.release(leases.map((lease) =>
          ({ ...lease, fence: data.deliveries.get(lease.deliveryId)?.fence ?? lease.fence })))
      }
    })
  },
  {
    storage: 'drops a result as soon as its lease has expired',
    caughtBy: 'a late result counts until the delivery is claimed again',
    breaks: ({ deliveries, data, clock }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.filter(({ deliveryId }) =>
          Number(data.deliveries.get(deliveryId)?.leaseExpiresAt) > clock.now()), rule)
      }
    })
  },
  {
    storage: 'counts an attempt when a lease is released',
    caughtBy: 'a released delivery is due at once, with no attempt counted',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async release (leases) {
          const retries = leases.map(({ webhookId, deliveryId, fence }): AttemptResult => (
            { webhookId, deliveryId, fence, targetUrl: '', outcome: 'retry', retryInMs: 0, pauseMs: 0, durationMs: 0, responseStatus: null, error: 'timeout', responseExcerpt: null }
          ))
          await deliveries.recordAttempts(retries, { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e9 })
        }
      }
    })
  },
  {
    storage: 'ignores perEndpoint',
    caughtBy: 'perEndpoint limits the leases of a webhook, over all claims',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, perEndpoint: 1000 }) } })
  },
  {
    storage: 'counts perEndpoint for each claim separately',
    caughtBy: 'perEndpoint limits the leases of a webhook, over all claims',
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
    storage: 'gives turns to webhooks, whatever their tenant',
    caughtBy: 'a tenant with five webhooks gets no more of a claim than a tenant with one',
    breaks: ({ deliveries }) => ({
      deliveries: {
        claimDue: (options) => claimInOrder(deliveries, options, (claimed) => countBy(claimed, ({ webhookId }) => webhookId))
      }
    })
  },
  {
    storage: 'begins every claim with the same tenant',
    caughtBy: 'tenants and their webhooks also take turns in claims of one',
    breaks: ({ deliveries }) => ({
      deliveries: {
        claimDue: (options) => claimInOrder(deliveries, options, (claimed) => countBy(claimed, ({ tenantSlug }) => tenantSlug))
      }
    })
  },
  {
    storage: 'starves an endpoint behind one that floods the queue',
    caughtBy: 'small claims reach every webhook, even if one floods the queue',
    breaks: ({ deliveries }) => ({
      deliveries: {
        claimDue: (options) => claimInOrder(deliveries, options, () => new Map())
      }
    })
  },
  {
    storage: 'claims the newest delivery first',
    caughtBy: 'first attempts come in the order in which their events were recorded',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: async (options) => (await deliveries.claimDue(options)).toReversed() } })
  },
  {
    storage: 'claims replays before anything else',
    caughtBy: 'first attempts come before retries, and both before replays',
    breaks: ({ deliveries }) => ({
      deliveries: { claimDue: async (options) => (await deliveries.claimDue(options)).sort((a, b) => a.deliveryId - b.deliveryId) }
    })
  },
  {
    storage: 'claims deliveries that are not due yet',
    caughtBy: 'a retry is claimed when it is due, not before',
    breaks: ({ deliveries }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) =>
          result.outcome === 'retry' ? { ...result, retryInMs: Math.min(50, result.retryInMs) } : result), rule)
      }
    })
  },
  {
    storage: 'sends to the previous address',
    caughtBy: 'a claim has everything needed to attempt a delivery',
    breaks: ({ deliveries }) => ({
      deliveries: {
        claimDue: async (options) => (await deliveries.claimDue(options)).map((claimed) =>
          ({ ...claimed, targetUrl: `https://hooks.example/${claimed.webhookId}` }))
      }
    })
  },
  {
    storage: 'keeps bodies as JSON values',
    caughtBy: 'the body is returned byte for byte, even if the caller changes the event object',
    breaks: ({ deliveries }) => ({
      deliveries: { record: (tenantSlug, event) => deliveries.record(tenantSlug, { ...event, body: JSON.stringify(JSON.parse(event.body)) }) }
    })
  },
  {
    storage: 'puts an event of one tenant into a claim of another',
    caughtBy: 'a claim has the body, address and secret of its own tenant',
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
    storage: 'records an event for the webhooks of every tenant',
    caughtBy: 'an event goes only to webhooks of its tenant',
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
    storage: 'treats idempotency keys as unique across tenants',
    caughtBy: 'an idempotency key is unique within its tenant, and events without a key never collide',
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
    storage: 'returns the fingerprint of the second call',
    caughtBy: 'a repeated idempotency key records nothing and returns the first result',
    breaks: ({ deliveries }) => ({
      deliveries: {
        record: async (tenantSlug, event, transaction) => ({ ...await deliveries.record(tenantSlug, event, transaction), fingerprint: event.fingerprint })
      }
    })
  },
  {
    storage: 'accepts a transaction and ignores it',
    caughtBy: 'an event commits with the host\'s transaction, or is rejected by a storage without transactions',
    breaks: ({ deliveries }) => ({ deliveries: { record: (tenantSlug, event) => deliveries.record(tenantSlug, event) } })
  },
  {
    storage: 'ignores a pause',
    caughtBy: 'a pause applies to all deliveries of the webhook and to no other webhook',
    breaks: ({ deliveries }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) => result.outcome === 'retry' ? { ...result, pauseMs: 0 } : result), rule)
      }
    })
  },
  {
    storage: 'lets a shorter pause replace a longer one',
    caughtBy: 'a shorter pause, or none, does not shorten a longer one',
    breaks: ({ deliveries, data, clock }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const notices = await deliveries.recordAttempts(results, rule)
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
    caughtBy: 'a webhook that fails for long enough and often enough is disabled',
    breaks: ({ deliveries }) => ({
      deliveries: { recordAttempts: (results, rule) => deliveries.recordAttempts(results, { ...rule, failedDeliveries: 1e9 }) }
    })
  },
  {
    storage: 'disables a webhook by time only',
    caughtBy: 'retried attempts count towards the time, not towards the number of failed deliveries',
    breaks: ({ deliveries }) => ({
      deliveries: { recordAttempts: (results, rule) => deliveries.recordAttempts(results, { ...rule, failedDeliveries: Math.min(0, rule.failedDeliveries) }) }
    })
  },
  {
    storage: 'treats a 410 as an ordinary failure',
    caughtBy: 'a webhook that is gone is disabled at once, and its other deliveries are skipped',
    breaks: ({ deliveries }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) => result.outcome === 'failed' ? { ...result, isGone: false } : result), rule)
      }
    })
  },
  {
    storage: 'disables a webhook that the client made inactive',
    caughtBy: 'a webhook is disabled once, and an inactive webhook stays inactive after a late 410',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          for (const result of results) {
            const webhook = data.deliveries.get(result.deliveryId)?.webhook
            if (webhook?.status === 'inactive' && result.outcome === 'failed' && result.isGone) webhook.status = 'disabled'
          }
          return deliveries.recordAttempts(results, rule)
        }
      }
    })
  },
  {
    storage: 'repeats the notice that a webhook is failing',
    caughtBy: 'one notice says that a webhook has been failing for long, and the webhook stays active',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        recordAttempts (results, rule) {
          for (const { webhooks } of data.tenants.values()) {
            for (const webhook of webhooks.values()) webhook.isWarned = false
          }
          return deliveries.recordAttempts(results, rule)
        }
      }
    })
  },
  {
    storage: 'clears the failures when the name changes',
    caughtBy: 'making a webhook active clears its record of failures, other changes do not',
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
    storage: 'queues pending events again',
    caughtBy: 'pending events are not queued again, including leased ones',
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
    storage: 'counts a replay by queueing it',
    caughtBy: 'counting a replay changes nothing',
    breaks: ({ deliveries }) => ({ deliveries: { countReplay: deliveries.replay } })
  },
  {
    storage: 'counts without the limit of a replay',
    caughtBy: 'the count of a replay is what the replay then queues',
    breaks: ({ deliveries }) => ({
      deliveries: {
        countReplay: (tenantSlug, webhookId, selection) => deliveries.countReplay(tenantSlug, webhookId, { ...selection, limit: 100 })
      }
    })
  },
  {
    storage: 'counts replays to inactive webhooks',
    caughtBy: 'nothing is counted for a webhook that is unknown or not active',
    breaks: ({ deliveries }) => ({
      deliveries: {
        countReplay: async (tenantSlug, webhookId, selection) =>
          await deliveries.countReplay(tenantSlug, webhookId, selection) ?? { queued: 0, truncated: false }
      }
    })
  },
  {
    storage: 'counts replays to a webhook of another tenant',
    caughtBy: 'the count of a replay includes no events of another tenant, and is not for its webhook',
    breaks: ({ deliveries }) => ({
      deliveries: {
        countReplay: async (_tenantSlug, webhookId, selection) =>
          await deliveries.countReplay('acme', webhookId, selection) ?? deliveries.countReplay('globex', webhookId, selection)
      }
    })
  },
  {
    storage: 'replays to a webhook of another tenant',
    caughtBy: 'a replay neither uses events of another tenant nor goes to its webhook',
    breaks: ({ deliveries }) => ({
      deliveries: {
        replay: async (_tenantSlug, webhookId, selection) =>
          await deliveries.replay('acme', webhookId, selection) ?? deliveries.replay('globex', webhookId, selection)
      }
    })
  },
  {
    storage: 'excludes since and until',
    caughtBy: 'since and until are inclusive, to the millisecond that the log shows',
    breaks: ({ deliveries }) => ({
      deliveries: {
        replay: (tenantSlug, webhookId, selection) => deliveries.replay(tenantSlug, webhookId, {
          ...selection, since: selection.since && new Date(Date.parse(selection.since) + 1).toISOString()
        })
      }
    })
  },
  {
    storage: 'keeps the body when a subject is erased',
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
    storage: 'delivers pending deliveries of an erased subject',
    caughtBy: 'pending deliveries of an erased event are cancelled, including leased and waiting ones',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        erase: async (tenant, subject) =>
          [...data.events.values()].filter((record) => record.tenant === tenant && record.event.subject === subject).length
      }
    })
  },
  {
    storage: 'drops the result of a delivery that was stopped during its attempt',
    caughtBy: 'a delivery that stopped being pending during its attempt keeps its status, unless the attempt delivered it',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.filter(({ deliveryId }) =>
          data.deliveries.get(deliveryId)?.status === 'pending'), rule)
      }
    })
  },
  {
    storage: 'retries a delivery erased during its attempt',
    caughtBy: 'a delivery whose event is erased during the attempt is not retried',
    breaks: ({ deliveries, data, clock }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const notices = await deliveries.recordAttempts(results, rule)
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
    storage: 'forgets the traces of events',
    caughtBy: 'a claim has the trace of its event, also for a replay',
    breaks: ({ deliveries }) => ({
      deliveries: { record: (tenant, event, transaction) => deliveries.record(tenant, { ...event, traceParent: null }, transaction) }
    })
  },
  {
    storage: 'forgets all subjects but the first',
    caughtBy: 'an event with several subjects is erased by each of them',
    breaks: ({ deliveries }) => ({
      deliveries: { record: (tenant, event, transaction) => deliveries.record(tenant, { ...event, otherSubjects: [] }, transaction) }
    })
  },
  {
    storage: 'lists the events of a subject by its first subject alone',
    caughtBy: 'an event is listed by each of its subjects, and not for another tenant',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        listSubjectEvents: async (tenant, subject, options) =>
          (await deliveries.listSubjectEvents(tenant, subject, options)).filter(({ eventId }) => data.events.get(eventId)?.event.subject === subject)
      }
    })
  },
  {
    storage: 'ignores after when it lists the events of a subject',
    caughtBy: 'pages of events with a subject have each event once, in the order of recording',
    breaks: ({ deliveries }) => ({
      deliveries: {
        listSubjectEvents: async (tenant, subject, { after, limit }) => after > 1000 ? [] : deliveries.listSubjectEvents(tenant, subject, { after: Math.max(0, after - 1), limit })
      }
    })
  },
  {
    storage: 'lists only the last attempt to send an event about a subject',
    caughtBy: 'an event with a subject has its deliveries, with when and how each attempt ended',
    breaks: ({ deliveries }) => ({
      deliveries: {
        listSubjectEvents: async (tenant, subject, options) => (await deliveries.listSubjectEvents(tenant, subject, options)).map((event) => ({
          ...event, deliveries: event.deliveries.map((delivery) => ({ ...delivery, attempts: delivery.attempts.slice(-1) }))
        }))
      }
    })
  },
  {
    storage: 'does not list deliveries of deleted webhooks',
    caughtBy: 'erased events and deliveries of deleted webhooks are listed until they are pruned',
    breaks: ({ deliveries }) => ({
      deliveries: {
        listSubjectEvents: async (tenant, subject, options) => (await deliveries.listSubjectEvents(tenant, subject, options)).map((event) => ({
          ...event, deliveries: event.deliveries.filter(({ webhookName }) => webhookName !== null)
        }))
      }
    })
  },
  {
    storage: 'lists the events of a subject of all tenants',
    caughtBy: 'events with a subject belong to the renamed tenant, and a removed one leaves none',
    breaks: ({ deliveries }) => ({
      deliveries: {
        listSubjectEvents: async (tenant, subject, options) =>
          [...await deliveries.listSubjectEvents(tenant, subject, options), ...tenant === 'globex' ? [] : await deliveries.listSubjectEvents('globex', subject, options)]
      }
    })
  },
  {
    storage: 'erases the subject of every tenant',
    caughtBy: 'erasing a subject keeps the same subject of another tenant',
    breaks: ({ deliveries }) => ({
      deliveries: { erase: async (_tenantSlug, subject) => await deliveries.erase('acme', subject) + await deliveries.erase('globex', subject) }
    })
  },
  {
    storage: 'ignores the retention period',
    caughtBy: 'pruning in batches respects the limit and finally deletes everything',
    breaks: ({ deliveries }) => ({ deliveries: { prune: ({ retentionDays }) => deliveries.prune({ retentionDays, limit: 1000 }) } })
  },
  {
    storage: 'prunes pending deliveries',
    caughtBy: 'a pending delivery and its event are kept',
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
    storage: 'keeps idempotency keys forever',
    caughtBy: 'an event is kept while it has a delivery, and its idempotency key is deleted with it',
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
    storage: 'counts leased deliveries as neither pending nor due',
    caughtBy: 'stats counts pending, due and leased deliveries of all tenants',
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
    storage: 'counts paused deliveries as due',
    caughtBy: 'paused deliveries are pending, but not due',
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
    storage: 'counts the deliveries of all tenants for each',
    caughtBy: 'tenantStats counts what is pending, failing and ended of one tenant',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async tenantStats (tenant) {
          return { ...await deliveries.tenantStats(tenant), pending: (await deliveries.stats()).pending }
        }
      }
    })
  },
  {
    storage: 'has one oldest due delivery for all tenants',
    caughtBy: 'the oldest due delivery of a tenant is neither of another nor of a paused webhook',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async tenantStats (tenant) {
          return { ...await deliveries.tenantStats(tenant), oldestDueMs: (await deliveries.stats()).oldestDueMs }
        }
      }
    })
  },
  {
    storage: 'forgets retries when it looks for the oldest due delivery',
    caughtBy: 'a retry that is due counts as the oldest of its tenant',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async tenantStats (tenant) {
          const stats = await deliveries.tenantStats(tenant)
          const hasRetries = [...data.deliveries.values()].some(({ attempts }) => attempts.length > 0)
          return { ...stats, oldestDueMs: hasRetries ? 0 : stats.oldestDueMs }
        }
      }
    })
  },
  {
    storage: 'treats leased deliveries as ended',
    caughtBy: 'a leased delivery is pending until it ends',
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
    storage: 'keeps only the last attempt',
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
    storage: 'keeps deliveries of an inactive webhook pending',
    caughtBy: 'making a webhook inactive skips its pending deliveries, including leased and waiting ones',
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
