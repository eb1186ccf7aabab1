import { benchCase } from '../support/bench.js'
import { holds, same } from '../support/expect.js'
import { delivered, retry } from '../support/samples.js'

const pending =
  'Returns whether a pending delivery of an active webhook is leased, or can be attempted within this time from ' +
  'now: it becomes due and its webhook is no longer paused by then.'
const figures = 'Counts pending, due and leased deliveries of all tenants.'
const waiting = 'Deliveries waiting for an attempt, now or later, including leased and paused ones.'
const oldest = 'Milliseconds since the oldest due delivery became due; 0 if none is due.'

const idle = { pending: 0, due: 0, leased: 0, oldestDueMs: 0, atLeast: { pending: false, due: false } }

/** Cases about `hasPending` and `stats`. */
export const pendingCases = [
  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'nothing is pending without deliveries'
  }, async ({ deliveries }) => {
    same([await deliveries.hasPending(1e9), await deliveries.stats()], [false, idle], 'hasPending, and the stats')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'a delivery that becomes due within the given time is pending'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete }) => {
    await addWebhook()
    await emit()
    same(await deliveries.hasPending(0), true, 'hasPending(0) when a delivery is due')
    await complete([retry(await claimOne(), { retryInMs: 600_000 })])
    same([await deliveries.hasPending(0), await deliveries.hasPending(300_000), await deliveries.hasPending(600_000)], [false, false, true],
      'hasPending within 0, 5 and 10 minutes, for a delivery due in 10')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'a leased delivery is pending until it ends'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete }) => {
    await addWebhook()
    await emit()
    const lease = await claimOne()
    same(await deliveries.hasPending(0), true, 'hasPending(0) while the delivery is leased')
    await complete([delivered(lease)])
    same(await deliveries.hasPending(1e9), false, 'hasPending(1e9) after it has ended')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending',
    says: pending,
    name: 'a paused delivery is pending if the pause ends within the given time'
  }, async ({ deliveries, addWebhook, emitMany, claimOne, complete }) => {
    await addWebhook()
    await emitMany(2)
    await complete([retry(await claimOne(), { retryInMs: 900_000, pauseMs: 600_000 })])
    same([await deliveries.hasPending(0), await deliveries.hasPending(300_000), await deliveries.hasPending(600_000)], [false, false, true],
      'hasPending within 0, 5 and 10 minutes, when its webhook is paused for 10')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'a webhook that is not active has no pending deliveries'
  }, async ({ webhooks, deliveries, addWebhook, emitMany, claimOne }) => {
    const { id } = await addWebhook()
    await emitMany(2)
    await claimOne()
    await webhooks.update('acme', id, { status: 'inactive' })
    same([await deliveries.hasPending(1e9), await deliveries.stats()], [false, idle], 'hasPending, and the stats')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats',
    says: `${figures} … ${waiting}`,
    name: 'stats counts pending, due and leased deliveries of all tenants'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, complete, wait }) => {
    const count = async (): Promise<number[]> => {
      const { pending, due, leased } = await deliveries.stats()
      return [pending, due, leased]
    }
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emitMany(3)
    await emitMany(1, { tenantSlug: 'globex' })
    same(await count(), [4, 4, 0], 'pending, due and leased with four due')
    const [first, second, third] = await claimAll(3)
    same(await count(), [4, 4, 3], 'pending, due and leased with three of them leased')
    await complete([delivered(first), retry(second), retry(third, { retryInMs: 10 })])
    await wait(10)
    same(await count(), [3, 2, 0], 'pending, due and leased when one was delivered and one waits')
    await claimAll(2, { leaseMs: 10 })
    await wait(10)
    same(await count(), [3, 2, 0], 'pending, due and leased when two leases have expired')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats', says: oldest, name: 'oldestDueMs is the time since the oldest due delivery became due'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete, wait }) => {
    await addWebhook()
    await emit()
    await wait(100)
    await emit()
    const { oldestDueMs } = await deliveries.stats()
    holds(oldestDueMs >= 100 && oldestDueMs < 60_000, `oldestDueMs is about 100 when the oldest was recorded 100 ms ago, not ${oldestDueMs}`)
    const first = await claimOne()
    holds((await deliveries.stats()).oldestDueMs >= 100, 'oldestDueMs is still at least 100 when that delivery is leased')
    await complete([retry(first)])
    await complete([retry(await claimOne())])
    same((await deliveries.stats()).oldestDueMs, 0, 'oldestDueMs when nothing is due')
  })
]
