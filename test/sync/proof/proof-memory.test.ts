import t from 'tap'
import { createMemoryWorld } from './memory-world.js'
import { formatReport } from './report.js'
import { runProof } from './run-proof.js'
import { pickSeed } from './seed.js'

const exact = { missing: 0, leftOver: 0, outdated: 0, olderStates: 0 }

t.test('over memory, copies are exact after crashes of the readers and kills of the server', async (t) => {
  const seed = pickSeed(t)
  const report = await runProof(createMemoryWorld(), { seed, operations: 1500, writers: 1 })
  t.comment(formatReport(report))
  t.strictSame(report.sync, exact)
  t.ok(report.operations >= 1500 && report.crashes > 0)
  t.equal(report.kills, 5)
})

t.test('the proof fails for a storage that records every other change', async (t) => {
  let count = 0
  const world = createMemoryWorld(({ record }) => ({
    record: async (tenantSlug, change, transaction) => ++count % 2 === 0 ? undefined : record(tenantSlug, change, transaction)
  }))
  const { sync } = await runProof(world, { seed: pickSeed(t), operations: 1000, writers: 1, kills: 0 })
  t.ok(sync.missing + sync.leftOver + sync.outdated > 0, JSON.stringify(sync))
})
