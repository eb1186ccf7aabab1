import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import type { Teardown } from '../../fixtures/api/app.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'
import { copyCluster, startStandby } from '../../fixtures/postgres/postgres-copies.js'
import { startPostgresHost, startPostgresServerHost } from '../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { follow } from '../../fixtures/postgres/changes.js'
import { startTcpProxy } from '../../fixtures/receivers/tcp-proxy.js'

const reachable = { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 20 }

function startEngine (t: Teardown, pool: pg.Pool, delivery: object = {}) {
  const lines: string[] = []
  const logger = { ...silentLogger, error: (_: object, message: string) => { lines.push(message) }, info: (_: object, message: string) => { lines.push(message) } }
  const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: { ...reachable, ...delivery }, logger })
  t.teardown(() => recruiting.close())
  return { ...recruiting, lines }
}

async function emitThree (pool: pg.Pool): Promise<void> {
  const emitter = createRecruiting({ storage: postgresStorage(pool), delivery: false, logger: silentLogger })
  for (const id of [1, 2, 3]) await emitter.emit({ tenantSlug: 'acme', type: 'application.created', data: { id } })
  await emitter.close()
}

t.test('a database made from a template', async (t) => {
  const { server, pool, storage } = await startPostgresHost(t)
  const receiver = await startReceiver(t)
  const webhook = await storeWebhook(storage, 'acme', { targetUrl: receiver.url })
  await emitThree(pool)
  const { rows: [{ name }] } = await pool.query('select current_database() as name')
  await pool.end()
  const admin = server.createPool({ database: 'postgres' })
  await admin.query(`create database ${name}_copy template ${name}`)
  const copy = server.createPool({ database: `${name}_copy` })
  const worker = startEngine(t, copy)

  await t.test('sends nothing, and says so once', async (t) => {
    await t.rejects(worker.drain(), { code: 'held', message: /^the database is a copy: nothing is sent until you call adopt/ })
    while (worker.lines.length === 0) await new Promise(setImmediate)
    await t.rejects(worker.drain(), { code: 'held' })
    t.strictSame(worker.lines, ['deliveries are held'])
    t.match(await worker.webhooks.sendTest('acme', webhook.id), { status: 'failed', response_status: null, error: 'held', duration_ms: 0 })
    t.same(receiver.requests, [])
    const { held, pending } = await worker.stats()
    t.match([held?.reason, pending], ['copy', 3])
    t.match(await worker.health(), { alive: true, held })
  })

  await t.test('reports no notices', async (t) => {
    await copy.query(`
      insert into recruiting.notices (kind, tenant, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error)
      values ('failing', 'acme', 'acme', ${webhook.id}, now(), 1, 'timeout')`)
    t.same(await postgresStorage(copy).deliveries.claimNotices({ limit: 10, leaseMs: 0 }), [])
  })

  await t.test('sends events recorded after adopting with discard', async (t) => {
    t.strictSame(await worker.adopt({ pending: 'discard', keepWebhooks: true, keepKeys: true }), { reason: 'copy', pending: 3 })
    t.equal(await worker.adopt({ pending: 'discard' }), null)
    const { id } = await worker.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
    await worker.drain()
    t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [id])
    const { data } = await worker.webhooks.listDeliveries('acme', webhook.id, { sort: 'id' })
    t.same(data.map(({ status }) => status), ['skipped', 'skipped', 'skipped', 'delivered'])
    t.equal((await worker.stats()).held, null)
    t.strictSame(worker.lines, ['deliveries are held', 'deliveries are no longer held'])
    t.same((await copy.query('select from recruiting.notices')).rows, [])
  })

  await t.test('leaves the original as it was', async (t) => {
    const original = startEngine(t, server.createPool())
    await original.drain()
    t.equal(receiver.requests.length, 4)
    t.equal((await original.stats()).held, null)
  })
})

t.test('a copy of the cluster is found by its environment', async (t) => {
  const { server, pool, storage } = await startPostgresServerHost(t)
  const receiver = await startReceiver(t)
  await storeWebhook(storage, 'acme', { targetUrl: receiver.url })
  const production = startEngine(t, pool, { environment: 'production' })
  await production.drain()
  await production.close()
  await emitThree(pool)
  const staging = startEngine(t, (await copyCluster(t, server)).createPool(), { environment: 'staging' })

  await t.rejects(staging.drain(), { code: 'held', message: /^the database belongs to another delivery\.environment: / })
  t.same(receiver.requests, [])
  t.match((await staging.stats()).held, { reason: 'environment' })
  t.strictSame(await staging.adopt({ pending: 'deliver' }), { reason: 'environment', pending: 3 })
  await staging.drain()
  t.equal(receiver.requests.length, 3)

  await t.test('and production is not held', async (t) => {
    const again = startEngine(t, pool, { environment: 'production' })
    await again.drain()
    t.equal(receiver.requests.length, 6)
  })
})

t.test('when a standby is promoted in place of the server that was lost', async (t) => {
  const { server, pool } = await startPostgresServerHost(t)
  const standby = await startStandby(t, server)
  const address = await startTcpProxy(t, server.port)
  const storage = postgresStorage(server.createPool({ port: address.port }))
  const { changes } = storage
  const receiver = await startReceiver(t)
  await storeWebhook(storage, 'acme', { targetUrl: receiver.url })

  const emitter = createRecruiting({ storage, delivery: false })
  const emit = () => emitter.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  const worker = createRecruiting({
    storage: postgresStorage(server.createPool({ port: address.port })),
    // The crash may lose the answer to a claim. Its lease must end during the test.
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 100, retrySchedule: [0, 1, 1, 1], timeoutMs: 1000, leaseMs: 6000 }
  })
  t.teardown(() => Promise.all([worker.close(), emitter.close()]))
  await emit()
  await receiver.received(1)
  await worker.drain()
  const position = await changes.begin('acme', 'candidate')

  receiver.answer(500, 204)
  const { id: waiting } = await emit()
  while ((await pool.query('select from recruiting.queue where lane is null')).rows.length === 0) await sleep(10)
  await standby.caughtUp()
  await server.stop('immediate')
  address.moveTo(standby.port)

  await t.test('until then emits reject with the error of PostgreSQL, and nothing is recorded', async (t) => {
    await t.rejects(emit(), { code: '25006' })
  })
  await standby.promote()

  await t.test('the worker delivers events recorded before and after it', async (t) => {
    const { id } = await emit()
    while (![waiting, id].every((wanted) => receiver.requests.slice(2).some(({ headers }) => headers['webhook-id'] === wanted))) {
      await receiver.received(receiver.requests.length + 1)
    }
  })

  await t.test('positions among the changes that the other server gave are not known, from the first moment', async (t) => {
    t.equal(await changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
    const own = await changes.begin('acme', 'candidate')
    await changes.record('acme', { kind: 'candidate', id: '7', deleted: false })
    // The first one may come minutes after the promotion.
    await standby.createPool().query('checkpoint')
    t.strictSame((await follow(changes, own)).ids, ['7'])
  })
})
