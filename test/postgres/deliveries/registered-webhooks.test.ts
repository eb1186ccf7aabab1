import t from 'tap'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { createEvent, createWebhook } from '../../../src/tools/testing/support/samples.js'
import { measureBuffers } from '../../fixtures/postgres/buffers.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { watchPool } from '../../fixtures/postgres/watched-pool.js'

t.test(
  'statistics and retention read only what they return, for any number of registered or paused webhooks',
  async (t) => {
    const { pool, storage } = await startPostgresHost(t)
    const statements: Array<[text: string, values: unknown[]]> = []
    const retention: [text: string, values: unknown[]] = ['select * from recruiting.prune_v1(30, 1000, null)', []]
    const noting = watchPool(pool, (text, values) => {
      if (text.includes('ready_webhooks_v1')) statements.push([text, values])
    })
    const { deliveries } = postgresStorage(noting)
    const id = await storage.webhooks.nextId('acme')
    await storage.webhooks.create('acme', createWebhook(id), { maxPerTenant: 10 })

    async function measure (): Promise<{ buffers: number[]; figures: unknown }> {
      statements.length = 0
      await pool.query('vacuum analyze recruiting.webhooks, recruiting.queue')
      const figures = [await deliveries.stats(), await deliveries.hasPending(0)]
      const buffers: number[] = []
      for (const [text, values] of [...statements, retention]) {
        await measureBuffers(pool, text, values)
        buffers.push(await measureBuffers(pool, text, values))
      }
      return { buffers, figures }
    }

    const few = await measure()
    t.equal(few.buffers.length, 3)
    await pool.query(`
    insert into recruiting.webhooks
      (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'many', 'many', 'x', 'active', 'https://x.example/', '{x}', 's', now(), now()
    from generate_series(1000001, 1010000) as n`)
    const many = await measure()
    t.same(many.figures, few.figures)
    for (const [index, buffers] of many.buffers.entries()) {
      t.ok(buffers <= Number(few.buffers[index]) + 10, `${buffers} buffers`)
    }

    for (const event of ['evt_1', 'evt_2', 'evt_3']) await deliveries.record('acme', createEvent(event))
    const queued = await measure()
    t.match(queued.figures, [{ pending: 3, due: 3 }, true])
    for (const buffers of queued.buffers) t.ok(buffers < 100, `${buffers} buffers with three deliveries`)

    await pool.query(`
    insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until)
    select id, 1, now(), 0, false, now() + interval '1 hour' from recruiting.webhooks where tenant = 'many';
    insert into recruiting.paused_webhooks (webhook_id, until) select webhook_id, paused_until from recruiting.webhook_health;
    insert into recruiting.queue (event_seq, webhook_id, event_type, paused_lane, due_at, created_at)
    select 0, webhook_id, 'x', 1, now(), now() from recruiting.webhook_health`)
    const paused = await measure()
    t.match(paused.figures, [{ pending: 10_000, due: 3, atLeast: { pending: true } }, true])
    for (const buffers of paused.buffers) t.ok(buffers < 500, `${buffers} buffers with 10,000 paused webhooks`)
  }
)

t.test('stats compute each count only once', async (t) => {
  const { pool } = await startPostgresHost(t)
  const plans: Array<Promise<string>> = []
  const { deliveries } = postgresStorage(watchPool(pool, (text, values) => {
    if (!text.includes('from figures')) return
    const plan = pool.query(`explain (costs off) ${text}`, values)
    plans.push(plan.then(({ rows }) => rows.map((row) => row['QUERY PLAN']).join('\n')))
  }))
  await deliveries.stats()
  await deliveries.tenantStats('acme')
  t.equal(plans.length, 2)
  for (const plan of await Promise.all(plans)) t.match(plan, 'CTE figures')
})
