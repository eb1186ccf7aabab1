import t from 'tap'
import { createMemoryWorld } from '../../sync/proof/memory-world.js'
import { formatReport } from '../../sync/proof/report.js'
import { runProof } from '../../sync/proof/run-proof.js'
import { pickSeed } from '../../sync/proof/seed.js'
import { createPostgresWorld } from '../../sync/proof/postgres-world.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

const exact = { missing: 0, leftOver: 0, outdated: 0, olderStates: 0 }

t.test('in memory, copies are exact after readers crash and the server is killed', async (t) => {
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
    record: async (...change) => ++count % 2 === 0 ? undefined : record(...change)
  }))
  const { sync } = await runProof(world, { seed: pickSeed(t), operations: 1000, writers: 1, kills: 0 })
  t.ok(sync.missing + sync.leftOver + sync.outdated > 0, JSON.stringify(sync))
})

t.test('in PostgreSQL, copies are exact after late commits, rollbacks, crashing readers and a killed server', async (t) => {
  const pool = (await startPostgres(t)).createPool({ max: 24 })
  const seed = pickSeed(t)
  const operations = Number(process.env.OPS ?? 8000)
  const report = await runProof(await createPostgresWorld(t, pool), { seed, operations })
  t.comment(formatReport(report))
  t.strictSame(report.sync, { missing: 0, leftOver: 0, outdated: 0, olderStates: 0 })
  t.ok(report.crashes > 0)
  t.equal(report.kills, 5)
  const { missing, leftOver, outdated } = report.updatedAfter
  t.ok(missing + leftOver + outdated > 0, 'the proof is hard enough: updated_after fails it')
})

t.test('copies are exact even if rows change past the triggers while readers read', async (t) => {
  const pool = (await startPostgres(t)).createPool({ max: 24 })
  const operations = Number(process.env.OPS ?? 2500)
  const world = await createPostgresWorld(t, pool)
  const report = await runProof(world, { seed: pickSeed(t), operations, kills: 2, damages: 7 })
  t.strictSame(report.sync, { missing: 0, leftOver: 0, outdated: 0, olderStates: 0 })
  t.equal(report.damages, 7, 'each kind of damage')
})
