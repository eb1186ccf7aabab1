import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { postgresStorage } from '../../src/postgres/index.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { eventually } from '../../src/testing/support/wait.js'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('a process without a server delivers what another one emits, logs what failed, and shows its health and its figures', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const example = runExample(t, '14-worker.ts', { DATABASE_URL: url, PORT: '0' })
  await example.output(/"msg":"delivering"/)
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)

  const storage = postgresStorage(createPool())
  const emitter = createRecruiting({ storage, delivery: false })
  t.teardown(() => emitter.close())
  await storeWebhook(storage, 'acme', { targetUrl: 'https://127.0.0.1/' })
  const { id } = await emitter.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })

  const [line] = await example.output(/^.*"msg":"delivery failed, giving up".*$/m)
  t.match(JSON.parse(line), { level: 40, event_id: id, host: '127.0.0.1', error: 'blocked' })

  // The outcome is stored after its line is written.
  t.ok(await eventually(async () => Object(await request(`${origin}/tenants/acme`)).body.pending === 0))
  t.match(await request(`${origin}/healthz`), { status: 200, body: { alive: true, lastClaimAt: /^20/, oldestDueMs: 0, inFlight: 0 } })
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  t.match(metrics, /^webhook_deliveries_pending 0$/m)
  t.match(metrics, /^webhook_attempts_total\{outcome="blocked"\} 1$/m)
  t.match(await request(`${origin}/tenants/acme`), { status: 200, body: { pending: 0, oldestDueMs: 0, failing: 1, delivered: 0, failed: 1 } })
  t.match(await request(`${origin}/tenants/nobody`), { status: 200, body: { pending: 0, failing: 0, failed: 0 } })
  t.equal(await example.end('SIGTERM'), 0)
})
