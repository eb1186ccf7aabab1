import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import recruitingApi, { createRecruiting, type EmitResult } from '../../../../src/index.js'
import { memoryKeyLookup } from '../../../../src/storages/memory/index.js'
import { postgresStorage, type PostgresStorageOptions } from '../../../../src/storages/postgres/index.js'
import { apiKeys, bearer, keys } from '../../../fixtures/api/app.js'
import { captureLogs } from '../../../fixtures/api/logs.js'
import { storeWebhook } from '../../../fixtures/api/webhooks.js'
import { startPostgresServerHost } from '../../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../../fixtures/receivers/receiver.js'
import { startTcpProxy } from '../../../fixtures/receivers/tcp-proxy.js'
import { startStopwatch } from '../../../fixtures/stopwatch.js'

/** A delivering host whose database can go away behind a proxy. */
async function startOutageHost (t: Test, options: PostgresStorageOptions = {}) {
  const database = await startPostgresServerHost(t)
  const proxy = await startTcpProxy(t, database.server.port)
  const receiver = await startReceiver(t)
  const logs = captureLogs()
  const app = Fastify({ logger: logs.logger })
  const pool = database.server.createPool({ port: proxy.port, connectionTimeoutMillis: 1000 })
  t.teardown(() => app.close())
  await app.register(recruitingApi, {
    storage: postgresStorage(pool, options),
    keyLookup: memoryKeyLookup(apiKeys),
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'], closeGraceMs: 1000, pollMs: 200 }
  })
  await app.ready()
  const headers = bearer(keys.full)
  await storeWebhook(database.storage, 'acme', { targetUrl: receiver.url, eventTypes: ['job.created'] })

  return {
    database,
    proxy,
    receiver,
    logs,
    hasArrived: (id: string) => receiver.requests.some(({ headers }) => headers['webhook-id'] === id),
    emit: (): Promise<EmitResult> => app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} }),
    async list () {
      const stop = startStopwatch()
      const { statusCode: status } = await app.inject({ url: '/api/v1/public/acme/candidates', headers })
      return { status, tookMs: stop() }
    }
  }
}

/** Returns how long it takes until a condition holds, in milliseconds. */
async function timeUntil (isTrue: () => boolean): Promise<number> {
  const startedAt = performance.now()
  while (!isTrue()) await sleep(10)
  return performance.now() - startedAt
}

t.test('while the server is down lists return 500, and deliveries resume when it is back', async (t) => {
  const { database: { server }, receiver, logs, emit, hasArrived, list } = await startOutageHost(t)
  t.match(await list(), { status: 200 })
  await emit()
  await receiver.received(1)

  await server.stop('immediate')
  for (let tries = 0; tries < 5; tries++) {
    const { status, tookMs } = await list()
    t.equal(status, 500)
    t.ok(tookMs < 3000, `took ${tookMs} ms`)
  }
  await t.rejects(emit())
  await logs.waitFor('storage failed, deliveries wait')

  await server.start()
  t.match(await list(), { status: 200 })
  const { id } = await emit()
  const tookMs = await timeUntil(() => hasArrived(id))
  t.ok(tookMs < 10_000, `took ${tookMs} ms`)
})

t.test('while packets are lost lists return 503 in bounded time, and deliveries resume afterwards', async (t) => {
  const host = await startOutageHost(t, { queryTimeoutMs: 1000 })
  const { database: { storage }, proxy, receiver, logs, emit, hasArrived, list } = host
  t.match(await list(), { status: 200 })
  proxy.swallow()
  const answers = await Promise.all(Array.from({ length: 30 }, list))
  // A statement takes up to a second, the wait for a place of the tenant up to five. Then it gets 503.
  for (const { status, tookMs } of answers) {
    t.equal(status, 503)
    t.ok(tookMs < 8000, `took ${tookMs} ms`)
  }
  t.match(await logs.waitFor('storage failed, deliveries wait'), { err: { message: /did not answer within 1000 ms: / } })
  await t.rejects(emit(), { code: 'storage_timeout', message: 'PostgreSQL did not answer within 1000 ms: record event' })

  // Another process, which reaches the server, records an event.
  const emitter = createRecruiting({ storage, delivery: false })
  t.teardown(() => emitter.close())
  const { id } = await emitter.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  await sleep(500)
  t.equal(receiver.requests.length, 0)

  proxy.pass()
  const tookMs = await timeUntil(() => hasArrived(id))
  t.ok(tookMs < 10_000, `took ${tookMs} ms`)
  t.match(await list(), { status: 200 })
})
