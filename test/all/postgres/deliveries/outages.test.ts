import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRecruiting } from '../../../../src/index.js'
import { startOutageHost, timeUntil } from '../../../fixtures/postgres/postgres-outage.js'

t.test('while the server is gone lists answer 500, and deliveries resume when it is back', async (t) => {
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

t.test('while bytes are swallowed lists answer 500 in bounded time, and deliveries resume when they pass', async (t) => {
  const { database: { storage }, proxy, receiver, logs, emit, hasArrived, list } = await startOutageHost(t, { queryTimeoutMs: 1000 })
  t.match(await list(), { status: 200 })
  proxy.swallow()
  const answers = await Promise.all(Array.from({ length: 30 }, list))
  for (const { status, tookMs } of answers) {
    t.equal(status, 500)
    t.ok(tookMs < 3000, `took ${tookMs} ms`)
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
