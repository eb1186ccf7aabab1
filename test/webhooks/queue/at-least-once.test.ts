import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { runUntil, toLoopback } from '../../fixtures/api/webhook-api.js'

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

t.test('two engines on one storage share the work and never make the same attempt', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start } = createMachines(t)
  const ids: number[] = []
  for (let count = 0; count < 5; count++) ids.push(await addWebhook(`${receiver.url}/${count}`))
  const delivery = { concurrency: 8, leaseMs: 3_600_000 }
  const engines = [start({ delivery }), start({ delivery })]
  const events: string[] = []
  for (let count = 0; count < 40; count++) {
    for (const engine of engines) events.push((await engine.emit(event)).id)
  }
  // An engine hears of what the other has done when it polls.
  await runUntil(clock, Promise.all(engines.map((engine) => engine.drain())), 10)

  t.equal(receiver.requests.length, 400)
  t.equal(new Set(receiver.requests.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)).size, 400)
  t.same(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])), new Set(events))
  for (const id of ids) t.same(await deliveries(id), events.map(() => ['delivered', 1]))
  const counts = await Promise.all(engines.map(async (engine) => (await engine.stats()).attempts.delivered))
  t.equal(counts.reduce((sum, count) => sum + count), 400)
  t.ok(counts.every((count) => count > 0), `${counts.join(' and ')} attempts`)
})

t.test('drain waits for deliveries in flight in another engine', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  let answer = () => {}
  receiver.answer((response) => { answer = () => response.writeHead(204).end() })
  const [busy, idle] = [start(), start({ delivery: { worker: false } })]
  await busy.emit(event)
  await receiver.received(1)
  let isDrained = false
  const draining = idle.drain().then(() => { isDrained = true })
  await new Promise(setImmediate)
  t.notOk(isDrained)
  answer()
  await draining
  t.same(await deliveries(id), [['delivered', 1]])
})

t.test('a claimed delivery belongs to its worker for leaseMs, and then to any worker', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  receiver.answer(hang)
  const engine = start({ delivery: { timeoutMs: 5000, leaseMs: 10_000, pollMs: 60_000, closeGraceMs: 0 } })
  const { id } = await engine.emit(event)
  await receiver.received(1)
  const claimByAnother = () => storage.deliveries.claimDue({ limit: 1, perEndpoint: 4, leaseMs: 1000 })
  await clock.advance(9999)
  t.same(await claimByAnother(), [])
  await clock.advance(1)
  t.match(await claimByAnother(), [{ eventId: id, fence: 2 }])
})
