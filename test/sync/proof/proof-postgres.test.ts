import t from 'tap'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createChangesByTime, recordByTime } from './changes-by-time.js'
import { createPostgresWorld } from './postgres-world.js'
import { formatReport } from './report.js'
import { runProof } from './run-proof.js'
import { pickSeed } from './seed.js'

t.test('over PostgreSQL, copies are exact after late commits, rollbacks, crashes of the readers and kills of the server', async (t) => {
  const pool = (await startPostgres(t)).createPool({ max: 24 })
  const seed = pickSeed(t)
  const report = await runProof(await createPostgresWorld(t, pool), { seed, operations: Number(process.env.OPS ?? 8000) })
  t.comment(formatReport(report))
  t.strictSame(report.sync, { missing: 0, leftOver: 0, outdated: 0, olderStates: 0 })
  t.ok(report.crashes > 0)
  t.equal(report.kills, 5)
  const { missing, leftOver, outdated } = report.updatedAfter
  t.ok(missing + leftOver + outdated > 0, 'the proof is hard enough: updated_after fails it')
})

t.test('the proof fails for changes in the order of time, which pass by what commits late', async (t) => {
  const pool = (await startPostgres(t)).createPool({ max: 24 })
  const world = await createPostgresWorld(t, pool, { changes: await createChangesByTime(pool), record: recordByTime })
  const { sync } = await runProof(world, { seed: pickSeed(t), operations: 3000, kills: 0 })
  t.ok(sync.missing + sync.leftOver + sync.outdated > 0, JSON.stringify(sync))
})
