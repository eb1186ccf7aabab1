import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import recruitingApi from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/storages/memory/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('drain resolves when all due deliveries have been attempted, and does not wait for retries', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  receiver.answer(500, 204)
  const engine = start()
  for (let count = 0; count < 10; count++) await engine.emit(event)
  await engine.drain()
  const log = await deliveries(id)
  t.equal(log.length, 10)
  t.ok(log.every(([, attempts]) => attempts === 1))
  t.equal(log.filter(([status]) => status === 'pending').length, 1)
})

for (const [title, until] of [['a Date', (ms: number) => new Date(ms)], ['milliseconds', (ms: number) => ms]] as const) {
  t.test(`with until as ${title}, drain waits for the retries that become due by then`, async (t) => {
    const receiver = await startReceiver(t)
    const { addWebhook, clock, deliveries, start } = createMachines(t)
    const id = await addWebhook(receiver.url)
    receiver.answer(500, 500, 204)
    const engine = start()
    await engine.emit(event)
    let isDrained = false
    const draining = engine.drain({ until: until(clock.now() + 10_000) }).then(() => { isDrained = true })
    await receiver.received(1)
    await engine.drain()
    t.notOk(isDrained)
    await clock.advance(6010)
    await receiver.received(2)
    await draining
    t.same(await deliveries(id), [['pending', 2]])
  })
}

t.test('drain rejects an invalid until and a misspelt option', async (t) => {
  const engine = createMachines(t).start()
  const rejection = { code: 'invalid_option', field: 'until', message: /^until: expected a Date or milliseconds since the epoch, got / }
  for (const until of ['soon', '2026-01-01T00:00:00Z', Number.NaN, Number.POSITIVE_INFINITY, 9e15, new Date('soon')]) {
    await t.rejects(engine.drain({ until } as never), rejection)
  }
  await t.rejects(engine.drain({ untill: 0 } as never), {
    code: 'invalid_option', field: 'untill', message: 'untill: expected a known name such as until, got "untill"'
  })
})

t.test('drain also waits for events recorded while it waits', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const engine = start()
  receiver.answer((response) => {
    const isLast = receiver.requests.length === 3
    const emitted = isLast ? Promise.resolve() : engine.emit(event)
    emitted.then(() => response.writeHead(204).end())
  })
  await engine.emit(event)
  await engine.drain()
  t.same(await deliveries(id), [['delivered', 1], ['delivered', 1], ['delivered', 1]])
})

t.test('drain rejects when the engine is closed', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, start } = createMachines(t)
  await addWebhook(receiver.url)
  let answer = () => {}
  receiver.answer((response) => { answer = () => response.writeHead(204).end() })
  const engine = start()
  await engine.emit(event)
  await receiver.received(1)
  const early = t.rejects(engine.drain(), { code: 'closed' })
  await new Promise(setImmediate)
  const late = t.rejects(engine.drain(), { code: 'closed' })
  const closing = engine.close()
  answer()
  await Promise.all([early, late, closing])
})

t.test('drain does not miss a turn that ends while storage answers', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const hasPending = storage.deliveries.hasPending.bind(storage.deliveries)
  storage.deliveries.hasPending = async (...args) => {
    const answer = await hasPending(...args)
    // When this returns, the worker has nothing left to do, and its clock stands still.
    if (answer) {
      while ((await deliveries(id)).some(([status]) => status === 'pending')) await tick()
      for (let ticks = 0; ticks < 20; ticks++) await tick()
    }
    return answer
  }
  const engine = start()
  await engine.emit(event)
  t.equal(await Promise.race([engine.drain().then(() => 'drained'), sleep(5000, 'waits', { ref: false })]), 'drained')
})

t.test('drain before the server is ready throws, and resolves afterwards', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]) })
  await t.rejects(app.recruiting.drain(), {
    code: 'not_started', message: 'the server is not ready: await app.ready() or app.listen() before drain'
  })
  await app.ready()
  await app.recruiting.drain()
})
