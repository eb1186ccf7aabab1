import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startOutageHost, timeUntil } from '../fixtures/postgres-outage.js'

const outageMs = 30_000

t.test('the server is gone for 30 s', async (t) => {
  const { database: { server }, receiver, emit, list } = await startOutageHost(t)
  await emit()
  await receiver.received(1)
  await server.stop('immediate')
  await suffer(t, list)
  await server.start()
  await emit()
  const tookMs = await timeUntil(() => receiver.requests.length === 2)
  t.ok(tookMs < 10_000, `took ${tookMs} ms`)
})

t.test('bytes are swallowed for 30 s', async (t) => {
  const { database: { pool }, proxy, receiver, emit, list } = await startOutageHost(t)
  await emit()
  await receiver.received(1)
  proxy.swallow()
  await suffer(t, list)
  // One that is due since, whether or not an emit can be made already.
  await pool.query(`
    insert into recruiting.deliveries (webhook_id, event_seq, status, priority, next_attempt_at, created_at)
    select webhook_id, event_seq, 'pending', 0, now(), now() from recruiting.deliveries`)
  proxy.pass()
  const tookMs = await timeUntil(() => receiver.requests.length === 2)
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
