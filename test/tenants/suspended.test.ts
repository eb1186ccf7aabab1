import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { buildWebhookApi, runUntil, webhookInput } from '../fixtures/api/webhook-api.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { createToken, portal } from '../fixtures/portal/sessions.js'

const since = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

t.test("every request of a suspended tenant gets 403 with the code suspended, and other tenants' requests do not", async (t) => {
  const { app } = await buildWebhookApi(t, { portal, mcp: true, errorDetails: false })
  const { recruiting } = app
  const token = await createToken(app)
  const ask = (tenant: string, path: string, key: string, method: 'GET' | 'POST' = 'GET') =>
    app.inject({ method, url: `/api/v1/public/${tenant}${path}`, headers: bearer(key) })
  await recruiting.suspendTenant('acme')
  for (const [path, key, method] of [
    ['/jobs', keys.full], ['/webhooks', keys.full, 'POST'], ['/webhooks', token], ['/nothing', keys.full], ['/mcp', keys.full, 'POST']
  ] as const) {
    const { statusCode, headers, body } = await ask('acme', path, key, method)
    const message = 'The tenant is suspended'
    t.same([statusCode, JSON.parse(body)], [403, { error: { code: 'suspended', message, request_id: headers['x-request-id'] } }], path)
  }
  t.equal((await ask('acme', '/jobs', 'wrong')).statusCode, 401, 'only callers with a key learn it')
  t.equal((await ask('globex', '/jobs', keys.globex)).statusCode, 200)
  await recruiting.resumeTenant('acme', { pending: 'deliver' })
  t.equal((await ask('acme', '/jobs', keys.full)).statusCode, 200)
})

t.test('nothing is sent to a suspended tenant, not even tests; resuming delivers or skips', async (t) => {
  const { app: { recruiting }, receiver, webhook, emit, drain, log } = await startDelivering(t)
  for (const pending of ['deliver', 'skip'] as const) {
    const { since: began } = await recruiting.suspendTenant({ tenantSlug: 'acme' })
    t.match(began, since)
    t.equal((await emit()).deliveries, 1)
    await drain()
    t.match(await recruiting.webhooks.sendTest('acme', webhook.id), { status: 'failed', error: 'suspended', response_status: null })
    t.match(await recruiting.stats(), { suspendedTenants: 1, pending: 1, due: 0 })
    t.match(await recruiting.stats({ tenantSlug: 'acme' }), { suspendedSince: began, pending: 1, oldestDueMs: 0 })
    t.equal(receiver.requests.length, pending === 'deliver' ? 0 : 1, 'nothing was sent')
    t.same(await recruiting.resumeTenant('acme', { pending }), { since: began })
    await drain()
  }
  t.equal(await recruiting.resumeTenant('acme', { pending: 'skip' }), null)
  t.equal(receiver.requests.length, 1)
  t.same((await log()).map(({ status }) => status), ['delivered', 'skipped'])
  t.match(await recruiting.webhooks.replay('acme', webhook.id), { queued: 1 })
  await drain()
  t.equal(receiver.requests.length, 2)
})

t.test("another process rejects a suspended tenant's requests within 5 seconds, also with the option tenantId", async (t) => {
  for (const options of [{}, { tenantId: () => 41 }]) {
    const clock = createManualClock(Date.now())
    const storage = memoryStorage({ clock })
    const app = await buildApp(t, { storage, keyLookup: () => ({ id: 'key', scopes: ['jobs:read'] }), ...options, delivery: { worker: false, clock } })
    t.teardown(() => runUntil(clock, app.close()))
    const other = createRecruiting({ storage, logger: silentLogger, ...options, delivery: { worker: false, clock } })
    t.teardown(() => other.close())
    const ask = async () => (await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) })).statusCode
    t.equal(await ask(), 200)
    await other.suspendTenant('acme')
    await clock.skip(5001)
    t.equal(await ask(), 403)
    await other.resumeTenant('acme', { pending: 'deliver' })
    await clock.skip(5001)
    t.equal(await ask(), 200)
  }
})

t.test('invalid arguments are named, and change nothing', async (t) => {
  const storage = memoryStorage()
  const recruiting = createRecruiting({ storage, logger: silentLogger, delivery: false, tenantId: (slug) => slug === 'acme' ? 41 : null })
  t.teardown(() => recruiting.close())
  const { suspendTenant, resumeTenant } = recruiting
  await t.rejects(suspendTenant('nobody'), { code: 'unknown_tenant', field: 'tenantSlug' })
  await t.rejects(suspendTenant('acme', { transactions: 1 } as never), { code: 'invalid_event', field: 'transactions' })
  await t.rejects(suspendTenant('acme', { transaction: {} }), { code: 'invalid_event', field: 'transaction' })
  await t.rejects(resumeTenant('acme', undefined as never), { code: 'invalid_input' })
  await t.rejects(resumeTenant('acme', {} as never), { code: 'invalid_input', field: 'pending', message: "pending: expected 'deliver' or 'skip', got undefined" })
  await t.rejects(resumeTenant('acme', { pending: 'discard' } as never), { code: 'invalid_input', field: 'pending' })
  await t.rejects(resumeTenant('acme', { pending: 'skip', wait: 1 } as never), { code: 'invalid_input', field: 'wait' })
  t.same(await storage.webhooks.listStates(), [])
  await suspendTenant({ tenantId: 41 })
  t.match(await storage.webhooks.listStates(), [{ tenantId: '41', restsUntil: null }])
  await recruiting.webhooks.create('acme', webhookInput)
  t.match(await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} }), { deliveries: 1 })
})
