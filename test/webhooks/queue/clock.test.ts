import t from 'tap'
import { cacheKeyLookup } from '../../../src/index.js'
import { memoryChanges } from '../../../src/memory/index.js'
import { createMachines } from '../../fixtures/delivery/engine.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'

const hourMs = 3_600_000

t.test('a worker whose claims fail is not alive, even if the clock was set back', async (t) => {
  const { clock, start, storage } = createMachines(t)
  const engine = start({ delivery: { pollMs: 1000 } })
  await engine.drain()
  storage.deliveries.claimDue = async () => { throw new Error('lost') }
  clock.setBack(hourMs)
  await clock.advance(40_000)
  t.match(await engine.health(), { alive: false })
})

t.test('a cached key expires even if the clock was set back', async (t) => {
  const clock = createManualClock()
  let lookups = 0
  const lookup = cacheKeyLookup(async () => { lookups++; return null }, { ttlMs: 1000, clock })
  const credentials = { tenantSlug: 'acme', tenantId: 'acme', key: 'rk_unknown' }
  await lookup(credentials)
  clock.setBack(hourMs)
  await clock.advance(1001)
  await lookup(credentials)
  t.equal(lookups, 2)
})

t.test('changes in memory are pruned by their own dates, in any order', async (t) => {
  const clock = createManualClock()
  const changes = memoryChanges({ clock })
  const start = await changes.begin('acme', 'candidate')
  clock.setBack(-10 * 24 * hourMs)
  await changes.record('acme', { kind: 'candidate', id: '1', deleted: false })
  clock.setBack(10 * 24 * hourMs)
  await changes.record('acme', { kind: 'candidate', id: '2', deleted: false })
  await clock.advance(2 * 24 * hourMs)
  t.equal(await changes.prune({ retentionDays: 1, limit: 10 }), 1)
  t.equal(await changes.list('acme', 'candidate', { after: start, limit: 10 }), null)
})
