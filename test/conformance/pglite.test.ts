import t from 'tap'
import { openPglite } from '../../examples/pglite/pool.js'
import { testConformanceOver } from '../fixtures/postgres/postgres-conformance.js'

t.test('PostgreSQL within the process keeps every promise of the ports', async (t) => {
  const pool = openPglite()
  t.teardown(() => pool.end())
  await testConformanceOver(t, pool, { hasTransactions: false })
})
