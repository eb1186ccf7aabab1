import t from 'tap'
import Fastify from 'fastify'
import recruitingApi from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { toLoopback } from '../../fixtures/api/webhook-api.js'

t.test('a host delivers from the moment it is ready, also what was emitted before', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const app = Fastify()
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { ...toLoopback, clock } })
  await app.recruiting.emit(event)
  await clock.advance(60_000)
  t.same(await deliveries(id), [['pending', 0]])
  await app.ready()
  await app.recruiting.drain()
  t.same(await deliveries(id), [['delivered', 1]])
  await app.close()
})

t.test('app.close closes the engine', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  let answer = () => {}
  receiver.answer((response) => { answer = () => response.writeHead(204).end() })
  const app = Fastify()
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { ...toLoopback, clock } })
  await app.ready()
  await app.recruiting.emit(event)
  await receiver.received(1)
  const closing = app.close()
  answer()
  await closing
  t.same(await deliveries(id), [['delivered', 1]])
  t.equal(clock.timerCount, 0)
  await t.rejects(app.recruiting.emit(event), { code: 'closed' })
})

t.test('deliveries have ended before a hook on close of the host runs, wherever that was added', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  let answer = () => {}
  receiver.answer((response) => { answer = () => response.writeHead(204).end() })
  const seen: unknown[] = []
  const app = Fastify()
  app.addHook('onClose', async () => { seen.push(await deliveries(id)) })
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { ...toLoopback, clock } })
  app.addHook('onClose', async () => {
    seen.push(await deliveries(id))
    // A request that is still under way can emit.
    t.match(await app.recruiting.emit(event), { deliveries: 1 })
    await t.rejects(app.recruiting.drain(), { code: 'closed' })
  })
  await app.ready()
  await app.recruiting.emit(event)
  await receiver.received(1)
  const closing = app.close()
  answer()
  await closing
  t.same(seen, [[['delivered', 1]], [['delivered', 1], ['pending', 0]]])
})

t.test('a host that was never ready closes without having delivered', async (t) => {
  const { clock, storage } = createMachines(t)
  const app = Fastify()
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { clock } })
  await app.close()
  t.equal(clock.timerCount, 0)
})

t.test('with delivery: false a host records and another process delivers', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const app = Fastify()
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: false })
  await app.ready()
  t.match(await app.recruiting.emit(event), { deliveries: 1 })
  await clock.advance(60_000)
  t.same(await deliveries(id), [['pending', 0]])
  await start().drain()
  t.same(await deliveries(id), [['delivered', 1]])
  await app.close()
})
