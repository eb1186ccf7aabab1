import { benchCase } from '../support/bench.js'
import { holds, same } from '../support/expect.js'
import { delivered, retry } from '../support/samples.js'

const pending =
  'Whether a pending delivery of an active webhook is leased, or can be attempted within this time from now: it falls ' +
  'due by then, and its webhook is no longer paused.'
const figures = 'Tells what waits, what is due and what is leased, over all tenants.'
const waiting = 'Deliveries that wait for an attempt, now or later, leased and paused ones included.'
const oldest = 'How long the oldest due delivery has been due, in milliseconds; 0 if none is.'

const idle = { pending: 0, due: 0, leased: 0, oldestDueMs: 0, atLeast: { pending: false, due: false } }

/** Cases about what is pending, and its figures. */
export const pendingCases = [
  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'without deliveries nothing is pending'
  }, async ({ deliveries }) => {
    same([await deliveries.hasPending(1e9), await deliveries.stats()], [false, idle], 'hasPending, and the figures')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'what falls due within the time asked for is pending'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete }) => {
    await addWebhook()
    await emit()
    same(await deliveries.hasPending(0), true, 'hasPending(0) when a delivery is due')
    await complete([retry(await claimOne(), { retryInMs: 600_000 })])
    same([await deliveries.hasPending(0), await deliveries.hasPending(300_000), await deliveries.hasPending(600_000)], [false, false, true],
      'hasPending for no time, five minutes and ten, when it is due in ten')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'what is leased is pending until it ends'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete }) => {
    await addWebhook()
    await emit()
    const lease = await claimOne()
    same(await deliveries.hasPending(0), true, 'hasPending(0) while it is leased')
    await complete([delivered(lease)])
    same(await deliveries.hasPending(1e9), false, 'hasPending for days when it has ended')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending',
    says: pending,
    name: 'what is paused is pending when its webhook is no longer paused'
  }, async ({ deliveries, addWebhook, emitMany, claimOne, complete }) => {
    await addWebhook()
    await emitMany(2)
    await complete([retry(await claimOne(), { retryInMs: 900_000, pauseMs: 600_000 })])
    same([await deliveries.hasPending(0), await deliveries.hasPending(300_000), await deliveries.hasPending(600_000)], [false, false, true],
      'hasPending for no time, five minutes and ten, when its webhook is paused for ten')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', says: pending, name: 'nothing of a webhook that is not active is pending'
  }, async ({ webhooks, deliveries, addWebhook, emitMany, claimOne }) => {
    const { id } = await addWebhook()
    await emitMany(2)
    await claimOne()
    await webhooks.update('acme', id, { status: 'inactive' })
    same([await deliveries.hasPending(1e9), await deliveries.stats()], [false, idle], 'hasPending, and the figures')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats',
    says: `${figures} … ${waiting}`,
    name: 'the figures tell what waits, what is due and what is leased, over all tenants'
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
    same(await count(), [3, 2, 0], 'pending, due and leased when one arrived and one waits')
    await claimAll(2, { leaseMs: 10 })
    await wait(10)
    same(await count(), [3, 2, 0], 'pending, due and leased when two leases have run out')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats', says: oldest, name: 'the oldest due delivery tells how long it has been due'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete, wait }) => {
    await addWebhook()
    await emit()
    await wait(100)
    await emit()
    const { oldestDueMs } = await deliveries.stats()
    holds(oldestDueMs >= 100 && oldestDueMs < 60_000, `oldestDueMs is some 100 when the oldest was recorded 100 ms ago, not ${oldestDueMs}`)
    const first = await claimOne()
    holds((await deliveries.stats()).oldestDueMs >= 100, 'it still is when that one is leased')
    await complete([retry(first)])
    await complete([retry(await claimOne())])
    same((await deliveries.stats()).oldestDueMs, 0, 'oldestDueMs when nothing is due')
  })
]
