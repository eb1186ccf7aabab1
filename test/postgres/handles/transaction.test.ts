import t from 'tap'
import { createRecruiting, isRecruitingApiError } from '../../../src/index.js'
import { named } from '../../../src/tools/testing/support/samples.js'
import { apiKeys, migrate, postgresStorage } from '../../../src/storages/postgres/index.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

t.test('events in the host\'s own transaction', async (t) => {
  const { pool, storage, schema, clear, lockWaited } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())

  t.beforeEach(async () => {
    await clear()
    for (const name of ['CRM', 'Slack']) await storeWebhook(storage, 'acme', { name, eventTypes: [event.type] })
  })

  const claim = () => storage.deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })

  t.test('an emit that waited for a rolled-back one with the same key returns its own deliveries', async (t) => {
    const client = await begin(pool)
    await recruiting.emit({ ...event, idempotencyKey: 'k' }, { transaction: client })
    const waiting = recruiting.emit({ ...event, idempotencyKey: 'k' })
    await lockWaited('record_event')
    await storeWebhook(storage, 'acme', { name: 'Teams', eventTypes: [event.type] })
    await client.finish('rollback')
    const { deliveries } = await waiting
    t.equal((await claim()).length, deliveries)
  })

  t.test('rolling back to a savepoint removes its event', async (t) => {
    const client = await begin(pool, 'begin; savepoint before')
    await recruiting.emit(event, { transaction: client })
    await client.query('rollback to before')
    await recruiting.emit(event, { transaction: client })
    await client.finish()
    t.equal((await pool.query(`select from ${schema}.events`)).rows.length, 1)
  })

  t.test("the host's client gets a text and values, and no callback", async (t) => {
    const client = await begin(pool)
    const third: unknown[] = []
    const wrapper = {
      query (text: string, values: unknown[], options?: unknown) {
        third.push(options)
        return client.query(text, values)
      }
    }
    t.match(await recruiting.emit({ ...event, subject: 'candidate:1' }, { transaction: wrapper }), { deliveries: 2 })
    t.equal(await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }, { transaction: wrapper }), 1)
    await client.finish()
    t.same(third, [undefined, undefined, undefined])
  })

  t.test('transactions that emit to the same endpoints do not wait for each other', async (t) => {
    const first = await begin(pool, "begin; set local lock_timeout = '2s'")
    const second = await begin(pool, "begin; set local lock_timeout = '2s'")
    await recruiting.emit(event, { transaction: first })
    await recruiting.emit(event, { transaction: second })
    // An open one does not block a worker or a change of the webhook either.
    t.strictSame(await claim(), [])
    const { rows: [{ id }] } = await pool.query(`select id::int from ${schema}.webhooks limit 1`)
    await storage.webhooks.update('acme', id, { name: 'Changed' })
    await second.finish()
    t.equal((await claim()).length, 2)
    await first.finish()
    t.equal((await claim()).length, 2)
  })

  t.test('a host with another search path can emit', async (t) => {
    const client = await begin(pool, `begin;
      create temp table events (x int); create temp table webhooks (x int); set local search_path to pg_catalog`)
    t.match(await recruiting.emit(event, { transaction: client }), { deliveries: 2 })
    t.equal((await client.query('show search_path')).rows[0].search_path, 'pg_catalog')
    await client.finish('rollback')
  })
})

t.test('transactions that record the first events of two tenants in opposite order do not wait for each other', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())

  for (const round of ['no event', 'a renamed tenant', 'a removed tenant']) {
    const clients = await Promise.all([1, 2].map(() => begin(pool, "begin; set local lock_timeout to '500ms'")))
    const emit = (client: unknown, tenantSlug: string) => recruiting.emit({ tenantSlug, type: 'application.created', data: {} }, { transaction: client })
    await emit(clients[0], 'acme')
    await emit(clients[1], 'globex')
    await t.resolves(emit(clients[0], 'globex'), `after ${round}`)
    await t.resolves(emit(clients[1], 'acme'), `after ${round}`)
    for (const client of clients) await client.finish()
    // Without a rest, as for tenants with separate ids.
    if (round === 'no event') await storage.webhooks.renameTenant(named('acme'), named('initech'), { reseal: (secret) => secret })
    else await storage.webhooks.removeTenant('globex', { limit: 100 })
  }
})

t.test('emits do not wait for an uncommitted rename or removal, and move with their tenant', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const event = (tenantSlug: string) => ({ tenantSlug, type: 'application.created', data: {}, subject: 'candidate:1' }) as const

  const client = await begin(pool)
  await recruiting.renameTenant('acme', 'initech', { transaction: client })
  await recruiting.removeTenant('globex', { transaction: client })
  await recruiting.emit(event('acme'))
  await recruiting.emit(event('globex'))
  await client.finish()

  t.strictSame(await recruiting.erase({ tenantSlug: 'initech', subject: 'candidate:1' }), 1)
  t.strictSame(await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }), 0)
  t.strictSame(await recruiting.erase({ tenantSlug: 'globex', subject: 'candidate:1' }), 0)
  await recruiting.prune()
  t.strictSame((await pool.query('select tenant_key from recruiting.events')).rows, [{ tenant_key: 'acme' }])
})

const count = 10
const eventIsolation = { tenantSlug: 'acme', type: 'job.created', data: {} } as const
const input = { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] }
const webhook = { ...input, status: 'active', secret: 'whsec_a' } as const

