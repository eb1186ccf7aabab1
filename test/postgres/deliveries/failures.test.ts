import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage, watch } from '../../../src/storages/postgres/index.js'
import { createEvent, createWebhook } from '../../../src/tools/testing/support/samples.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startTcpProxy } from '../../fixtures/receivers/tcp-proxy.js'
import { createGatedPool } from '../../fixtures/postgres/gated-pool.js'
import { addWebhook } from '../../fixtures/api/webhooks.js'

const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
const fatal = Buffer.concat([Buffer.from('E'), length(fields), Buffer.from(fields)])

function length (text: string): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(4 + text.length)
  return bytes
}

/** Adds the message that the server stops to its response of this number; the first one answers a new connection. */
function stopWith (number: number): (chunk: Buffer) => Buffer {
  let answers = 0
  return (chunk) => {
    // Each response ends with the message ReadyForQuery.
    const isAnswer = chunk.subarray(-6, -1).equals(Buffer.from('Z\0\0\0\x05'))
    return isAnswer && ++answers === number ? Buffer.concat([chunk, fatal]) : chunk
  }
}

for (const number of [1, 2, 3]) {
  t.test(`a server restart announced in response ${number} of a connection does not crash the process`, async (t) => {
    const { pool, server, storage: { webhooks } } = await startPostgresHost(t)
    await pool.query('create table people (id bigint primary key, company text)')
    const { port } = await startTcpProxy(t, server.port, () => stopWith(number))
    const createPool = () => server.createPool({ port })
    const proxied = server.url.replace(`:${server.port}/`, `:${port}/`)

    const calls: Array<[name: string, call: () => Promise<unknown>]> = [
      ['migrate', () => migrate(createPool())],
      ['watch', () => watch(createPool(), 'people', { kind: 'candidate', id: 'id', tenant: 'company' })],
      ['a storage', () => postgresStorage(createPool()).webhooks.find('acme', 1)],
      ['a transaction', () => postgresStorage(createPool()).webhooks.removeTenant('acme', { limit: 1 })],
      ['a lookup', () => postgresKeyLookup(createPool())({ tenantSlug: 'acme', tenantId: 'acme', key: 'secret' })],
      ['keys', () => apiKeys(createPool()).list({ tenantSlug: 'acme' })],
      ['the command', () => createCli(proxied)('doctor --wait-seconds 0')]
    ]
    for (const [name, call] of calls) {
      await t.test(name, async () => {
        await call().catch((error: unknown) => t.match(error, { message: /terminat|not queryable/ }))
      })
    }

    // The third response arrives after 30 s.
    if (number < 3) {
      await t.test('listening', async () => {
        const { onDue } = postgresStorage(createPool()).deliveries
        await new Promise<void>((resolve) => {
          const stop = onDue(() => {}, () => {
            stop()
            resolve()
          })
        })
      })
    }
    t.equal(await webhooks.find('acme', 1), null, 'the server runs')
  })
}

t.test('storages, lookups and calls that share a pool add one listener', async (t) => {
  const { pool } = await startPostgresHost(t)
  for (let count = 0; count < 20; count++) {
    await postgresStorage(pool).webhooks.find('acme', count)
    await postgresKeyLookup(pool)({ tenantSlug: 'acme', tenantId: 'acme', key: 'secret' })
    await migrate(pool)
  }
  const client = await pool.connect()
  t.strictSame([pool.listenerCount('error'), pool.listenerCount('acquire'), client.listenerCount('error')], [1, 1, 1])
  client.release()
})

// All of the storage's statements except the one that reads a setting.
const statements = /\*\/ (?!select current_setting)/

t.test('a delayed stop', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  const claim = async () =>
    (await deliveries.claimDue({ limit: 100, perEndpoint: 100, leaseMs: 60_000 })).map(({ eventId }) => eventId)
  const countQueued = async () => Number((await pool.query('select count(*) from recruiting.queue')).rows[0].count)

  async function addWithEvents (events: number): Promise<number> {
    await clear()
    const id = await addWebhook(webhooks)
    for (let count = 0; count < events; count++) await deliveries.record('acme', createEvent(`evt_old_${count}`))
    return id
  }

  for (const number of [1, 2]) {
    t.test(`before its statement ${number + 1} skips no events emitted after the webhook was reactivated`, async (t) => {
      const id = await addWithEvents(501)
      const gated = createGatedPool(pool, statements, number)
      const stopping = postgresStorage(gated.pool).webhooks.update('acme', id, { status: 'inactive' })
      await gated.stopped
      await webhooks.update('acme', id, { status: 'active' })
      await deliveries.record('acme', createEvent('evt_new'))
      gated.open()
      await stopping
      while (await countQueued() > 1) await sleep(5)
      t.same(await claim(), ['evt_new'])
    })

    t.test(`before statement ${number} of pruning skips no events emitted after the webhook was reactivated`, async (t) => {
      const id = await addWithEvents(3)
      await pool.query("update recruiting.webhooks set status = 'inactive'")
      const gated = createGatedPool(pool, statements, number)
      const pruning = postgresStorage(gated.pool).deliveries.prune({ retentionDays: 1, limit: 10 })
      await gated.stopped
      await webhooks.update('acme', id, { status: 'active' })
      await deliveries.record('acme', createEvent('evt_new'))
      gated.open()
      await pruning
      t.same(await claim(), ['evt_new'])
    })
  }

  t.test("after a DELETE cancels no deliveries of other webhooks, and the deleted one's are not claimed", async (t) => {
    const deleted = await addWithEvents(3)
    const gated = createGatedPool(pool, statements, 1)
    const deleting = postgresStorage(gated.pool).webhooks.delete('acme', deleted)
    await gated.stopped
    t.same(await claim(), [])
    const other = await webhooks.nextId('acme')
    await webhooks.create('acme', createWebhook(other), { maxPerTenant: 10 })
    await deliveries.record('acme', createEvent('evt_new'))
    gated.open()
    await deleting
    t.same(await claim(), ['evt_new'])
    t.equal(await countQueued(), 1)
  })
})

