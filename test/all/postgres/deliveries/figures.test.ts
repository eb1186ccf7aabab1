import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import { postgresStorage } from '../../../../src/storages/postgres/index.js'
import recruitingApi from '../../../../src/index.js'
import { memoryKeyLookup } from '../../../../src/storages/memory/index.js'
import { type Reading, measurePool } from '../../../fixtures/postgres/measured-pool.js'
import { startPostgresHost } from '../../../fixtures/postgres/postgres.js'
import { apiKeys, bearer, keys } from '../../../fixtures/api/app.js'
import { captureLogs } from '../../../fixtures/api/logs.js'

t.test('a tenant\'s statistics cost the same with full tables', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, tenant, tenant, 'CRM', 'active', 'https://example.com/', '{job.created}'::text[], 'secret', now(), now()
    from (values (1, 'small'), (2, 'small'), (3, 'large')) as v (n, tenant)
    union all select n, 'other', 'other', 'CRM', 'active', 'https://example.com/', '{job.created}'::text[], 'secret', now(), now() from generate_series(4, 100) as n`)

  /** Finished deliveries of the last two hours, a fifth of them failed, and as many scheduled and ready ones. */
  async function add (webhook: number, count: number): Promise<void> {
    await pool.query(`
      insert into recruiting.deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at)
      select $1::int, nextval('recruiting.delivery_ids'), -n, 'job.created', case when n % 5 = 0 then 'failed' when n % 7 = 0 then 'skipped' else 'delivered' end,
        now(), now() - n * interval '2 hours' / $2
      from generate_series(1, $2::int) as n`, [webhook, count])
    await pool.query(`
      insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
      select -n - 10000000 * $1::bigint, $1::int, 'job.created', case when n % 2 = 0 then 2 end, now() + (n - $2 / 2) * interval '1 second', now()
      from generate_series(1, $2::int) as n`, [webhook, count])
  }

  await add(1, 70)
  await add(3, 30_000)

  const readings: Reading[] = []
  const { deliveries } = postgresStorage(measurePool(pool, 'oldest_scheduled', readings))

  async function measure (tenant: string): Promise<number> {
    readings.length = 0
    await deliveries.tenantStats(tenant)
    return readings[0]?.buffers ?? Infinity
  }

  await pool.query('vacuum analyze recruiting.queue, recruiting.deliveries, recruiting.webhooks')
  await t.test('they are correct, and counting stops at 10,000', async (t) => {
    const { oldestDueMs, ...small } = await deliveries.tenantStats('small')
    const atLeast = { pending: false, delivered: false, failed: false }
    t.strictSame(small, { pending: 70, failing: 0, delivered: 24, failed: 6, atLeast, suspendedSince: null })
    t.ok(oldestDueMs >= 34_000 && oldestDueMs < 200_000, String(oldestDueMs))
    const { failed, ...large } = await deliveries.tenantStats('large')
    t.ok(failed > 2500 && failed <= 3000, `${failed}, less with each second`)
    t.match(large, { pending: 10_000, delivered: 10_000, atLeast: { pending: true, delivered: true, failed: false } })
    t.match(await deliveries.tenantStats('nobody'), { pending: 0, oldestDueMs: 0, delivered: 0 })
  })

  const before = await measure('small')
  t.ok(before < 100, `${before} buffers`)
  const large = await measure('large')
  t.ok(large < 1000, `${large} buffers for a tenant with 10,000 of each`)

  await t.test('other tenants make no difference', async (t) => {
    for (let webhook = 4; webhook < 24; webhook++) await add(webhook, 10_000)
    await pool.query('vacuum analyze recruiting.queue, recruiting.deliveries')
    const after = await measure('small')
    t.ok(after < before + 40, `${after} buffers, ${before} before`)
  })
})

// Longer than the rest of the test on any machine.
const sleptMs = 60_000

t.test('a list that takes too long returns a 503 that the log explains, and the server cancels it', async (t) => {
  const { server, pool } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.candidates values ('acme', 1, 'Ada', null, null, null, now(), now()), ('slow', 1, 'Ada', null, null, null, now(), now());
    create view slow_candidates as select * from recruiting.candidates where case when tenant_slug = 'slow' then pg_sleep(${sleptMs / 1000}) is not null else true end`)
  const logs = captureLogs()
  const app = Fastify({ logger: logs.logger })
  t.teardown(() => app.close())
  // Fewer connections than requests: slow statements must not keep them.
  const small = server.createPool({ max: 4 })
  await app.register(recruitingApi, {
    storage: postgresStorage(small, { candidates: 'slow_candidates', queryTimeoutMs: 1000 }),
    keyLookup: memoryKeyLookup([...apiKeys, { key: 'slow-key', tenantSlug: 'slow', scopes: ['candidates:read'] }]),
    delivery: false
  })
  const listSlow = () => app.inject({ url: '/api/v1/public/slow/candidates', headers: bearer('slow-key') })

  const startedAt = performance.now()
  const { statusCode, headers, body } = await listSlow()
  t.ok(performance.now() - startedAt < sleptMs / 2, 'the caller does not wait for the view')
  t.match([statusCode, headers['retry-after'], JSON.parse(body)], [503, /^\d+$/, { error: { code: 'unavailable' } }])
  t.match(logs.text(), /PostgreSQL did not answer within 1000 ms: (page of|list|count) candidates/)

  // Some find no place within 5 seconds.
  const answers = await Promise.all(Array.from({ length: 20 }, listSlow))
  t.ok(answers.every(({ statusCode, headers }) => statusCode === 503 && Number(headers['retry-after']) > 0))
  const working = async (): Promise<number> =>
    (await pool.query("select from pg_stat_activity where state = 'active' and query like '%slow_candidates%' and pid <> pg_backend_pid()")).rows.length
  while (await working() > 0) await sleep(50)
  t.ok(performance.now() - startedAt < sleptMs, 'no statement ran to its end')

  const { statusCode: other } = await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) })
  t.equal(other, 200)
})
