import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { apiKeys, migrate, postgresKeyLookup } from '../../../src/storages/postgres/index.js'
import { noPgBouncer, startPgBouncer } from '../../fixtures/postgres/pgbouncer.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { createStoryTables, goodStory, tellStory } from '../../fixtures/postgres/host-story.js'

t.test('two processes behind PgBouncer record key uses at the same time', { skip: noPgBouncer }, async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  await migrate(pool)
  const keys = apiKeys(pool)
  const issued = await Promise.all(Array.from({ length: 20 }, () => keys.issue({ tenantSlug: 'acme', scopes: [] })))
  const clocks = [createManualClock(), createManualClock()]
  const lookups = await Promise.all(clocks.map(async (clock) =>
    postgresKeyLookup(await startPgBouncer(t, server.url), { clock })))
  // In opposite orders, so that waiting for locks would be a deadlock.
  await Promise.all(lookups.flatMap((lookup, at) => (at === 0 ? issued : issued.toReversed()).map(({ key }) => lookup({ tenantSlug: 'acme', tenantId: 'acme', key }))))
  await Promise.all(clocks.map((clock) => clock.advance(60_000)))
  for (;;) {
    const used = await Promise.all(issued.map(async ({ id }) => (await keys.find({ tenantSlug: 'acme' }, id))?.lastUsedAt))
    if (used.every((date) => typeof date === 'string')) break
    await sleep(20)
  }
  t.pass('all are written')
})

t.test('migrations, API, keys, transactions, deliveries and sync work behind PgBouncer in transaction mode', { skip: noPgBouncer }, async (t) => {
  const pool = await startPgBouncer(t, (await startPostgres(t)).url)
  await createStoryTables(pool)
  t.strictSame(await migrate(pool), [])
  t.strictSame(await tellStory(t, pool), goodStory)
})
