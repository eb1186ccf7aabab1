import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage } from '../../../src/postgres/index.js'
import { noPgBouncer, startPgBouncer } from '../../fixtures/postgres/pgbouncer.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { createStoryTables, goodStory, tellStory } from '../../fixtures/postgres/host-story.js'

t.test('two workers behind PgBouncer in transaction mode deliver every event once', { skip: noPgBouncer }, async (t) => {
  const pool = await startPgBouncer(t, (await startPostgres(t)).url)
  await migrate(pool)
  const storage = postgresStorage(pool)
  const receiver = await startReceiver(t)
  for (const tenant of ['acme', 'globex']) await storeWebhook(storage, tenant, { targetUrl: receiver.url })
  const emitter = createRecruiting({ storage, delivery: false })
  const workers = [1, 2].map(() => createRecruiting({
    storage: postgresStorage(pool),
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 20 }
  }))
  t.teardown(() => Promise.all([emitter, ...workers].map((engine) => engine.close())))
  for (let count = 0; count < 100; count++) {
    await emitter.emit({ tenantSlug: count % 2 === 0 ? 'acme' : 'globex', type: 'application.created', data: {} })
  }
  await Promise.all(workers.map((worker) => worker.drain()))
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 100)
  t.equal(receiver.requests.length, 100)
})

t.test('doctor sees that LISTEN does not work through PgBouncer', { skip: noPgBouncer }, async (t) => {
  const server = await startPostgres(t)
  await migrate(server.createPool())
  const { options: { port } } = await startPgBouncer(t, server.url)
  const { code, out } = await createCli(`postgres://postgres@127.0.0.1:${port}/pooled`)('doctor --json --wait-seconds 0')
  const { findings } = JSON.parse(out) as { findings: Array<{ check: string, state: string }> }
  t.equal(code, 1)
  t.match(findings.find(({ check }) => check === 'listen'), { state: 'fault' })
})

t.test('two processes behind PgBouncer write at once when keys were last used', { skip: noPgBouncer }, async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  await migrate(pool)
  const keys = apiKeys(pool)
  const issued = await Promise.all(Array.from({ length: 20 }, () => keys.issue({ tenantSlug: 'acme', scopes: [] })))
  const clocks = [createManualClock(), createManualClock()]
  const lookups = await Promise.all(clocks.map(async (clock) => postgresKeyLookup(await startPgBouncer(t, server.url), { clock })))
  // In opposite orders, in which locks that wait would be a deadlock.
  await Promise.all(lookups.flatMap((lookup, at) => (at === 0 ? issued : issued.toReversed()).map(({ key }) => lookup({ tenantSlug: 'acme', tenantId: 'acme', key }))))
  await Promise.all(clocks.map((clock) => clock.advance(60_000)))
  for (;;) {
    const used = await Promise.all(issued.map(async ({ id }) => (await keys.find({ tenantSlug: 'acme' }, id))?.lastUsedAt))
    if (used.every((date) => typeof date === 'string')) break
    await sleep(20)
  }
  t.pass('all are written')
})

t.test('behind PgBouncer in transaction mode a host migrates, and its API, keys, transactions, deliveries and syncs work', { skip: noPgBouncer }, async (t) => {
  const pool = await startPgBouncer(t, (await startPostgres(t)).url)
  await createStoryTables(pool)
  t.strictSame(await migrate(pool), [])
  t.strictSame(await tellStory(t, pool), goodStory)
})
