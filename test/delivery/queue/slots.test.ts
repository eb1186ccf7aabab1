import t from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { type Receiver, hang, startReceiver } from '../../fixtures/receivers/receiver.js'

/** Keeps every request open; returns what answers the oldest. */
function keepOpen (receiver: Receiver): () => void {
  const open: Array<() => void> = []
  receiver.answer((response) => open.push(() => response.writeHead(204).end()))
  return () => open.shift()?.()
}

t.test('one webhook gets at most perEndpoint concurrent requests, and a free place is filled at once', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const answerOne = keepOpen(receiver)
  const engine = start()
  for (let count = 0; count < 6; count++) await engine.emit(event)
  await receiver.received(4)
  t.match(await engine.stats(), { inFlight: 4, leased: 4, pending: 6 })
  answerOne()
  await receiver.received(5)
  t.match(await engine.stats(), { inFlight: 4, leased: 4, pending: 5 })
  const drained = engine.drain()
  answerOne()
  await receiver.received(6)
  for (let count = 0; count < 4; count++) answerOne()
  await drained
  t.same(await deliveries(id), Array.from({ length: 6 }, () => ['delivered', 1]))
})

t.test('one engine makes at most concurrency requests at a time', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start } = createMachines(t)
  for (let count = 0; count < 3; count++) await addWebhook(`${receiver.url}/${count}`)
  const answerOne = keepOpen(receiver)
  const engine = start({ delivery: { concurrency: 2 } })
  await engine.emit(event)
  await receiver.received(2)
  // The worker looks again, and has no place.
  await clock.advance(10)
  t.match(await engine.stats(), { inFlight: 2, leased: 2, pending: 3 })
  const drained = engine.drain()
  answerOne()
  await receiver.received(3)
  answerOne()
  answerOne()
  await drained
  t.match(await engine.stats(), { inFlight: 0, leased: 0, pending: 0 })
})

t.test('a webhook that hangs does not delay another, however much waits for it', async (t) => {
  const [slow, quick] = [await startReceiver(t), await startReceiver(t)]
  const { addWebhook, deliveries, start } = createMachines(t)
  await addWebhook(slow.url)
  slow.answer(hang)
  const engine = start()
  for (let count = 0; count < 100; count++) await engine.emit(event)
  await slow.received(4)
  const id = await addWebhook(quick.url)
  await engine.emit(event)
  await quick.received(1)
  t.equal(slow.requests.length, 4)
  t.equal((await deliveries(id)).length, 1)
})

t.test('a webhook gets first attempts before retries, and replays last', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const emitter = start({ delivery: { worker: false } })
  const replayed = await emitter.emit(event)
  const retried = await emitter.emit(event)
  receiver.answer(204, 500, 204)
  const first = start({ delivery: { perEndpoint: 1 } })
  await first.drain()
  await first.close()
  const selection = { include: 'all', eventTypes: null, eventIds: [replayed.id], since: null, until: null, limit: 1 } as const
  await storage.deliveries.replay('acme', id, selection)
  await clock.advance(6000)
  const fresh = await emitter.emit(event)
  const second = start({ delivery: { perEndpoint: 1 } })
  await second.drain()
  const order = receiver.requests.slice(2).map(({ headers }) => headers['webhook-id'])
  t.same(order, [fresh.id, retried.id, replayed.id])
})
