import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys } from '../../src/postgres/index.js'
import { createEvent, createWebhook } from '../../src/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const key = { tenantSlug: 'acme', scopes: [] }
const resting = { code: 'tenant_resting', field: 'tenantSlug', until: /^\d{4}-.*Z$/ }

t.test('a removed tenant', async (t) => {
  const { pool, storage, clear } = await startPostgresHost(t)
  const { webhooks, deliveries } = storage
  const keys = apiKeys(pool)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  t.beforeEach(clear)
  const endRests = () => pool.query("update recruiting.tenants set rests_until = now() - interval '1 second' where rests_until is not null")

  t.test('rests for 61 minutes, in which nothing can be stored for it', async (t) => {
    await recruiting.removeTenant('acme')
    const [{ tenantId, until } = { tenantId: '', until: '' }] = await webhooks.listResting()
    t.equal(tenantId, 'acme')
    t.ok(Math.abs(Date.parse(until) - Date.now() - 61 * 60_000) < 30_000, until)
    await t.rejects(keys.issue(key), { ...resting, until })
    await t.rejects(webhooks.create('acme', createWebhook(1), 0), { ...resting, until })
    await t.rejects(deliveries.record('acme', createEvent('evt_1')), { ...resting, until })
    await t.rejects(recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} }), { ...resting, until })
    t.match(await keys.issue({ ...key, tenantSlug: 'globex' }), { tenantId: 'globex' })
  })

  t.test('that is refused leaves the transaction of the host intact', async (t) => {
    await recruiting.removeTenant('acme')
    const client = await pool.connect()
    await client.query('begin')
    await t.rejects(deliveries.record('acme', createEvent('evt_1'), client), resting)
    await t.rejects(keys.issue(key, { transaction: client }), resting)
    await deliveries.record('globex', createEvent('evt_2'), client)
    await client.query('commit')
    client.release()
    t.strictSame((await pool.query('select id from recruiting.events')).rows, [{ id: 'evt_2' }])
  })

  t.test('can be removed again, and rests on', async (t) => {
    await recruiting.removeTenant('acme')
    await recruiting.removeTenant('acme')
    t.equal((await webhooks.listResting()).length, 1)
    t.equal((await pool.query('select from recruiting.tenants')).rows.length, 2)
  })

  t.test('that rested leaves nothing to the next one, not even what committed late', async (t) => {
    await keys.issue(key)
    const late = await pool.connect()
    await late.query('begin isolation level repeatable read')
    await keys.issue(key, { transaction: late })
    await recruiting.removeTenant('acme')
    await endRests()
    t.equal((await webhooks.listResting()).length, 1, 'a transaction from before is open')
    await t.rejects(keys.issue(key), resting)
    await late.query('commit')
    late.release()
    t.equal((await keys.list({ tenantSlug: 'acme' })).length, 1)
    t.strictSame(await webhooks.listResting(), [])
    t.strictSame(await keys.list({ tenantSlug: 'acme' }), [])
    const { id } = await keys.issue(key)
    t.strictSame(await webhooks.listResting(), [])
    t.match(await keys.list({ tenantSlug: 'acme' }), [{ id }], 'keys of the next one stay')
  })

  t.test('is shown as resting by a server that cannot write', async (t) => {
    await recruiting.removeTenant('acme')
    await endRests()
    const client = await pool.connect()
    await client.query('begin read only')
    const { rows } = await client.query('select tenant, rests_until > now() as is_ahead from recruiting.list_resting_v1()')
    t.strictSame(rows, [{ tenant: 'acme', is_ahead: true }])
    await client.query('rollback')
    client.release()
  })
})

t.test('a tenant with an id of its own that is renamed keeps its keys, which show the new name', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false, tenantId: (slug) => ['acme', 'acme-corp'].includes(slug) ? 42 : null })
  t.teardown(() => recruiting.close())
  const { id } = await apiKeys(pool).issue({ tenantSlug: 'acme', tenantId: 42, scopes: [] })
  await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] })
  t.strictSame(await recruiting.renameTenant('acme', 'acme-corp'), { webhooks: 1 })
  t.match(await apiKeys(pool).find({ tenantId: 42 }, id), { tenantSlug: 'acme-corp', tenantId: '42' })
  t.strictSame((await pool.query('select tenant, tenant_slug from recruiting.webhooks')).rows, [{ tenant: '42', tenant_slug: 'acme-corp' }])
  t.strictSame(await storage.webhooks.listResting(), [])
})
