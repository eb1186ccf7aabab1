import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'
import { createEvent, createWebhook } from '../../src/tools/testing/support/samples.js'
import { begin, startPostgresHost } from '../fixtures/postgres/postgres.js'
import { createGatedPool } from '../fixtures/postgres/gated-pool.js'

t.test('keys are moved and removed with their tenant', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const lookUp = postgresKeyLookup(pool)
  const { id, key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['jobs:read'] })

  await recruiting.renameTenant('acme', 'initech')
  t.strictSame([await lookUp({ tenantSlug: 'acme', tenantId: 'acme', key }), await lookUp({ tenantSlug: 'initech', tenantId: 'initech', key })], [null, { id, scopes: ['jobs:read'] }])
  await t.rejects(recruiting.renameTenant('globex', 'initech'), { code: 'invalid_input', field: 'to' }, 'a key is enough for a tenant to exist')

  await recruiting.removeTenant('initech')
  t.equal(await lookUp({ tenantSlug: 'initech', tenantId: 'initech', key }), null)
})

const insert = `
  insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
  select $1 || n, $1, 'candidate.created', '{}', '', now() - interval '2 days' from generate_series(1, $2::integer) as n`

t.test('pruning looks for stopped deliveries once at the start, not in every batch', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(insert, ['acme', 100])
  const gated = createGatedPool(pool, /stopped_webhooks/, -1)
  const { deliveries } = postgresStorage(gated.pool)
  for (let batch = 0; batch < 9; batch++) t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 10)
  t.equal(gated.count, 1)
})

t.test('after a failed prune, the next one starts again', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(insert, ['acme', 100])
  const stopped = createGatedPool(pool, /stopped_webhooks/, -1)
  const failing = createGatedPool(stopped.pool, /prune_v1/, 1)
  const { deliveries } = postgresStorage(failing.pool)
  t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 10)
  failing.open(new Error('the server is gone'))
  await t.rejects(deliveries.prune({ retentionDays: 1, limit: 10 }), { message: 'the server is gone' })
  t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 10)
  t.equal(stopped.count, 2)
})

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
  const listResting = async () => (await webhooks.listStates()).filter(({ restsUntil }) => restsUntil !== null)

  t.test('rests for 61 minutes, during which nothing can be stored for it', async (t) => {
    await recruiting.removeTenant('acme')
    const [{ tenantId, restsUntil } = { tenantId: '', restsUntil: null }] = await webhooks.listStates()
    const until = String(restsUntil)
    t.equal(tenantId, 'acme')
    t.ok(Math.abs(Date.parse(until) - Date.now() - 61 * 60_000) < 30_000, until)
    await t.rejects(keys.issue(key), { ...resting, until })
    await t.rejects(webhooks.create('acme', createWebhook(1), { maxPerTenant: 0 }), { ...resting, until })
    await t.rejects(deliveries.record('acme', createEvent('evt_1')), { ...resting, until })
    await t.rejects(recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} }), { ...resting, until })
    t.match(await keys.issue({ ...key, tenantSlug: 'globex' }), { tenantId: 'globex' })
  })

  t.test("is rejected without aborting the host's transaction", async (t) => {
    await recruiting.removeTenant('acme')
    const client = await begin(pool)
    await t.rejects(deliveries.record('acme', createEvent('evt_1'), client), resting)
    await t.rejects(keys.issue(key, { transaction: client }), resting)
    await deliveries.record('globex', createEvent('evt_2'), client)
    await client.finish()
    t.strictSame((await pool.query('select id from recruiting.events')).rows, [{ id: 'evt_2' }])
  })

  t.test('can be removed again and keeps resting', async (t) => {
    await recruiting.removeTenant('acme')
    await recruiting.removeTenant('acme')
    t.equal((await webhooks.listStates()).length, 1)
    t.equal((await pool.query('select from recruiting.tenants')).rows.length, 2)
  })

  t.test('leaves nothing to the next tenant after its rest, not even late commits', async (t) => {
    await keys.issue(key)
    const late = await begin(pool, 'begin isolation level repeatable read')
    await keys.issue(key, { transaction: late })
    await recruiting.removeTenant('acme')
    await endRests()
    t.equal((await listResting()).length, 1, 'a transaction from before is open')
    await t.rejects(keys.issue(key), resting)
    await late.finish()
    t.equal((await keys.list({ tenantSlug: 'acme' })).length, 1)
    t.strictSame(await listResting(), [])
    t.strictSame(await keys.list({ tenantSlug: 'acme' }), [])
    const { id } = await keys.issue(key)
    t.strictSame(await listResting(), [])
    t.match(await keys.list({ tenantSlug: 'acme' }), [{ id }], 'keys of the next one stay')
  })

  t.test('is reported as resting by a read-only server', async (t) => {
    await recruiting.removeTenant('acme')
    await endRests()
    const client = await begin(pool, 'begin read only')
    const { rows } = await client.query('select tenant, rests_until > now() as is_ahead from recruiting.list_tenant_states_v1()')
    t.strictSame(rows, [{ tenant: 'acme', is_ahead: true }])
    await client.finish('rollback')
  })
})

t.test('a renamed tenant with a separate id keeps its keys, which show the new slug', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false, tenantId: (slug) => ['acme', 'acme-corp'].includes(slug) ? 42 : null })
  t.teardown(() => recruiting.close())
  const { id } = await apiKeys(pool, { tenantSlug: () => 'acme' }).issue({ tenantId: 42, scopes: [] })
  await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] })
  t.strictSame(await recruiting.renameTenant('acme', 'acme-corp'), { webhooks: 1 })
  t.match(await apiKeys(pool).find({ tenantId: 42 }, id), { tenantSlug: 'acme-corp', tenantId: '42' })
  t.strictSame((await pool.query('select tenant, tenant_slug from recruiting.webhooks')).rows, [{ tenant: '42', tenant_slug: 'acme-corp' }])
  t.match(await storage.webhooks.listStates(), [{ tenantId: '42', restsUntil: null, suspendedSince: null, renamedAt: /Z$/ }])
  await pool.query("update recruiting.tenants set renamed_at = renamed_at - interval '1 hour'")
  t.strictSame([await storage.webhooks.listStates(), (await pool.query('select renamed_at from recruiting.tenants')).rows], [[], [{ renamed_at: null }]])
})

const about = { subject: 'candidate:42', tombstone: '{}' }

t.test('further subjects are deleted with their events', async (t) => {
  const { pool, storage: { deliveries, webhooks } } = await startPostgresHost(t)
  const left = async (): Promise<unknown[]> => (await pool.query('select tenant_key, subject from recruiting.event_subjects order by 1, 2')).rows
  await deliveries.record('acme', { ...createEvent('evt_1'), ...about, otherSubjects: ['job:7'] })
  await deliveries.record('acme', { ...createEvent('evt_2'), ...about })
  await deliveries.record('globex', { ...createEvent('evt_3'), ...about, otherSubjects: ['job:7', 'job:8'] })
  t.same(await left(), [['acme', 'job:7'], ['globex', 'job:7'], ['globex', 'job:8']].map(([key, subject]) => ({ tenant_key: key, subject })))
  await webhooks.removeTenant('globex', { limit: 100 })
  t.same(await left(), [{ tenant_key: 'acme', subject: 'job:7' }])
  t.equal(await deliveries.prune({ retentionDays: 1, limit: 100 }), 0)
  t.equal((await left()).length, 1)
  await pool.query("update recruiting.events set recorded_at = now() - interval '2 days'")
  t.equal(await deliveries.prune({ retentionDays: 1, limit: 100 }), 2)
  t.same(await left(), [])
})
