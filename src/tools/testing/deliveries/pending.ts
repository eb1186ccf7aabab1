import { benchCases, eventIds, eventually, webhookCases } from '../support/driver.js'
import { exactly, holds, same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')

const quiet = {
  pending: 0,
  oldestDueMs: 0,
  failing: 0,
  delivered: 0,
  failed: 0,
  atLeast: { pending: false, delivered: false, failed: false },
  suspendedSince: null
}

const idle = {
  pending: 0, due: 0, leased: 0, oldestDueMs: 0, atLeast: { pending: false, due: false }, suspendedTenants: 0
}

export const pendingCases = [
  // About `hasPending` and `stats`.
  emptyTest('hasPending', 'nothing is pending without deliveries', async (t) => {
    same([await t.deliveries.hasPending(1e9), await t.deliveries.stats()], [false, idle], 'hasPending, and the stats')
  }),

  test('hasPending', 'a delivery that becomes due within the given time is pending', async (t) => {
    await t.emit()
    same(await t.deliveries.hasPending(0), true, 'hasPending(0) when a delivery is due')
    await t.recordAttempts([retry(await t.claimOne(), { retryInMs: 600_000 })])
    same(await Promise.all([0, 300_000, 600_000].map((ms) => t.deliveries.hasPending(ms))), [false, false, true],
      'hasPending within 0, 5 and 10 minutes, for a delivery due in 10')
  }),

  test('hasPending', 'a leased delivery is pending until it ends', async (t) => {
    const lease = await t.leaseOne()
    same(await t.deliveries.hasPending(0), true, 'hasPending(0) while the delivery is leased')
    await t.recordAttempts([delivered(lease)])
    same(await t.deliveries.hasPending(1e9), false, 'hasPending(1e9) after it has ended')
  }),

  test('hasPending', 'a paused delivery is pending if the pause ends within the given time', async (t) => {
    await t.emitMany(2)
    await t.recordAttempts([retry(await t.claimOne(), { retryInMs: 900_000, pauseMs: 600_000 })])
    same(await Promise.all([0, 300_000, 600_000].map((ms) => t.deliveries.hasPending(ms))), [false, false, true],
      'hasPending within 0, 5 and 10 minutes, when its webhook is paused for 10')
  }),

  test('hasPending', 'a webhook that is not active has no pending deliveries', async (t, { id }) => {
    await t.emitMany(2)
    await t.claimOne()
    await t.webhooks.update('acme', id, { status: 'inactive' })
    same([await t.deliveries.hasPending(1e9), await t.deliveries.stats()], [false, idle], 'hasPending, and the stats')
  }),

  emptyTest('stats', 'stats counts pending, due and leased deliveries of all tenants', async (t) => {
    const count = async (): Promise<number[]> => {
      const { pending, due, leased } = await t.deliveries.stats()
      return [pending, due, leased]
    }
    await t.addWebhook()
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.emitMany(3)
    await t.emitMany(1, { tenantSlug: 'globex' })
    same(await count(), [4, 4, 0], 'pending, due and leased with four due')
    const [first, second, third] = await t.claimAll(3)
    same(await count(), [4, 4, 3], 'pending, due and leased with three of them leased')
    await t.recordAttempts([delivered(first), retry(second), retry(third, { retryInMs: 10 })])
    await t.wait(10)
    same(await count(), [3, 2, 0], 'pending, due and leased when one was delivered and one waits')
    await t.claimAll(2, { leaseMs: 10 })
    await t.wait(10)
    same(await count(), [3, 2, 0], 'pending, due and leased when two leases have expired')
  }),

  test('stats', 'oldestDueMs is the time since the oldest due delivery became due', async (t) => {
    await t.emit()
    await t.wait(100)
    await t.emit()
    const { oldestDueMs } = await t.deliveries.stats()
    holds(oldestDueMs >= 100 && oldestDueMs < 60_000,
      `oldestDueMs is about 100 when the oldest was recorded 100 ms ago, not ${oldestDueMs}`)
    const first = await t.claimOne()
    holds((await t.deliveries.stats()).oldestDueMs >= 100,
      'oldestDueMs is still at least 100 when that delivery is leased')
    await t.recordAttempts([retry(first)])
    await t.complete(retry)
    same((await t.deliveries.stats()).oldestDueMs, 0, 'oldestDueMs when nothing is due')
  }),

  emptyTest('tenantStats', 'tenantStats counts the deliveries and failing webhooks of one tenant', async (t) => {
    const read = async (tenant: string): Promise<number[]> => {
      const { pending, failing, delivered, failed } = await t.deliveries.tenantStats(tenant)
      return [pending, failing, delivered, failed]
    }
    same(await t.deliveries.tenantStats('acme'), quiet, 'the stats of a tenant without webhooks')
    const { id } = await t.addWebhook()
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.emitMany(5)
    await t.emitMany(2, { tenantSlug: 'globex' })
    same([await read('acme'), await read('globex'), await read('nobody')], [[5, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]],
      'pending, failing, delivered and failed when all are due')
    const leases = await t.claimAll(7)
    same([await read('acme'), await read('globex')], [[5, 0, 0, 0], [2, 0, 0, 0]], 'the same when all are leased')
    const [first, second, third, ...others] = exactly(leases.filter(({ webhookId }) => webhookId === id), 5,
      'leases of acme')
    const theirs = leases.filter(({ webhookId }) => webhookId !== id)
    await t.recordAttempts([...theirs, ...others].map(delivered))
    await t.recordAttempts([failed(first), failed(second), retry(third)])
    same([await read('acme'), await read('globex')], [[1, 1, 2, 2], [0, 0, 2, 0]],
      'the same when two were delivered, two failed and one waits')
    await t.webhooks.update('acme', id, { status: 'inactive' })
    same(await read('acme'), [0, 0, 2, 2], 'the same when the webhook is inactive')
    await t.webhooks.delete('acme', id)
    same([await t.deliveries.tenantStats('acme'), await read('globex')], [quiet, [0, 0, 2, 0]],
      'the stats when the webhook is deleted')
  }),

  emptyTest('tenantStats',
    'oldestDueMs of a tenant ignores other tenants and paused webhooks', async (t) => {
      const oldestOf = async (tenant: string): Promise<number> => (await t.deliveries.tenantStats(tenant)).oldestDueMs
      await t.addWebhook()
      await t.addWebhook({ tenantSlug: 'globex' })
      await t.emit()
      await t.wait(100)
      holds((await oldestOf('acme')) >= 100,
        'oldestDueMs of acme is at least 100 when its delivery was recorded 100 ms ago')
      same([await oldestOf('globex'), await oldestOf('nobody')], [0, 0],
        'oldestDueMs of tenants without due deliveries')
      const lease = await t.claimOne()
      holds(await oldestOf('acme') >= 100, 'oldestDueMs of acme is still at least 100 when that delivery is leased')
      await t.emit()
      await t.recordAttempts([retry(lease, { retryInMs: 10, pauseMs: 600_000 })])
      await t.wait(10)
      const { pending, oldestDueMs } = await t.deliveries.tenantStats('acme')
      same([pending, oldestDueMs], [2, 0], 'pending and oldestDueMs when the webhook is paused')
    }),

  test('tenantStats', 'oldestDueMs of a tenant includes due retries', async (t) => {
    await t.attempt((lease) => retry(lease, { retryInMs: 10 }))
    await t.wait(110)
    const { oldestDueMs } = await t.deliveries.tenantStats('acme')
    holds(oldestDueMs >= 100 && oldestDueMs < 60_000,
      `oldestDueMs is about 100 when a retry became due 100 ms ago, not ${oldestDueMs}`)
  }),

  // About `onDue`.
  test('onDue', 'a listener can claim the recorded event', async (t) => {
    const claims: Array<ReturnType<typeof t.claim>> = []
    const end = t.deliveries.onDue(() => { claims.push(t.claim()) })
    await t.emit()
    await eventually(() => claims.length > 0)
    end()
    same(eventIds((await Promise.all(claims)).flat()), ['evt_1'], 'the deliveries that a listener claims')
  }),

  test('onDue', 'every listener is called for a recorded event until it is stopped', async (t) => {
    const called = new Set<number>()
    const ends = [0, 1, 2].map((listener) => t.deliveries.onDue(async () => called.add(listener).size > 0))
    for (let count = 0; count < 2; count++) ends[0]?.()
    await t.emit()
    await eventually(() => called.size > 1)
    for (const end of ends) end()
    same([...called].toSorted(), [1, 2], 'the listeners that were called, of three, the first of which was stopped')
  })
]