t.test('if transactions are serializable by default', async (t) => {
  const server = await startPostgres(t)
  const createPool = () => server.createPool({ options: '-c default_transaction_isolation=serializable' })
  const atOnce = <Result>(call: (number: number) => Promise<Result>): Promise<Result[]> =>
    Promise.all(Array.from({ length: count }, (_, number) => call(number)))

  const migrated = (await atOnce(() => migrate(createPool()))).flat()
  t.ok(migrated.length > 0)
  t.equal(new Set(migrated).size, migrated.length, 'processes that start together run each migration once')

  const pool = createPool()
  const { webhooks, deliveries } = postgresStorage(pool)
  const recruiting = createRecruiting({ storage: { webhooks, deliveries }, delivery: false })
  t.teardown(() => recruiting.close())

  await t.test('webhooks are created concurrently, up to the limit', async (t) => {
    const created = await atOnce(async () =>
      webhooks.create('acme', { ...webhook, tenantSlug: 'acme', id: await webhooks.nextId('acme') }, { maxPerTenant: count - 3 })
    )
    t.equal(created.filter((each) => each !== null).length, count - 3)
  })

  await t.test('emits with one idempotency key record one event', async (t) => {
    const emitted = await atOnce(() => recruiting.emit({ ...eventIsolation, idempotencyKey: 'a' }))
    t.equal(new Set(emitted.map(({ id }) => id)).size, 1)
  })

  await t.test('concurrent claims share the limit of a webhook', async (t) => {
    await atOnce(() => recruiting.emit(eventIsolation))
    const claimed = await atOnce(() => deliveries.claimDue({ limit: 64, perEndpoint: 2, leaseMs: 60_000 }))
    t.equal(claimed.flat().length, 2 * (count - 3))
  })

  await t.test("one of a key's concurrent rotations succeeds", async (t) => {
    const keys = apiKeys(pool)
    const { id } = await keys.issue({ tenantSlug: 'acme', scopes: [] })
    const rotated = await atOnce(() =>
      keys.rotate({ tenantSlug: 'acme' }, id, { overlapSeconds: 0 }).catch((error: unknown) => error)
    )
    t.equal(rotated.filter((result) => !isRecruitingApiError(result)).length, 1)
  })

  await t.test("an emit that cannot be serialized rejects with the driver's error", async (t) => {
    const client = await begin(pool, 'begin; select from pg_class limit 1')
    const { id } = await recruiting.emit({ ...eventIsolation, idempotencyKey: 'b' })
    const error = await recruiting.emit({ ...eventIsolation, idempotencyKey: 'b' }, { transaction: client })
      .catch((error: unknown) => error)
    t.match(error, { code: '40001', message: /could not serialize access/ })
    t.notOk(isRecruitingApiError(error))

    await client.query('rollback; begin')
    t.match(
      await recruiting.emit({ ...eventIsolation, idempotencyKey: 'b' }, { transaction: client }),
      { id },
      'the host retries'
    )
    await client.finish()
  })
})

t.test('calls in a transaction on the last connection do not wait for another connection', async (t) => {
  const { server } = await startPostgresHost(t)
  const pool = server.createPool({ max: 1 })
  const recruiting = createRecruiting({ storage: postgresStorage(pool, { queryTimeoutMs: 30_000 }), delivery: false })
  t.teardown(() => recruiting.close())
  const client = await begin(pool)
  const options = { transaction: client }

  t.match(await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {}, subject: 'candidate:1' }, options), { deliveries: 0 })
  t.equal(await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }, options), 1)
  await recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 }, options)
  const { id, secret } = await recruiting.webhooks.create('acme', input, options)
  t.match(secret, /^whsec_/)
  await recruiting.suspendTenant('acme', options)
  t.match(await recruiting.resumeTenant('acme', { pending: 'skip', ...options }), { since: String })
  t.strictSame(await recruiting.renameTenant('acme', 'globex', options), { webhooks: 1 })
  t.strictSame(await recruiting.removeTenant('globex', options), { left: 0 })
  await t.rejects(recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} }, options), { code: 'tenant_resting' })
  await t.rejects(recruiting.webhooks.create('acme', input, options), { code: 'tenant_resting' })
  await client.finish()
  t.equal((await pool.query('select from recruiting.webhooks where id = $1', [id])).rows.length, 0)
})

t.test('a webhook is created when the transaction commits, and other creates of its tenant wait', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false, maxWebhooksPerTenant: 1 })
  t.teardown(() => recruiting.close())
  for (const end of ['rollback', 'commit'] as const) {
    const client = await begin(pool)
    const created = await recruiting.webhooks.create('acme', input, { transaction: client })
    t.equal(await recruiting.webhooks.find('acme', created.id), null)
    const other = recruiting.webhooks.create('acme', input).then(({ id }) => recruiting.webhooks.delete('acme', id), (error) => error.code)
    await recruiting.webhooks.create('globex', input).then(({ id }) => recruiting.webhooks.delete('globex', id))
    await client.finish(end)
    t.equal(await other, end === 'commit' ? 'invalid_input' : undefined)
  }
  t.equal((await recruiting.webhooks.list('acme')).data.length, 1)
  for (const [options, code, field] of [[{ transaction: pool }, 'invalid_event', 'transaction'], [{ transactions: 1 }, 'invalid_input', 'transactions'], [7, 'invalid_input', 'options']] as const) {
    await t.rejects(recruiting.webhooks.create('globex', input, options as never), { code, field })
  }
})
