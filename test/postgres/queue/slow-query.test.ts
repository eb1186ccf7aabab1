import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import recruitingApi from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { apiKeys, bearer, keys } from '../../fixtures/api/app.js'
import { captureLogs } from '../../fixtures/api/logs.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

// Longer than the rest of the test takes on any machine.
const sleptMs = 60_000

t.test('a list that takes too long is a 500 that the log explains, and the server stops working on it', async (t) => {
  const { server, pool } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.candidates values ('acme', 1, 'Ada', null, null, null, now(), now()), ('slow', 1, 'Ada', null, null, null, now(), now());
    create view slow_candidates as select * from recruiting.candidates where case when tenant_slug = 'slow' then pg_sleep(${sleptMs / 1000}) is not null else true end`)
  const logs = captureLogs()
  const app = Fastify({ logger: logs.logger })
  t.teardown(() => app.close())
  // Fewer connections than requests: what is slow must not keep them.
  const small = server.createPool({ max: 4 })
  await app.register(recruitingApi, {
    storage: postgresStorage(small, { candidates: 'slow_candidates', queryTimeoutMs: 1000 }),
    keyLookup: memoryKeyLookup([...apiKeys, { key: 'slow-key', tenantSlug: 'slow', scopes: ['candidates:read'] }]),
    delivery: false
  })
  const listSlow = () => app.inject({ url: '/api/v1/public/slow/candidates', headers: bearer('slow-key') })

  const startedAt = performance.now()
  const { statusCode, body } = await listSlow()
  t.ok(performance.now() - startedAt < sleptMs / 2, 'the caller does not wait for the view')
  t.equal(statusCode, 500)
  t.match(JSON.parse(body), { error: { code: 'internal_error', message: 'Unexpected server error' } })
  t.match(logs.text(), /PostgreSQL did not answer within 1000 ms: (list|count) candidates/)

  const answers = await Promise.all(Array.from({ length: 20 }, listSlow))
  t.ok(answers.every(({ statusCode }) => statusCode === 500))
  const working = async (): Promise<number> =>
    (await pool.query("select from pg_stat_activity where state = 'active' and query like '%slow_candidates%' and pid <> pg_backend_pid()")).rows.length
  while (await working() > 0) await sleep(50)
  t.ok(performance.now() - startedAt < sleptMs, 'none of the statements has ended by itself')

  const { statusCode: other } = await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) })
  t.equal(other, 200)
})

t.test('a statement that waits for a lock is given up, and one that waits for a connection too', async (t) => {
  const { server, pool, storage } = await startPostgresHost(t)
  const { id } = await storeWebhook(storage, 'acme')
  const small = server.createPool({ max: 1 })
  const hurried = postgresStorage(small, { queryTimeoutMs: 1000 }).webhooks

  const client = await pool.connect()
  await client.query('begin; lock table recruiting.webhooks')
  const waiting = [hurried.find('acme', id), hurried.create('acme', { id: id + 1, tenantSlug: 'acme', name: 'x', status: 'active', target_url: 'x', event_types: [], secret: 'x' }, 5)]
  await t.rejects(Promise.all(waiting.map((each) => each.then(() => 'done'))), { code: 'storage_timeout' })
  await Promise.allSettled(waiting)
  await client.query('rollback')
  client.release()

  t.match(await hurried.find('acme', id), { id })
  t.equal(await hurried.find('acme', id + 1), null)
  while (small.totalCount - small.idleCount > 0) await sleep(20)
})
