import t from 'tap'
import fc from 'fast-check'
import { createPlaces } from '../../src/core/shared/places.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

function createTestPlaces (count: number, options: { waitMs?: number, maxWaiting?: number } = {}) {
  const clock = createManualClock()
  const places = createPlaces({
    count, waitMs: 1000, maxWaiting: 10, clock, full: () => new Error('full'), ...options
  })
  return { clock, places }
}

/** Takes places until the share is used up. Returns their number. */
function takeAll (places: ReturnType<typeof createPlaces>, tenantId: string): number {
  let count = 0
  while (places.tryAcquire(tenantId)) count++
  return count
}

t.test('one tenant gets half of the places, the next ones a share of the rest', async (t) => {
  const { places } = createTestPlaces(128)
  t.equal(takeAll(places, 'a'), 64)
  t.equal(takeAll(places, 'b'), 32)
  t.equal(takeAll(places, 'c'), 16)
  t.equal(places.free, 16)
  t.strictSame([...places.heldBy], [['a', 64], ['b', 32], ['c', 16]])
})

t.test('waiting calls take turns by tenant, not in their order', async (t) => {
  const { places } = createTestPlaces(1)
  await places.acquire('x')
  const order: string[] = []
  const calls = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => places.run(name.charAt(0), async () => {
    order.push(name)
  }))
  places.release('x')
  await Promise.all(calls)
  t.strictSame(order, ['a1', 'b1', 'c1', 'a2', 'a3'])
  t.equal(places.free, 1)
})

t.test('a call that waits too long, or behind too many of its tenant, rejects', async (t) => {
  const { clock, places } = createTestPlaces(1, { maxWaiting: 1 })
  await places.acquire('x')
  const late = places.acquire('a')
  await t.rejects(places.acquire('a'), new Error('full'))
  const other = places.acquire('b')
  const rejected = Promise.all([t.rejects(late, new Error('full')), t.rejects(other, new Error('full'))])
  await clock.advance(1000)
  await rejected
  places.release('x')
  t.equal(places.free, 1)
  await places.acquire('a')
  t.equal(places.free, 0)
})

t.test('a place returns after work that fails, and close rejects waiting calls', async (t) => {
  const { places } = createTestPlaces(1)
  await t.rejects(places.run('a', async () => { throw new Error('broken') }), new Error('broken'))
  t.equal(places.free, 1)
  await places.acquire('a')
  const waiting = t.rejects(places.acquire('a'), new Error('closed'))
  places.close(new Error('closed'))
  await waiting
})

t.test('no place is lost, and nobody waits while its share has room', async (t) => {
  const step = fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), releases: fc.boolean() })
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.array(step), async (count, steps) => {
    const { places } = createTestPlaces(count, { maxWaiting: 1000 })
    const held: string[] = []
    const waiting = new Map<string, number>()
    for (const { tenant, releases } of steps) {
      const at = held.indexOf(tenant)
      if (releases && at !== -1) {
        held.splice(at, 1)
        places.release(tenant)
      } else {
        waiting.set(tenant, (waiting.get(tenant) ?? 0) + 1)
        places.acquire(tenant).then(() => {
          held.push(tenant)
          waiting.set(tenant, (waiting.get(tenant) ?? 0) - 1)
        }, () => {})
      }
      await new Promise(setImmediate)
      if (places.free + held.length !== count) return false
      for (const [name, calls] of waiting) {
        if (calls > 0 && places.free > (places.heldBy.get(name) ?? 0)) return false
      }
    }
    places.close(new Error('over'))
    return true
  }), { numRuns: 100 })
})
