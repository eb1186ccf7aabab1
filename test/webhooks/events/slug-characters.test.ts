import t from 'tap'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'
import { apiKeys, postgresKeyLookup } from '../../../src/postgres/index.js'
import { allScopes, bearer, buildApp } from '../../fixtures/api/app.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { toLoopback, webhookInput } from '../../fixtures/api/webhook-api.js'

const longest = '🦊'.repeat(100)
const tooLong = '🦊'.repeat(101)
const text = '🦊'.repeat(255)
const ada = { id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null }
const event = { type: 'application.created', data: { id: 1 } } as const

// Fastify's router counts units of UTF-16.
const server = { routerOptions: { maxParamLength: 1000 } }

t.test('a tenant of 100 emoji is served from the key to the delivery', async (t) => {
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

t.test('a tenant of 101 emoji is rejected everywhere, and the error names the field', async (t) => {
  const asked: unknown[] = []
  const app = await buildApp(t, { server, keyLookup: async (credentials) => { asked.push(credentials); return null } })
  const { statusCode } = await app.inject({ url: `/api/v1/public/${encodeURIComponent(tooLong)}/candidates`, headers: bearer('a-key') })
  t.equal(statusCode, 401)
  t.strictSame(asked, [])

  const key = { tenantSlug: tooLong, scopes: [] }
  const never = async (): Promise<never> => { throw new Error('asked the database') }
  const storage = memoryStorage()
  const longId = tooLong.repeat(2)
  const option = (field: string) => ({ code: 'invalid_option', field, message: `${field}: expected a tenant slug of 1 to 100 characters` })
  const argument = { code: 'invalid_event', field: 'tenantSlug', message: 'tenantSlug: expected a tenant slug of 1 to 100 characters' }
  t.throws(() => memoryKeyLookup([{ ...key, key: 'a-key' }]), option('keys[0].tenantSlug'))
  // Rows belong to ids, which may be longer.
  t.throws(() => memoryStorage({ tenants: { [longId]: {} } }), { code: 'invalid_option', field: 'tenants' })
  t.throws(() => storage.candidates.save(longId, ada), { code: 'invalid_option', field: 'tenant' })
  t.throws(() => storage.jobs.save(longId, { id: 1, name: 'Nurse', status: 'open' }), { code: 'invalid_option', field: 'tenant' })
  await t.rejects(apiKeys({ query: never, connect: never }).issue(key), { ...option('tenantSlug'), code: 'invalid_input' })
  await t.rejects(app.recruiting.emit({ ...event, tenantSlug: tooLong }), argument)
  await t.rejects(app.recruiting.erase({ tenantSlug: tooLong, subject: 'candidate:1' }), argument)
})