t.test('a webhook with many pending deliveries stops before they are moved, and they are never claimed', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const id = await addWebhook(webhooks)
  await pool.query(`
    with made as (
      insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
      select 'evt_' || n, 'acme', 'candidate.created', '{}', '', now() from generate_series(1, 20000) as n
      returning seq
    )
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select seq, $1, 'candidate.created', 1, now(), now() from made`, [id])
  const gated = createGatedPool(pool, /sweep_v1/, 1)
  await postgresStorage(gated.pool).webhooks.update('acme', id, { status: 'inactive' })
  t.equal(await deliveries.count('acme', id, { status: 'skipped' }), 500, 'the caller waited for one batch')
  await gated.stopped
  await webhooks.update('acme', id, { status: 'active' })
  await deliveries.record('acme', createEvent('evt_new'))
  t.same((await deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 1000 })).map(({ eventId }) => eventId), ['evt_new'])
  gated.open()
  while (await deliveries.count('acme', id, { status: 'skipped' }) < 20_000) await sleep(5)
  t.equal(await deliveries.count('acme', id, { status: 'pending' }), 1)
})

t.test('pruning moves deliveries that the background sweep failed to move', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const id = await addWebhook(webhooks)
  for (let count = 0; count < 502; count++) await deliveries.record('acme', createEvent(`evt_${count}`))
  const gated = createGatedPool(pool, /sweep_v1/, 1)
  await postgresStorage(gated.pool).webhooks.update('acme', id, { status: 'inactive' })
  await gated.stopped
  gated.open(new Error('the server is gone'))
  await sleep(0)
  t.equal(await deliveries.count('acme', id, { status: 'pending' }), 2)
  await deliveries.prune({ retentionDays: 1, limit: 10 })
  t.equal(await deliveries.count('acme', id, { status: 'pending' }), 0)
})

t.test('a replay that commits after its webhook was stopped leaves nothing pending', async (t) => {
  const { pool, storage: { webhooks, deliveries }, lockWaited } = await startPostgresHost(t)
  const selection = { include: 'all', eventTypes: null, since: null, until: null, limit: 10 } as const
  const changes = { inactive: { status: 'inactive' }, 'inactive, then active': { status: 'active' } } as const
  for (const [title, { status }] of Object.entries(changes)) {
    t.test(title, async (t) => {
      const id = await webhooks.nextId('acme')
      await webhooks.create('acme', { ...createWebhook(id), status: 'inactive' }, { maxPerTenant: 10 })
      await deliveries.record('acme', createEvent(`evt_${id}`))
      await webhooks.update('acme', id, { status: 'active' })
      const client = await begin(pool, 'begin; select from recruiting.events for update')
      const replaying = deliveries.replay('acme', id, { ...selection, eventIds: [`evt_${id}`] })
      await lockWaited(' replay ')
      await webhooks.update('acme', id, { status: 'inactive' })
      await webhooks.update('acme', id, { status })
      await client.finish()
      t.match(await replaying, { queued: 1 })
      const claimed = await deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 1000 })
      t.equal(await deliveries.count('acme', id, { status: 'pending' }), claimed.length)
    })
  }
})

t.test('an update that stops a webhook succeeds even if its deliveries cannot be moved', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const id = await addWebhook(webhooks)
  await deliveries.record('acme', createEvent('evt_1'))
  const gated = createGatedPool(pool, /sweep_v1/, 0)
  gated.open(new Error('the server is gone'))
  t.match(await postgresStorage(gated.pool).webhooks.update('acme', id, { status: 'inactive' }), { status: 'inactive' })
  t.same(await deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 1000 }), [])
  await deliveries.prune({ retentionDays: 1, limit: 10 })
  t.equal(await deliveries.count('acme', id, { status: 'skipped' }), 1)
})
