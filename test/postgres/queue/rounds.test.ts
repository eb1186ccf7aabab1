import t from 'tap'
import { createClaim } from '../../../src/postgres/deliveries/claim.js'
import { createEvent, createWebhook } from '../../../src/testing/support/samples.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

const options = { limit: 10, perEndpoint: 1, leaseMs: 60_000 }

t.test('behind more paused endpoints than one claim looks at', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at) values ('evt_1', 'acme', 'x', '{}', '', now());
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'acme', 'acme', 'x', 'active', 'https://x.example/', '{x}', 's', now(), now() from generate_series(1, 600) as n;
    insert into recruiting.queue (event_seq, webhook_id, lane, due_at, created_at) select 1, n, 1, now(), now() from generate_series(1, 600) as n;
    insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until)
    select n, 1, now(), 0, false, now() + interval '1 hour' from generate_series(1, 600) as n`)

  t.test('nothing is claimed, and the claim ends after one round', async (t) => {
    t.same(await deliveries.claimDue(options), [])
    t.same(await deliveries.claimDue(options), [])
  })

  t.test('the one that is not paused is found', async (t) => {
    await pool.query('delete from recruiting.webhook_health where webhook_id = 299')
    t.match(await deliveries.claimDue(options), [{ webhookId: 299 }])
  })

  t.test('the one that a round reaches last is found', async (t) => {
    await pool.query("delete from recruiting.webhook_health where webhook_id = 250; select setval('recruiting.turns', 300)")
    t.match(await deliveries.claimDue({ ...options, limit: 2 }), [{ webhookId: 250 }])
  })
})

t.test('a small claim finds a delivery behind those that another transaction has locked', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const ids: number[] = []
  for (let i = 0; i < 5; i++) {
    const id = await webhooks.nextId('acme')
    await webhooks.create('acme', createWebhook(id), 10)
    ids.push(id)
  }
  await deliveries.record('acme', createEvent('evt_1'))
  for (const free of ids) {
    const client = await pool.connect()
    await client.query('begin')
    await client.query('select from recruiting.queue where webhook_id <> $1 for update', [free])
    const claimed = await deliveries.claimDue({ ...options, limit: 1 })
    t.same(claimed.map(({ webhookId }) => webhookId), [free])
    await client.query('rollback')
    client.release()
    await deliveries.release(claimed)
  }
})

t.test('a claim ends though the webhook where it stopped first has nothing in the queue any more', async (t) => {
  const visited = [128, 41, 43, 41, 43, 41]
  const session = {
    query: async <Row>() => [{ delivery_id: null, visited_until: String(visited.shift()), held: null }] as Row[],
    transaction: () => Promise.reject(new Error('not used'))
  }
  t.same(await createClaim(session, 'recruiting')(options), [])
  t.same(visited, [43, 41])
})
