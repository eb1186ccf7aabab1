import t from 'tap'
import { apiKeys, postgresKeyLookup } from '../../../src/storages/postgres/index.js'
import { allScopes, bearer, buildApp } from '../../fixtures/api/app.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { toLoopback, webhookInput } from '../../fixtures/api/webhook-api.js'

const longest = '🦊'.repeat(100)
const text = '🦊'.repeat(255)
const ada = { id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null }
const event = { type: 'application.created', data: { id: 1 } } as const

// Fastify's router counts UTF-16 units.
const server = { routerOptions: { maxParamLength: 1000 } }

t.test('a slug of 100 emoji works from the key to the delivery', async (t) => {
  const receiver = await startReceiver(t)
  const { pool, storage, saveCandidates } = await startPostgresHost(t)
  await saveCandidates(longest, [ada])
  const { key } = await apiKeys(pool).issue({ tenantSlug: longest, scopes: allScopes })
  const delivery = { ...toLoopback, pollMs: 10 }
  const app = await buildApp(t, { storage, keyLookup: postgresKeyLookup(pool), server, delivery })
  const url = `/api/v1/public/${encodeURIComponent(longest)}`

  const list = await app.inject({ url: `${url}/candidates`, headers: bearer(key) })
  t.strictSame([list.statusCode, list.json().data], [200, [ada]])

  const payload = { ...webhookInput, target_url: receiver.url }
  const created = await app.inject({ method: 'POST', url: `${url}/webhooks`, headers: bearer(key), payload })
  t.equal(created.statusCode, 201)

  const about = { ...event, tenantSlug: longest, subject: text, idempotencyKey: text }
  const { id } = await app.recruiting.emit(about)
  t.strictSame(await app.recruiting.emit(about), { id, deliveries: 1 })
  await app.recruiting.drain()
  const sent = receiver.requests.map(({ body }) => JSON.parse(body))
  t.strictSame(sent.map(({ id, tenant_slug: to }) => [id, to]), [[id, longest]])
  t.equal(await app.recruiting.erase({ tenantSlug: longest, subject: text }), 1)
})
