import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { migrate, postgresStorage } from '../../src/postgres/index.js'
import { noPgBouncer, startPgBouncer } from '../fixtures/postgres/pgbouncer.js'
import { testConformanceOver } from '../fixtures/postgres/postgres-conformance.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'

t.test('behind PgBouncer in transaction mode', { skip: noPgBouncer }, async (t) => {
  t.test('every promise of the ports is kept', async (t) => {
    await testConformanceOver(t, await startPgBouncer(t, (await startPostgres(t)).url), { hasTransactions: false })
  })

  t.test('two workers deliver every event once', async (t) => {
    const pool = await startPgBouncer(t, (await startPostgres(t)).url)
    await migrate(pool)
    const storage = postgresStorage(pool)
    const receiver = await startReceiver(t)
    for (const tenant of ['acme', 'globex']) await storeWebhook(storage, tenant, { targetUrl: receiver.url })
    const emitter = createRecruiting({ storage, delivery: false })
    const workers = [1, 2].map(() => createRecruiting({ storage: postgresStorage(pool), delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 20 } }))
    t.teardown(() => Promise.all([emitter, ...workers].map((engine) => engine.close())))
    for (let count = 0; count < 100; count++) {
      await emitter.emit({ tenantSlug: count % 2 === 0 ? 'acme' : 'globex', type: 'application.created', data: {} })
    }
    await Promise.all(workers.map((worker) => worker.drain()))
    t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 100)
    t.equal(receiver.requests.length, 100)
  })
})
