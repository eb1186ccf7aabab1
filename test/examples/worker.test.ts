import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { postgresStorage } from '../../src/postgres/index.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { runExample } from './fixtures/run-example.js'

t.test('a process without a server delivers what another one emits, and logs what failed', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const example = runExample(t, '14-worker.ts', { DATABASE_URL: url })
  await example.output(/"msg":"delivering"/)

  const storage = postgresStorage(createPool())
  const emitter = createRecruiting({ storage, delivery: false })
  t.teardown(() => emitter.close())
  await storeWebhook(storage, 'acme', { targetUrl: 'https://127.0.0.1/' })
  const { id } = await emitter.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })

  const [line] = await example.output(/^.*"msg":"delivery failed, it is given up".*$/m)
  t.match(JSON.parse(line), { level: 40, event_id: id, host: '127.0.0.1', error: 'blocked' })
  t.equal(await example.end('SIGTERM'), 0)
})
