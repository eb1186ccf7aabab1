import t from 'tap'
import { findTool } from '../../fixtures/programs.js'
import { testConformanceOver } from '../../fixtures/postgres/postgres-conformance.js'

t.test('PostgreSQL within the process keeps every promise of the ports', { skip: findTool('@electric-sql/pglite') }, async (t) => {
  const { openPglite } = await import('../../../examples/pglite/pool.js')
  const pool = openPglite()
  t.teardown(() => pool.end())
  await testConformanceOver(t, pool, { hasTransactions: false })
})
