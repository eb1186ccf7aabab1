import t from 'tap'
import { createEvent, delivered, failed, lenient, retry } from '../../../src/tools/testing/support/samples.js'
import { inTransaction } from '../../../src/storages/postgres/pool.js'
import { begin, type PostgresHost, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { measureBuffers } from '../../fixtures/postgres/buffers.js'
import { addWebhook } from '../../fixtures/api/webhooks.js'

// On a busy machine, claims may mark a webhook without deleted rows, and then lease its deliveries in another order.
const neverMark = 'create rule never as on insert to recruiting.marks do instead nothing'
const claimText = 'select * from recruiting.claim_v1(10, 10, 60000, null)'

/** Creates webhooks of ten tenants, each with a ready delivery of one event. */
async function createMany ({ pool }: PostgresHost, count: number): Promise<void> {
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at) values ('evt_many', 'many', 'x', '{}', '', now());
    insert into recruiting.webhooks
      (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'many_' || n % 10, 'many', 'x', 'active', 'https://x.example/', '{x}', 's', now(), now()
    from generate_series(1000001, 1000000 + ${count}) as n;
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select e.seq, w.id, e.type, 1, now(), now()
    from recruiting.webhooks w, recruiting.events e where w.tenant_slug = 'many' and e.id = 'evt_many'`)
}

t.test('claims visit a webhook that cannot send only once', async (t) => {
  const host = await startPostgresHost(t)
  const { pool, clear, storage: { deliveries } } = host
  await pool.query(neverMark)
  const claim = () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
  const causes = {
    'is paused': `
      insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until)
      select id, 1, now(), 0, false, now() + interval '1 hour' from recruiting.webhooks`,
    'was made inactive': "update recruiting.webhooks set status = 'inactive'",
    'was deleted': 'delete from recruiting.webhooks',
    'has only deliveries from before its activation': "update recruiting.webhooks set skip_before = nextval('recruiting.delivery_ids')"
  }
  for (const [cause, text] of Object.entries(causes)) {
    t.test(`because it ${cause}`, async (t) => {
      await clear()
      await createMany(host, 2000)
      await pool.query(text)
      const isVisible = async () => (await pool.query('select from recruiting.queue where lane is not null limit 1')).rows.length > 0
      while (await isVisible()) t.same(await claim(), [])
      await pool.query('vacuum recruiting.queue')
      const after = await measureBuffers(pool, claimText)
      t.ok(after < 200, `${after} buffers`)
      await inTransaction(pool, async (client) => {
        await client.query(claimText)
        const { rows } = await client.query('select pg_current_xact_id_if_assigned()::text as xid')
        t.same(rows, [{ xid: null }], 'it writes nothing')
      })
    })
  }
})

t.test("a paused webhook's deliveries are claimed again, in order", async (t) => {
  const { pool, clear, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  await pool.query(neverMark)
  const claim = (limit = 10) => deliveries.claimDue({ limit, perEndpoint: 10, leaseMs: 60_000 })

  /** Pauses a webhook with ready deliveries. Returns it and the lease of an attempt in flight. */
  async function pause () {
    await clear()
    const id = await addWebhook(webhooks)
    for (const event of ['evt_1', 'evt_2', 'evt_3', 'evt_4']) await deliveries.record('acme', createEvent(event))
    const [first, flying] = await claim(2)
    if (first === undefined || flying === undefined) throw new Error('nothing was claimed')
    await deliveries.recordAttempts([retry(first, { pauseMs: 3_600_000 })], lenient)
    await pool.query(`
      update recruiting.queue set is_replay = true, lane = 3 where id = (select min(id) from recruiting.queue where lane = 1)`)
    t.same(await claim(), [])
    const { rows } = await pool.query('select paused_lane as lane from recruiting.queue where paused_lane is not null order by 1')
    t.same(rows, [{ lane: 1 }, { lane: 3 }])
    t.match(await deliveries.stats(), { pending: 4, due: 1, leased: 1 })
    t.equal(await deliveries.hasPending(0), true, 'one is leased')
    return { id, flying }
  }

  const claimed = async () => (await claim()).map(({ eventId }) => eventId)

  t.test('when the pause has ended', async (t) => {
    const { flying } = await pause()
    await deliveries.release([flying])
    t.same(await claimed(), [])
    t.equal(await deliveries.hasPending(0), false)
    t.equal(await deliveries.hasPending(7_200_000), true)
    await pool.query(`
      update recruiting.webhook_health set paused_until = now();
      update recruiting.paused_webhooks set until = now()`)
    t.equal(await deliveries.hasPending(0), true)
    t.match(await deliveries.stats(), { due: 3 })
    t.same(await claimed(), ['evt_2'], 'one shows whether the endpoint has recovered')
    await pool.query('delete from recruiting.webhook_health')
    t.same(await claimed(), ['evt_4', 'evt_3'])
    t.same((await pool.query('select from recruiting.paused_webhooks')).rows, [])
  })

  t.test('and can be retried, replayed and erased while they wait', async (t) => {
    const { id } = await pause()
    const filter = { status: 'pending' as const }
    const query = { filter, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 10 }
    const [, , , aside] = await deliveries.list('acme', id, query)
    t.match(await deliveries.retry('acme', id, Number(aside?.id)), { id: aside?.id, status: 'pending' })
    const all = { include: 'all' as const, eventTypes: null, eventIds: null, since: null, until: null, limit: 10 }
    t.match(await deliveries.replay('acme', id, all), { queued: 0 })
    await pool.query("update recruiting.events set subject = 'candidate:1', tombstone = '{}'")
    t.equal((await deliveries.erase('acme', 'candidate:1')).events, 4)
    t.same((await deliveries.list('acme', id, { ...query, filter: { status: 'cancelled' } })).length, 4)
  })

  t.test('when an attempt in flight succeeds', async (t) => {
    const { flying } = await pause()
    await deliveries.recordAttempts([delivered(flying)], lenient)
    t.same(await claimed(), ['evt_4', 'evt_3'])
  })

  t.test('when its address changes', async (t) => {
    const { id } = await pause()
    await webhooks.update('acme', id, { target_url: 'https://hooks.example/moved' })
    t.same(await claimed(), ['evt_4', 'evt_3'])
  })

  t.test('and become skipped when it is made inactive', async (t) => {
    const { id } = await pause()
    await webhooks.update('acme', id, { status: 'inactive' })
    t.equal(await deliveries.count('acme', id, { status: 'skipped' }), 4)
    await pool.query('update recruiting.paused_webhooks set until = now()')
    t.same(await claimed(), [])
    t.same((await pool.query('select from recruiting.paused_webhooks union all select from recruiting.stopped_webhooks')).rows, [])
  })

  t.test('are not set aside while a transaction that may end the pause is open', async (t) => {
    await clear()
    const id = await addWebhook(webhooks)
    await deliveries.record('acme', createEvent('evt_1'))
    const [lease] = await claim()
    if (lease === undefined) throw new Error('nothing was claimed')
    await deliveries.recordAttempts([failed(lease)], lenient)
    await pool.query("update recruiting.webhook_health set paused_until = now() + interval '1 hour'")
    await deliveries.record('acme', createEvent('evt_2'))
    const client = await begin(pool)
    await client.query('update recruiting.webhooks set revision = revision + 1 where id = $1', [id])
    t.same(await claimed(), [])
    await client.finish()
    t.same(await claimed(), ['evt_2'])
  })
})

t.test('a claim skips an event that an older snapshot recorded for a webhook made inactive since', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const id = await addWebhook(webhooks)
  const client = await begin(pool, 'begin isolation level repeatable read; select')
  await client.query('select from recruiting.webhooks')
  await webhooks.update('acme', id, { status: 'inactive' })
  t.match(await deliveries.record('acme', createEvent('evt_late'), client), { deliveries: 1 })
  await client.finish()
  t.same(await deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 }), [])
  const query = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 10 }
  t.match(await deliveries.list('acme', id, query), [{ event_id: 'evt_late', status: 'skipped' }])
})
