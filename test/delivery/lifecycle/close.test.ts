import t from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('close lets an attempt in flight end, and records it', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  let answer = () => {}
  receiver.answer((response) => { answer = () => response.writeHead(204).end() })
  const engine = start()
  await engine.emit(event)
  await receiver.received(1)
  let isClosed = false
  const closing = engine.close().then(() => { isClosed = true })
  await new Promise(setImmediate)
  t.notOk(isClosed)
  answer()
  await closing
  t.same(await deliveries(id), [['delivered', 1]])
})

t.test('close claims nothing more', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const open: Array<() => void> = []
  receiver.answer((response) => open.push(() => response.writeHead(204).end()))
  const engine = start({ delivery: { perEndpoint: 1 } })
  await engine.emit(event)
  await engine.emit(event)
  await receiver.received(1)
  const closing = engine.close()
  for (const answer of open) answer()
  await closing
  t.same(await deliveries(id), [['delivered', 1], ['pending', 0]])
  t.match(await storage.deliveries.stats(), { pending: 1, leased: 0 })
  t.equal(receiver.requests.length, 1)
})

t.test('close claims nothing more in a running turn', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const { recordAttempts } = storage.deliveries
  let goOn = () => {}
  const held = new Promise<void>((resolve) => { goOn = resolve })
  let isWriting = () => {}
  const writing = new Promise<void>((resolve) => { isWriting = resolve })
  storage.deliveries.recordAttempts = async (...given) => {
    isWriting()
    await held
    return recordAttempts(...given)
  }
  const engine = start()
  await engine.emit(event)
  await writing
  await engine.emit(event)
  const closing = engine.close()
  goOn()
  await closing
  t.same(await deliveries(id), [['delivered', 1], ['pending', 0]])
})

t.test('when the grace is over, close aborts what is left and gives the leases back, and no attempt is counted', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  receiver.answer(hang, 204)
  const engine = start()
  await engine.emit(event)
  await receiver.received(1)
  const closing = engine.close()
  await clock.advance(9999)
  t.match(await storage.deliveries.stats(), { leased: 1 }, 'within the grace')
  await clock.advance(1)
  await closing
  t.same(await deliveries(id), [['pending', 0]])
  t.match(await storage.deliveries.stats(), { pending: 1, due: 1, leased: 0 })
  await start().drain()
  t.same(await deliveries(id), [['delivered', 1]])
  t.equal(receiver.requests.length, 2)
})

t.test('the grace is the host\'s to set', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  receiver.answer(hang)
  const engine = start({ delivery: { closeGraceMs: 0 } })
  await engine.emit(event)
  await receiver.received(1)
  const closing = engine.close()
  await clock.advance(0)
  await closing
  t.match(await storage.deliveries.stats(), { pending: 1, leased: 0 })
})

t.test('close may be called twice, also at once, and closes once', async (t) => {
  const { start, storage } = createMachines(t)
  const { release } = storage.deliveries
  let released = 0
  storage.deliveries.release = (leases) => {
    released++
    return release(leases)
  }
  const engine = start()
  await Promise.all([engine.close(), engine.close()])
  await engine.close()
  t.equal(released, 1)
})

t.test('a closed engine refuses everything but close', async (t) => {
  const { start, storage } = createMachines(t)
  const engine = start()
  await engine.close()
  const closed = { name: 'RecruitingApiError', code: 'closed', field: '', message: 'the engine is closed' }
  await t.rejects(engine.emit(event), closed)
  await t.rejects(engine.drain(), closed)
  await t.rejects(engine.prune(), closed)
  await t.rejects(engine.stats(), closed)
  await t.rejects(engine.resealSecrets(), closed)
  t.match(await storage.deliveries.stats(), { pending: 0 })
})

t.test('an engine refuses events as soon as it is closing', async (t) => {
  const { start } = createMachines(t)
  const engine = start()
  const closing = engine.close()
  await t.rejects(engine.emit(event), { code: 'closed' })
  await closing
})

t.test('a closed engine leaves no timer, and the storage is as usable as before', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  const engine = start()
  await engine.emit(event)
  await engine.drain()
  await engine.close()
  t.equal(clock.timerCount, 0)
  const next = start()
  await next.emit(event)
  await next.drain()
  t.equal(receiver.requests.length, 2)
  t.match(await storage.deliveries.stats(), { pending: 0 })
})

t.test('events emitted before close are not lost, even if nothing was sent yet', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, start } = createMachines(t)
  await addWebhook(receiver.url)
  const engine = start()
  const emitted = await Promise.all(Array.from({ length: 20 }, () => engine.emit(event)))
  await engine.close()
  await start().drain()
  const received = receiver.requests.map(({ headers }) => headers['webhook-id'])
  t.same(new Set(received), new Set(emitted.map(({ id }) => id)))
  t.equal(received.length, 20)
})
