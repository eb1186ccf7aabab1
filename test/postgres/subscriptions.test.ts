import t from 'tap'
import type { NewSubscription } from '../../src/core/ports/index.js'
import { apiKeys } from '../../src/storages/postgres/index.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const claim = { limit: 10, perEndpoint: 10, leaseMs: 60_000 }
const event = { type: 'application.hired', body: '{"data":{}}', subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' }

t.test("a subscription ends with its principal's API key", async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const { subscriptions, webhooks, deliveries, feed } = storage
  const keys = apiKeys(pool)
  const create = async () => (await keys.issue({ tenantSlug: 'acme', scopes: [] })).id
  const [revoked, expired, deleted, kept] = [await create(), await create(), await create(), await create()]
  for (const principal of [revoked, expired, deleted, kept, 'not a key']) {
    const subscription: NewSubscription = {
      id: principal,
      webhookId: await webhooks.nextId('acme'),
      tenantSlug: 'acme',
      principal,
      targetUrl: 'https://agent.example/',
      eventType: event.type,
      filters: null,
      secret: 'secret',
      gracePeriodSeconds: 0,
      ttlSeconds: 3600,
      position: await feed.end('acme'),
      isVerified: true
    }
    await subscriptions.put('acme', subscription, { perTenant: 10, perPrincipal: 1 })
  }
  await deliveries.record('acme', { ...event, id: 'evt_1' })
  t.equal((await subscriptions.fill({ limit: 10, window: 10 })).queued, 5)

  await keys.revoke({ tenantSlug: 'acme' }, revoked)
  await pool.query("update recruiting.api_keys set expires_at = now() - interval '1 second' where id = $1", [expired])
  await pool.query('delete from recruiting.api_keys where id = $1', [deleted])
  t.strictSame((await deliveries.claimDue(claim)).map(({ subscription }) => subscription?.id).sort(),
    [kept, 'not a key'].sort(), 'claims already skip the others')
  t.equal(await subscriptions.count('acme', {}), 2)
  const { ended } = await subscriptions.fill({ limit: 10, window: 10 })
  t.strictSame(ended.map(({ subscription: { id }, reason, secrets }) => [id, reason, ...secrets]).sort(),
    [revoked, expired, deleted].map((id) => [id, 'revoked', 'secret']).sort())
  await deliveries.record('acme', { ...event, id: 'evt_2' })
  t.equal((await subscriptions.fill({ limit: 10, window: 10 })).queued, 2)
})
