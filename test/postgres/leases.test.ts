import t from 'tap'
import { createEvent, createWebhook, delivered, lenient, retry } from '../../src/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres.js'

// What one claim has leased is kept in one row, or in one for every 64 deliveries.
t.test('leases that were claimed together', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear, lockWaited } = await startPostgresHost(t)
  const claim = (changes: object = {}) => deliveries.claimDue({ limit: 1000, perEndpoint: 1000, leaseMs: 60_000, ...changes })
  const ids = (leases: ReadonlyArray<{ deliveryId: number }>) => leases.map(({ deliveryId }) => deliveryId).sort((a, b) => a - b)
  const rows = async () => (await pool.query('select cardinality(delivery_ids) as leases from recruiting.leases order by fence, part')).rows
  const count = (status: 'pending' | 'delivered') => deliveries.count('acme', 1, { status })

  async function record (count: number, subject: string | null = null): Promise<void> {
    for (let i = 0; i < count; i++) {
      await deliveries.record('acme', { ...createEvent(`evt_${i}`), subject, tombstone: subject === null ? null : '{}' })
    }
  }

  t.beforeEach(async () => {
    await clear()
    await webhooks.create('acme', createWebhook(1), 10)
  })

  t.test('end one by one, however many there are, and nothing is left of them', async (t) => {
    await record(150)
    const claimed = await claim()
    t.equal(claimed.length, 150)
    t.same(await rows(), [{ leases: 64 }, { leases: 64 }, { leases: 22 }])
    const third = (rest: number) => claimed.filter((_, index) => index % 3 === rest)

    await deliveries.complete(third(0).map(delivered), lenient)
    t.equal(await count('delivered'), 50)
    t.match(await deliveries.stats(), { pending: 100, leased: 100 })
    await deliveries.release(third(1))
    t.match(await deliveries.stats(), { pending: 100, leased: 50 })
    const again = await claim()
    t.same(ids(again), ids(third(1)), 'what was given back is claimed, and nothing else')
    await deliveries.complete([...third(2), ...again].map(delivered), lenient)
    t.equal(await count('delivered'), 150)
    t.same(await rows(), [])
  })

  t.test('are lost one by one when they have run out', async (t) => {
    await record(3)
    const lost = await claim({ leaseMs: 1 })
    await pool.query('select pg_sleep(0.01)')
    const held = await claim({ limit: 2 })
    t.same(await rows(), [{ leases: 1 }, { leases: 2 }])
    await deliveries.complete(lost.map(delivered), lenient)
    t.equal(await count('delivered'), 1)
    await deliveries.complete(held.map(delivered), lenient)
    t.equal(await count('delivered'), 3)
    t.same(await rows(), [])
  })

  t.test('are forgotten a day after they ran out, unless one of them may still be completed', async (t) => {
    await record(3)
    const [first] = await claim({ limit: 1 })
    const [second, third] = await claim({ limit: 2 })
    if (first === undefined || second === undefined || third === undefined) throw new Error('nothing was claimed')
    await pool.query("update recruiting.deliveries set status = 'cancelled' where id = any ($1)", [[first.deliveryId, second.deliveryId]])
    await pool.query("update recruiting.leases set leased_until = now() - interval '23 hours'")
    await deliveries.prune({ retentionDays: 30, limit: 10 })
    t.same(await rows(), [{ leases: 1 }, { leases: 2 }])
    await pool.query("update recruiting.leases set leased_until = now() - interval '25 hours'")
    await deliveries.prune({ retentionDays: 30, limit: 10 })
    t.same(await rows(), [{ leases: 2 }])
    await deliveries.complete([delivered(third)], lenient)
    t.equal(await count('delivered'), 1)
  })

  t.test('keep nobody waiting who stops or erases their deliveries', async (t) => {
    await record(2, 'candidate:1')
    const [first, second] = await claim()
    if (first === undefined || second === undefined) throw new Error('nothing was claimed')
    const client = await pool.connect()
    await client.query('begin; select from recruiting.leases for update')
    t.equal(await deliveries.erase('acme', 'candidate:1'), 2)
    t.match(await webhooks.update('acme', 1, { status: 'inactive' }), { status: 'inactive' })
    await client.query('commit')
    client.release()
    await deliveries.complete([delivered(first), retry(second)], lenient)
    t.equal(await count('delivered'), 1)
    t.same(await rows(), [])
  })

  t.test('are completed once a transaction that erased some of them is over', async (t) => {
    await record(1, 'candidate:1')
    await deliveries.record('acme', createEvent('evt_other'))
    const claimed = await claim()
    t.equal(claimed.length, 2)
    const client = await pool.connect()
    await client.query('begin')
    await deliveries.erase('acme', 'candidate:1', client)
    const completing = deliveries.complete(claimed.map((lease) => retry(lease)), lenient)
    await lockWaited('complete_attempts')
    await client.query('commit')
    client.release()
    await completing
    const log = await deliveries.list('acme', 1, { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 10 })
    t.same(log.map(({ status, attempt_count: attempts }) => [status, attempts]), [['cancelled', 1], ['pending', 1]])
    t.same(await rows(), [])
  })
})
