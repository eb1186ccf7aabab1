import t from 'tap'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test("data restored into another database's tables is a copy", async (t) => {
  const { pool, storage: { holds } } = await startPostgresHost(t)
  t.equal(await holds.find(null), null)
  await pool.query('insert into recruiting.home (system, database_oid, table_oid) values (1, 2, 3)')
  t.match(await holds.find(null), { reason: 'copy' })
  await holds.adopt({ environment: null, pending: 'deliver' })
  t.equal(await holds.find(null), null)
})

t.test("a role without access to the cluster's identifier detects copies by the other ids", async (t) => {
  const { pool, storage: { holds } } = await startPostgresHost(t)
  await pool.query('update recruiting.home set system = null')
  t.equal(await holds.find(null), null)
  await pool.query('update recruiting.home set database_oid = 1')
  t.match(await holds.find(null), { reason: 'copy' })
})
