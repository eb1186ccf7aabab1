import t from 'tap'
import { startUuids, testConformance } from '../../fixtures/postgres/postgres-conformance.js'

t.test('PostgreSQL passes the kit with uuids as ids and tenant ids', async (t) => {
  const { pool, harness } = await startUuids(t)
  await testConformance(t, pool, harness)
})
