import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { benchCases, type StorageDriver } from '../../src/tools/testing/support/driver.js'
import { createEvent, createWebhook, delivered, failed, lenient, retry } from '../../src/tools/testing/support/samples.js'
import { SortedQueue } from '../../src/storages/memory/sorting.js'
import { makeMemoryHarness } from '../fixtures/delivery/memory-harness.js'

t.test('an event and its deliveries have the same time, even if the clock runs fast', async (t) => {
  let now = Date.parse('2026-03-01T09:30:00.000Z')
  const { webhooks, deliveries } = memoryStorage({ clock: { now: () => now++ } })
  await webhooks.create('acme', createWebhook(1), { maxPerTenant: 10 })
  await deliveries.record('acme', createEvent('evt_1'))
  const [lease] = await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
  await deliveries.recordAttempts(lease === undefined ? [] : [delivered(lease)], lenient)
  const [logged] = await deliveries.list('acme', 1, { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 1 })
  const at = String(logged?.created_at)
  const selection = { include: 'all', eventTypes: null, eventIds: null, since: at, until: at, limit: 1 } as const
  t.same(await deliveries.replay('acme', 1, selection), { queued: 1, truncated: false })
})

/** Runs a test over memory with the conformance kit's driver. */
function test (name: string, body: (t: Test, driver: StorageDriver) => Promise<void>): void {
  t.test(name, (t) => benchCases('deliveries')('onDue', name, (driver) => body(t, driver)).run(makeMemoryHarness))
}

test('every call that makes deliveries due calls the listeners', async (t, {
  deliveries, webhooks, addWebhook, emit, claimOne, recordAttempts, replay
}) => {
  let calls = 0
  deliveries.onDue(() => { calls++ })
  const heard = async (act: () => unknown): Promise<number> => {
    const before = calls
    await act()
    return calls - before
  }

  t.equal(await heard(() => emit()), 0, 'nobody subscribes')
  const webhook = await addWebhook()
  t.equal(await heard(() => emit()), 1)
  const lease = await claimOne()
  t.equal(await heard(() => deliveries.release([lease])), 1)
  t.equal(await heard(() => deliveries.release([lease])), 0)
  t.equal(await heard(async () => recordAttempts([failed(await claimOne())])), 0)
  t.equal(await heard(() => replay(webhook)), 1)
  t.equal(await heard(() => replay(webhook)), 0)
  t.equal(await heard(async () => recordAttempts([retry(await claimOne())])), 0)
  t.equal(await heard(() => webhooks.update('acme', webhook.id, { status: 'inactive' })), 0)
  t.equal(await heard(() => emit()), 0, 'skipped')
  t.equal(await heard(() => webhooks.update('acme', webhook.id, { status: 'active' })), 1)
})

test('a listener that throws causes a warning, and affects neither the call nor other listeners', async (t, {
  deliveries, addWebhook, emit
}) => {
  await addWebhook()
  const warnings = t.capture(process, 'emitWarning', () => {})
  const broken = new Error('broken')
  let calls = 0
  deliveries.onDue(() => { throw broken })
  // eslint-disable-next-line no-throw-literal
  deliveries.onDue(() => { throw 'text' })
  deliveries.onDue(() => { calls++ })

  t.hasStrict(await emit(), { deliveries: 1 })
  t.equal(calls, 1)
  t.strictSame(warnings().map(({ args: [warning] }) => warning), [broken, 'text'])
})

interface Item {
  id: number
  rank: number
}

function createQueue (ranks: readonly number[]): { queue: SortedQueue<Item>, items: Item[] } {
  const queue = new SortedQueue<Item>(({ rank }) => rank)
  const items = ranks.map((rank, id) => ({ id, rank }))
  for (const item of items) queue.add(item)
  return { queue, items }
}

function drain (queue: SortedQueue<Item>): Item[] {
  const drained: Item[] = []
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) drained.push(item)
  return drained
}

const ranks = fc.array(fc.integer({ min: 0, max: 20 }))

t.test('items leave the queue by rank and then id, and can be removed at any position', async () => {
  fc.assert(fc.property(ranks, fc.func(fc.boolean()), (given, isRemoved) => {
    const { queue, items } = createQueue(given)
    const removed = items.filter(({ id }) => isRemoved(id))
    const wereThere = removed.every((item) => queue.remove(item))
    const areThere = removed.some((item) => queue.remove(item))
    const left = items.filter((item) => !removed.includes(item)).toSorted((a, b) => a.rank - b.rank || a.id - b.id)
    return wereThere && !areThere && isDeepStrictEqual(drain(queue), left)
  }))
})

t.test('a long queue keeps its order while items are added and taken alternately', async (t) => {
  const queue = new SortedQueue<Item>(({ rank }) => rank)
  const seen: number[] = []
  for (let id = 0; id < 5000; id++) {
    queue.add({ id, rank: id })
    if (id % 2 === 1) seen.push(queue.shift()?.id ?? -1)
  }
  queue.add({ id: 5000, rank: 0 })
  seen.push(...drain(queue).map(({ id }) => id))

  t.equal(queue.size, 0)
  t.strictSame(seen.filter((id) => id !== 5000), Array.from({ length: 5000 }, (_, id) => id))
  t.equal(seen.indexOf(5000), 2500)
})

test('a delivery counts for exactly an hour after it ended', async (t, { deliveries, addWebhook, lease, recordAttempts, wait }) => {
  await addWebhook()
  const [first, second] = await lease(2)
  await recordAttempts([delivered(first), failed(second)])
  await wait(3_599_999)
  t.match(await deliveries.tenantStats('acme'), { delivered: 1, failed: 1, failing: 1 })
  await wait(1)
  t.match(await deliveries.tenantStats('acme'), { delivered: 0, failed: 0, failing: 1 })
})

t.test('a page of the feed ends at 4 MB, and the next page follows', async (t) => {
  const { deliveries, feed } = memoryStorage()
  const ids = ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5']
  for (const id of ids) {
    await deliveries.record('acme', { ...createEvent(id), body: JSON.stringify({ id, data: 'x'.repeat(15e5) }) })
  }
  const pages: string[][] = []
  for (let after: string | null = null, hasMore = true; hasMore;) {
    const page = await feed?.list('acme', { after, limit: 100, eventTypes: null })
    pages.push((page?.bodies ?? []).map((body) => JSON.parse(body).id))
    after = page?.position ?? null
    hasMore = page?.hasMore ?? false
  }
  t.strictSame(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
  t.equal((await feed?.latest('acme', { limit: 100, eventTypes: null }))?.length, 2)
})
