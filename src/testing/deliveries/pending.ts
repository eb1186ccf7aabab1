import { benchCase, eventIds } from '../support/driver.js'
import { exactly, holds, same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'
import { eventually } from '../support/wait.js'

const quiet = {
  pending: 0,
  oldestDueMs: 0,
  failing: 0,
  delivered: 0,
  failed: 0,
  atLeast: { pending: false, delivered: false, failed: false }
}
const idle = { pending: 0, due: 0, leased: 0, oldestDueMs: 0, atLeast: { pending: false, due: false } }

/** Cases about `hasPending` and `stats`. */
export const pendingCases = [
  benchCase('deliveries', {
    port: 'deliveries.hasPending', name: 'nothing is pending without deliveries'
  }, async ({ deliveries }) => {
    same([await deliveries.hasPending(1e9), await deliveries.stats()], [false, idle], 'hasPending, and the stats')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', name: 'a delivery that becomes due within the given time is pending'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts }) => {
    await addWebhook()
    await emit()
    same(await deliveries.hasPending(0), true, 'hasPending(0) when a delivery is due')
    await recordAttempts([retry(await claimOne(), { retryInMs: 600_000 })])
    same(
      [await deliveries.hasPending(0), await deliveries.hasPending(300_000), await deliveries.hasPending(600_000)],
      [false, false, true],
      'hasPending within 0, 5 and 10 minutes, for a delivery due in 10'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', name: 'a leased delivery is pending until it ends'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts }) => {
    await addWebhook()
    await emit()
    const lease = await claimOne()
    same(await deliveries.hasPending(0), true, 'hasPending(0) while the delivery is leased')
    await recordAttempts([delivered(lease)])
    same(await deliveries.hasPending(1e9), false, 'hasPending(1e9) after it has ended')
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending',
    name: 'a paused delivery is pending if the pause ends within the given time'
  }, async ({ deliveries, addWebhook, emitMany, claimOne, recordAttempts }) => {
    await addWebhook()
    await emitMany(2)
    await recordAttempts([retry(await claimOne(), { retryInMs: 900_000, pauseMs: 600_000 })])
    same(
      [await deliveries.hasPending(0), await deliveries.hasPending(300_000), await deliveries.hasPending(600_000)],
      [false, false, true],
      'hasPending within 0, 5 and 10 minutes, when its webhook is paused for 10'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.hasPending', name: 'a webhook that is not active has no pending deliveries'
  }, async ({ webhooks, deliveries, addWebhook, emitMany, claimOne }) => {
    const { id } = await addWebhook()
    await emitMany(2)
    await claimOne()
    await webhooks.update('acme', id, { status: 'inactive' })
    same([await deliveries.hasPending(1e9), await deliveries.stats()], [false, idle], 'hasPending, and the stats')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats',
    name: 'stats counts pending, due and leased deliveries of all tenants'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, recordAttempts, wait }) => {
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
    await recordAttempts([delivered(first), retry(second), retry(third, { retryInMs: 10 })])
    await wait(10)
    same(await count(), [3, 2, 0], 'pending, due and leased when one was delivered and one waits')
    await claimAll(2, { leaseMs: 10 })
    await wait(10)
    same(await count(), [3, 2, 0], 'pending, due and leased when two leases have expired')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats', name: 'oldestDueMs is the time since the oldest due delivery became due'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, wait }) => {
    await addWebhook()
    await emit()
    await wait(100)
    await emit()
    const { oldestDueMs } = await deliveries.stats()
    holds(
      oldestDueMs >= 100 && oldestDueMs < 60_000,
      `oldestDueMs is about 100 when the oldest was recorded 100 ms ago, not ${oldestDueMs}`
    )
    const first = await claimOne()
    holds(
      (await deliveries.stats()).oldestDueMs >= 100,
      'oldestDueMs is still at least 100 when that delivery is leased'
    )
    await recordAttempts([retry(first)])
    await recordAttempts([retry(await claimOne())])
    same((await deliveries.stats()).oldestDueMs, 0, 'oldestDueMs when nothing is due')
  }),

  benchCase('deliveries', {
    port: 'deliveries.tenantStats', name: 'tenantStats counts what is pending, failing and ended of one tenant'
  }, async ({ webhooks, deliveries, addWebhook, emitMany, claimAll, recordAttempts }) => {
    const read = async (tenant: string): Promise<number[]> => {
      const { pending, failing, delivered, failed } = await deliveries.tenantStats(tenant)
      return [pending, failing, delivered, failed]
    }
    same(await deliveries.tenantStats('acme'), quiet, 'the stats of a tenant without webhooks')
    const { id } = await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emitMany(5)
    await emitMany(2, { tenantSlug: 'globex' })
    same([await read('acme'), await read('globex'), await read('nobody')], [[5, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]],
      'pending, failing, delivered and failed when all are due')
    const leases = await claimAll(7)
    same([await read('acme'), await read('globex')], [[5, 0, 0, 0], [2, 0, 0, 0]], 'the same when all are leased')
    const [first, second, third, ...others] = exactly(
      leases.filter(({ webhookId }) => webhookId === id),
      5,
      'leases of acme'
    )
    const theirs = leases.filter(({ webhookId }) => webhookId !== id)
    await recordAttempts([
      ...theirs.map((lease) => delivered(lease)),
      ...others.map((lease) => delivered(lease)),
      failed(first),
      failed(second),
      retry(third)
    ])
    same(
      [await read('acme'), await read('globex')],
      [
        [1, 1, 2, 2],
        [0, 0, 2, 0]
      ],
      'the same when two were delivered, two failed and one waits'
    )
    await webhooks.update('acme', id, { status: 'inactive' })
    same(await read('acme'), [0, 0, 2, 2], 'the same when the webhook is inactive')
    await webhooks.delete('acme', id)
    same(
      [await deliveries.tenantStats('acme'), await read('globex')],
      [quiet, [0, 0, 2, 0]],
      'the stats when the webhook is deleted'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.tenantStats',
    name: 'the oldest due delivery of a tenant is neither of another nor of a paused webhook'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, wait }) => {
    const oldestOf = async (tenant: string): Promise<number> => (await deliveries.tenantStats(tenant)).oldestDueMs
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emit()
    await wait(100)
    holds(
      (await oldestOf('acme')) >= 100,
      'oldestDueMs of acme is at least 100 when its delivery was recorded 100 ms ago'
    )
    same([await oldestOf('globex'), await oldestOf('nobody')], [0, 0], 'oldestDueMs of tenants without due deliveries')
    const lease = await claimOne()
    holds(await oldestOf('acme') >= 100, 'oldestDueMs of acme is still at least 100 when that delivery is leased')
    await emit()
    await recordAttempts([retry(lease, { retryInMs: 10, pauseMs: 600_000 })])
    await wait(10)
    const { pending, oldestDueMs } = await deliveries.tenantStats('acme')
    same([pending, oldestDueMs], [2, 0], 'pending and oldestDueMs when the webhook is paused')
  }),

  benchCase('deliveries', {
    port: 'deliveries.tenantStats', name: 'a retry that is due counts as the oldest of its tenant'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, wait }) => {
    await addWebhook()
    await emit()
    await recordAttempts([retry(await claimOne(), { retryInMs: 10 })])
    await wait(110)
    const { oldestDueMs } = await deliveries.tenantStats('acme')
    holds(
      oldestDueMs >= 100 && oldestDueMs < 60_000,
      `oldestDueMs is about 100 when a retry became due 100 ms ago, not ${oldestDueMs}`
    )
  })
]

/** Cases about `onDue`. */
export const onDueCases = [
  benchCase('deliveries', {
    port: 'deliveries.onDue', name: 'every listener is called for a recorded event'
  }, async ({ deliveries, addWebhook, emit }) => {
    await addWebhook()
    let first = 0
    let second = 0
    const ends = [deliveries.onDue(() => { first++ }), deliveries.onDue(() => { second++ })]
    await emit()
    const isHeard = await eventually(() => first > 0 && second > 0)
    for (const end of ends) end()
    holds(isHeard, 'both listeners are called within 5 s')
  }),

  benchCase('deliveries', {
    port: 'deliveries.onDue', name: 'a listener can claim the recorded event'
  }, async ({ deliveries, addWebhook, emit, claim }) => {
    await addWebhook()
    const claims: Array<ReturnType<typeof claim>> = []
    const end = deliveries.onDue(() => { claims.push(claim()) })
    await emit()
    await eventually(() => claims.length > 0)
    end()
    same(eventIds((await Promise.all(claims)).flat()), ['evt_1'], 'the deliveries that a listener claims')
  }),

  benchCase('deliveries', {
    port: 'deliveries.onDue', name: 'each listener stops independently, and may be stopped twice'
  }, async ({ deliveries, addWebhook, emit }) => {
    await addWebhook()
    let ended = 0
    let listening = 0
    const endFirst = deliveries.onDue(() => { ended++ })
    const endSecond = deliveries.onDue(() => { listening++ })
    endFirst()
    endFirst()
    await emit()
    const isHeard = await eventually(() => listening > 0)
    endSecond()
    endSecond()
    same([ended, isHeard], [0, true], 'the calls of the stopped listener, and whether the other was called')
  })
]
