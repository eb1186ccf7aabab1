import t from 'tap'
import { createCapacity } from '../../../src/core/webhooks/sending/capacity.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'

function create (options: { concurrency?: number, perEndpoint?: number, worker?: boolean } = {}) {
  const clock = createManualClock()
  return { clock, capacity: createCapacity({ concurrency: 128, perEndpoint: 4, worker: true, ...options }, clock) }
}

t.test('tests and deliveries of a tenant together use its share, and other tenants find places', async (t) => {
  const { capacity } = create()
  for (let webhook = 0; webhook < 13; webhook++) {
    for (let count = 0; count < 4; count++) t.equal(await capacity.acquireTest('slow', webhook, 0), true)
  }
  let deliveries = 0
  while (capacity.tryAcquire('slow', 100 + deliveries)) deliveries++
  t.equal(deliveries, 64 - 52)
  t.equal(capacity.hasShare('slow'), false)
  t.equal(await capacity.acquireTest('quick', 1000, 0), true)
  t.equal(capacity.tryAcquire('quick', 1000), true)
})

t.test('where deliveries are sent, tests of all tenants leave them a quarter of the places', async (t) => {
  for (const [worker, most] of [[true, 6], [false, 8]] as const) {
    const { clock, capacity } = create({ concurrency: 8, worker })
    const waits = Array.from({ length: 9 }, (_none, index) => capacity.acquireTest(`t${index}`, index, 1000))
    await clock.advance(1000)
    t.equal((await Promise.all(waits)).filter(Boolean).length, most)
    t.equal(capacity.tryAcquire('other', 1000), worker)
  }
})

t.test('perEndpoint limits tests and deliveries of a webhook, and a waiting delivery goes first', async (t) => {
  const { clock, capacity } = create({ perEndpoint: 1 })
  let wanted: number | null = null
  capacity.setWorker({ isWanted: (_tenantId, webhookId) => webhookId === wanted, onTestReleased () {} })
  t.equal(capacity.tryAcquire('acme', 1), true)
  t.equal(capacity.tryAcquire('acme', 1), false)
  const blocked = capacity.acquireTest('acme', 1, 1000)
  t.equal(await capacity.acquireTest('acme', 2, 1000), true, 'a test of another webhook does not wait behind it')
  wanted = 1
  capacity.release('acme', 1)
  t.equal(capacity.tryAcquire('acme', 1), true)
  wanted = null
  capacity.release('acme', 1)
  t.equal(await blocked, true)
  const late = capacity.acquireTest('acme', 1, 1000)
  await clock.advance(1000)
  t.equal(await late, false)
  const ended = capacity.acquireTest('acme', 1, 1000)
  capacity.abort()
  t.equal(await ended, false)
  t.equal(clock.timerCount, 0)
})

t.test('a test beyond those that wait rejects', async (t) => {
  const { capacity } = create({ perEndpoint: 1 })
  await capacity.acquireTest('acme', 1, 1000)
  const waits = Array.from({ length: 50 }, () => capacity.acquireTest('acme', 1, 1000))
  await t.rejects(capacity.acquireTest('acme', 1, 1000), { code: 'busy' })
  t.equal(await capacity.acquireTest('other', 1000, 1000), true)
  capacity.abort()
  t.same(await Promise.all(waits), waits.map(() => false))
})
