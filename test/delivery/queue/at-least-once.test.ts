import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { runUntil, toLoopback } from '../../fixtures/api/webhook-api.js'

t.test('events recorded without a running worker are delivered by the next engine', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const emitter = start({ delivery: { worker: false } })
  const { id: eventId } = await emitter.emit(event)
  await emitter.close()
  await start().drain()
  t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [eventId])
  t.same(await deliveries(id), [['delivered', 1]])
})

t.test('deliveries of a crashed worker are delivered by another after their leases expire', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const engine = start({ delivery: { worker: false } })
  await engine.emit(event)
  const [claimed] = await storage.deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
  start()
  await clock.advance(59_999)
  t.equal(receiver.requests.length, 0)
  t.match(await storage.deliveries.stats(), { leased: 1 })
  await clock.advance(11)
  await engine.drain()
  t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [claimed?.eventId])
  t.same(await deliveries(id), [['delivered', 1]])
})

t.test('an event that is due for ever is never given up without an attempt', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const emitter = start({ delivery: { worker: false } })
  await emitter.emit(event)
  await clock.advance(365 * 86_400_000)
  await start().drain()
  t.same(await deliveries(id), [['delivered', 1]])
})

t.test('a worker finds what an engine without a common listener has recorded, within its poll time', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  const unheard = { ...storage, deliveries: { ...storage.deliveries, onDue: () => () => {} } }
  const engine = start({ delivery: { worker: false } })
  const worker = createRecruiting({ storage: unheard, delivery: { ...toLoopback, clock, pollMs: 5000 } })
  t.teardown(() => runUntil(clock, worker.close()))
  await clock.advance(0)
  await engine.emit(event)
  await clock.advance(4000)
  t.match(await storage.deliveries.stats(), { due: 1, leased: 0 })
  await clock.advance(1000)
  await worker.drain()
  t.equal(receiver.requests.length, 1)
})
