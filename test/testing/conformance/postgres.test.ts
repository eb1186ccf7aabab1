import t from 'tap'
import { startUuids, testConformance } from '../../fixtures/postgres/postgres-conformance.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createTables } from '../../fixtures/postgres/postgres.js'

t.test('PostgreSQL passes the kit with any schema name and collation', async (t) => {
  const pool = (await startPostgres(t, "template0 locale_provider icu icu_locale 'en-US'")).createPool()
  await testConformance(t, pool, await createTables(pool, { schema: 'Größe $1 $$ "x"; drop schema \'a\'.b' }))
})

// `test/all/postgres/uuids.test.ts` runs the other groups.
t.test('PostgreSQL lists and syncs rows with uuids as ids and tenant ids', async (t) => {
  const { pool, harness } = await startUuids(t)
  await testConformance(t, pool, harness, ['lists', 'sync'])
})
