import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import type { Teardown } from '../../fixtures/api/app.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'
import { startStandby } from '../../fixtures/postgres/postgres-copies.js'
import { startPostgresHost, startPostgresServerHost } from '../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { follow } from '../../fixtures/postgres/changes.js'
import { startTcpProxy } from '../../fixtures/receivers/tcp-proxy.js'

function startEngine (t: Teardown, pool: pg.Pool, delivery: object | false = {}) {
  const lines: string[] = []
  const note = (_: object, message: string): void => { lines.push(message) }
  const reachable = { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 20 }
  const logger = { ...silentLogger, error: note, info: note }
  const recruiting = createRecruiting({
    storage: postgresStorage(pool),
    delivery: delivery && { ...reachable, ...delivery },
    logger
  })
  t.teardown(() => recruiting.close())
  return { ...recruiting, lines }
}

const event = { tenantSlug: 'acme', type: 'application.created', data: {} } as const

t.test('a database created from a template sends nothing and logs this once, until it is adopted', async (t) => {
  const { server, pool, storage } = await startPostgresHost(t)
  const receiver = await startReceiver(t)
  const webhook = await storeWebhook(storage, 'acme', { targetUrl: receiver.url })
  const emitter = startEngine(t, pool, false)
  for (let count = 0; count < 3; count++) await emitter.emit(event)
  const { rows: [{ name }] } = await pool.query('select current_database() as name')
  await pool.end()
  const admin = server.createPool({ database: 'postgres' })
  await admin.query(`create database ${name}_copy template ${name}`)
  const copy = server.createPool({ database: `${name}_copy` })
  const worker = startEngine(t, copy)

  await t.rejects(worker.drain(), {
    code: 'held',
    message: /^the database is a copy: nothing is sent until you call adopt/
  })
  while (worker.lines.length === 0) await new Promise(setImmediate)
  await t.rejects(worker.drain(), { code: 'held' })
  t.match(await worker.webhooks.sendTest('acme', webhook.id), { status: 'failed', error: 'held', duration_ms: 0 })
  t.match(await worker.stats(), { held: { reason: 'copy' }, pending: 3 })
  t.same(receiver.requests, [])

  t.strictSame(await worker.adopt({ pending: 'discard', keepWebhooks: true }), { reason: 'copy', pending: 3 })
  const { id } = await worker.emit(event)
  await worker.drain()
  t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [id])
  t.strictSame(worker.lines, ['deliveries are held', 'deliveries are no longer held'])
  await startEngine(t, server.createPool()).drain()
  t.equal(receiver.requests.length, 4, 'the original sends its notifications')
})

t.test('when a standby is promoted after the loss of the server', async (t) => {
  const { server, pool } = await startPostgresServerHost(t)
  const standby = await startStandby(t, server)
  const address = await startTcpProxy(t, server.port)
  const storage = postgresStorage(server.createPool({ port: address.port }))
  const { changes } = storage
  const receiver = await startReceiver(t)
  await storeWebhook(storage, 'acme', { targetUrl: receiver.url })

  const emitter = createRecruiting({ storage, delivery: false })
  const emit = () => emitter.emit(event)
  const worker = createRecruiting({
    storage: postgresStorage(server.createPool({ port: address.port })),
    // The crash may lose a claim's response. Its lease must expire during the test.
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

  await t.rejects(emit(), { code: '25006' }, 'before that, nothing can be recorded')
  await standby.promote()

  await t.test('the worker delivers events recorded before and after it', async () => {
    const { id } = await emit()
    while (![waiting, id].every((wanted) => receiver.requests.slice(2).some(({ headers }) => headers['webhook-id'] === wanted))) {
      await receiver.received(receiver.requests.length + 1)
    }
  })

  await t.test('positions in the changes issued by the other server are unknown immediately', async (t) => {
    t.equal(await changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
    const own = await changes.begin('acme', 'candidate')
    await changes.record('acme', { kind: 'candidate', id: '7', deleted: false })
    // The first checkpoint may come minutes after the promotion.
    await standby.createPool().query('checkpoint')
    t.strictSame((await follow(changes, own)).ids, ['7'])
  })
})
