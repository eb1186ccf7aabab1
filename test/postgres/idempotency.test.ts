import t from 'tap'
import { createClient } from '../../src/client/index.js'
import { memoryKeyLookup } from '../../src/memory/index.js'
import { buildApp, apiKeys, keys } from '../fixtures/api/app.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const webhook = { name: 'CRM', target_url: 'https://hooks.example.com/', event_types: ['job.created'] }
const attempt = { digest: 'd', fingerprint: 'f', claim: 'first', leaseMs: 60_000, keepMs: 60_000 }

t.test('repeating a create after a lost response creates one webhook, even in another process', async (t) => {
  const { storage } = await startPostgresHost(t)
  const secretKeys = [Buffer.alloc(32, 1)]
  const servers = await Promise.all([1, 2].map(async () => {
    const app = await buildApp(t, {
      storage, secretKeys, keyLookup: memoryKeyLookup(apiKeys), server: { forceCloseConnections: true }
    })
    return app.listen({ port: 0, host: '127.0.0.1' })
  }))
  const answers: Array<{ data: { id: number, secret: string } }> = []
  const client = createClient({
    baseUrl: 'http://service/api/v1/public',
    tenantSlug: 'acme',
    key: keys.full,
    sleep: async () => {},
    async fetch (url, init) {
      const response = await fetch(String(url).replace('http://service', servers[answers.length % 2] ?? ''), init)
      answers.push(await response.clone().json() as typeof answers[number])
      if (answers.length < 4) throw new TypeError('the response is lost')
      return response
    }
  })
  const created = await client.webhooks.create(webhook)
  t.strictSame(answers.map(({ data }) => data), Array.from({ length: 4 }, () => created))
  const [stored, ...others] = await storage.webhooks.list('acme', { sort: [{ field: 'id', direction: 'asc' }], filter: {}, offset: 0, limit: 10 })
  t.strictSame([stored?.id, others], [created.id, []])
})

t.test('prune deletes expired responses in batches', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const { idempotency, deliveries } = storage
  for (const digest of ['a', 'b', 'c', 'd']) {
    await idempotency.claim('acme', { ...attempt, digest, keepMs: digest === 'd' ? 60_000 : 1 })
  }
  await pool.query("update recruiting.requests set expires_at = expires_at - interval '1 second'")
  const prune = () => deliveries.prune({ retentionDays: 30, limit: 2 })
  t.strictSame([await prune(), await prune(), await prune()], [2, 1, 0])
  t.strictSame((await pool.query('select digest from recruiting.requests')).rows, [{ digest: 'd' }])
})

t.test("the end of a removed tenant's rest deletes requests that were claimed late", async (t) => {
  const { pool, storage: { idempotency, webhooks } } = await startPostgresHost(t)
  await webhooks.removeTenant('acme', { limit: 10, restSeconds: 60 })
  await idempotency.claim('acme', attempt)
  await pool.query("update recruiting.tenants set rests_until = now() - interval '1 second' where rests_until is not null")
  await webhooks.listResting()
  t.match(await idempotency.claim('acme', { ...attempt, claim: 'next' }), { isClaimed: true })
})
