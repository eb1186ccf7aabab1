import t, { type Test } from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'

interface Line {
  webhook_id: number
  paused_until: string
  reason: string
}

/** A worker, and the lines about pauses that it has logged so far. */
function startWithLog (t: Test, timeoutMs = 5000) {
  const machines = createMachines(t)
  const lines: Line[] = []
  const ignore = (): void => {}
  const info = (fields: object, message: string): void => { if (message === 'webhook paused') lines.push(fields as Line) }
  const engine = machines.start({ logger: { info, warn: ignore, error: ignore }, delivery: { timeoutMs } })
  return { ...machines, engine, lines }
}

t.test('a pause that several attempts in flight cause is one line, and the next pause is another', async (t) => {
  const { addWebhook, clock, engine, lines } = startWithLog(t)
  const receiver = await startReceiver(t)
  const id = await addWebhook(receiver.url)
  receiver.answer({ status: 503, headers: { 'retry-after': '600' } })
  for (let count = 0; count < 4; count++) await engine.emit(event)
  const startedAt = clock.now()
  await engine.drain()
  t.equal(receiver.requests.length, 4)
  t.strictSame(lines, [{
    webhook_id: id, tenant_slug: 'acme', paused_until: new Date(startedAt + 600_000).toISOString(), reason: 'retry_after', response_status: 503
  }])

  await clock.advance(800_000)
  await engine.drain()
  t.ok(receiver.requests.length > 4)
  t.equal(lines.length, 2)
})

t.test('the line says that the status or a timeout is the reason where there is no usable Retry-After', async (t) => {
  const { addWebhook, clock, engine, lines } = startWithLog(t, 1000)
  const receiver = await startReceiver(t)
  const id = await addWebhook(receiver.url)
  receiver.answer({ status: 429, headers: { 'retry-after': 'soon' } }, hang)
  await engine.emit(event)
  await engine.drain()
  await clock.advance(60_000)
  await engine.drain()
  t.match(lines, [
    { webhook_id: id, reason: 'http_status', response_status: 429 },
    { webhook_id: id, reason: 'timeout', response_status: null }
  ])
})

t.test('each webhook has a line of its own, and a failure that pauses nothing has none', async (t) => {
  const { addWebhook, engine, lines } = startWithLog(t)
  const [overloaded, broken] = [await startReceiver(t), await startReceiver(t)]
  overloaded.answer(503)
  broken.answer(500)
  const ids = [await addWebhook(overloaded.url), await addWebhook(overloaded.url), await addWebhook(broken.url)]
  await engine.emit(event)
  await engine.drain()
  t.same(lines.map(({ webhook_id: id }) => id).sort(), ids.slice(0, 2))
})
