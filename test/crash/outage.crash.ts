import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../src/index.js'
import { startOutageHost, timeUntil } from '../fixtures/postgres/postgres-outage.js'

const outageMs = 30_000

t.test('the server is gone for 30 s', async (t) => {
  const { database: { server }, receiver, emit, hasArrived, list } = await startOutageHost(t)
  await emit()
  await receiver.received(1)
  await server.stop('immediate')
  await suffer(t, list)
  await server.start()
  const { id } = await emit()
  // The first one may come again: that it was delivered may be among what the crash lost.
  const tookMs = await timeUntil(() => hasArrived(id))
  t.ok(tookMs < 10_000, `took ${tookMs} ms`)
})

t.test('bytes are swallowed for 30 s', async (t) => {
  const { database: { storage }, proxy, receiver, emit, hasArrived, list } = await startOutageHost(t)
  await emit()
  await receiver.received(1)
  proxy.swallow()
  await suffer(t, list)
  // Another process, which reaches the server, records an event.
  const emitter = createRecruiting({ storage, delivery: false })
  t.teardown(() => emitter.close())
  const { id } = await emitter.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  proxy.pass()
  const tookMs = await timeUntil(() => hasArrived(id))
  t.ok(tookMs < 10_000, `took ${tookMs} ms`)
  t.match(await list(), { status: 200 })
})

/** Lists all the time, each of which must fail, and soon. */
async function suffer (t: Test, list: () => Promise<{ status: number, tookMs: number }>): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < outageMs) {
    const { status, tookMs } = await list()
    t.equal(status, 500)
    t.ok(tookMs < 7000, `took ${tookMs} ms`)
    await sleep(200)
  }
}
