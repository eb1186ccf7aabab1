import t from 'tap'
import { migrate } from '../../src/postgres/index.js'
import { createStoryTables, goodStory, tellStory } from '../fixtures/postgres/host-story.js'
import { noPgBouncer, startPgBouncer } from '../fixtures/postgres/pgbouncer.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

t.test('behind PgBouncer in transaction mode a host migrates, and its API, keys, transactions, deliveries and syncs work', { skip: noPgBouncer }, async (t) => {
  const pool = await startPgBouncer(t, (await startPostgres(t)).url)
  await createStoryTables(pool)
  t.strictSame(await migrate(pool), [])
  t.strictSame(await tellStory(t, pool), goodStory)
})
