import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { postgresStorage } from '../../src/postgres/index.js'
import { follow } from '../fixtures/postgres/changes.js'
import { startStandby } from '../fixtures/postgres/postgres-copies.js'
import { startPostgresServerHost } from '../fixtures/postgres/postgres.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { startTcpProxy } from '../fixtures/receivers/tcp-proxy.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'

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

  const follower = postgresStorage(standby.createPool())
  await t.test('until then it knows no position of the other server', async (t) => {
    t.equal(await follower.changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
  })

  await t.test('until then emits reject with the error of PostgreSQL, and nothing is recorded', async (t) => {
    await t.rejects(emit(), { code: '25006', message: /read-only transaction/ })
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
