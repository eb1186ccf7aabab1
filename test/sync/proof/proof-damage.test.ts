import t from 'tap'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createPostgresWorld } from './postgres-world.js'
import { runProof } from './run-proof.js'
import { pickSeed } from './seed.js'

t.test('copies are exact although rows change that no trigger sees, while readers read', async (t) => {
  const pool = (await startPostgres(t)).createPool({ max: 24 })
  const report = await runProof(await createPostgresWorld(t, pool), { seed: pickSeed(t), operations: Number(process.env.OPS ?? 2500), kills: 2, damages: 7 })
  t.strictSame(report.sync, { missing: 0, leftOver: 0, outdated: 0, olderStates: 0 })
  t.equal(report.damages, 7, 'each kind of damage')
})
