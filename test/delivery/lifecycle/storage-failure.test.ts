import t from 'tap'
import type { DeliveryStore } from '../../../src/index.js'
import { countDueListeners } from '../../fixtures/postgres/due-listeners.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'

const down = async (): Promise<never> => { throw new Error('storage is down') }

/** Makes a method fail until it is repaired. */
function breakMethod (store: DeliveryStore, name: 'claimDue' | 'recordAttempts' | 'release' | 'claimNotices'): () => void {
  const original = store[name]
  store[name] = down
  return () => { Object.assign(store, { [name]: original }) }
}

t.test('a worker outlives a storage that cannot claim, and asks again after its poll time, not at once', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const logged: string[] = []
  const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
  const repair = breakMethod(storage.deliveries, 'claimDue')
  const engine = start({ logger, delivery: { pollMs: 1000 } })
  await clock.advance(0)
  for (let count = 0; count < 10; count++) await engine.emit(event)
  await clock.advance(999)
  t.same(logged, ['storage failed, deliveries wait'])
  await clock.advance(1)
  await clock.advance(0)
  t.equal(logged.length, 2)
  repair()
  await clock.advance(1000)
  await engine.drain()
  t.same(await deliveries(id), Array.from({ length: 10 }, () => ['delivered', 1]))
})

t.test('results that the storage could not take are written when it can, and no attempt is made twice', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const engine = start()
  let isAsked = () => {}
  const asked = new Promise<void>((resolve) => { isAsked = resolve })
  const repair = breakMethod(storage.deliveries, 'recordAttempts')
  storage.deliveries.recordAttempts = async () => {
    isAsked()
    throw new Error('storage is down')
  }
  await engine.emit(event)
  await engine.emit(event)
  await receiver.received(2)
  await asked
  t.same(await deliveries(id), [['pending', 0], ['pending', 0]])
  repair()
  await clock.advance(10)
  await engine.drain()
  t.same(await deliveries(id), [['delivered', 1], ['delivered', 1]])
  t.equal(receiver.requests.length, 2)
})

for (const method of ['recordAttempts', 'release'] as const) {
  t.test(`close resolves though the storage cannot ${method}, and the lease expires`, async (t) => {
    const receiver = await startReceiver(t)
    const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
    const id = await addWebhook(receiver.url)
    const logged: string[] = []
    const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
    let answer = () => {}
    receiver.answer(method === 'recordAttempts' ? (response) => { answer = () => response.writeHead(204).end() } : hang, 204)
    const engine = start({ logger })
    await engine.emit(event)
    await receiver.received(1)
    const repair = breakMethod(storage.deliveries, method)
    const closing = engine.close()
    answer()
    if (method === 'release') await clock.advance(10_000)
    await closing
    t.same(logged, ['storage failed on close, deliveries in flight will repeat when their leases expire'])
    repair()
    t.match(await storage.deliveries.stats(), { pending: 1, leased: 1 })
    await clock.advance(60_000)
    await start().drain()
    t.same(await deliveries(id), [['delivered', 1]])
  })
}

t.test('a result whose delivery stays locked until the worker closes is reported, and the lease expires', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  const logged: string[] = []
  const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
  storage.deliveries.recordAttempts = async (results) => results.map(({ webhookId, deliveryId, fence }) => ({ webhookId, deliveryId, fence }))
  const engine = start({ logger })
  await engine.emit(event)
  await receiver.received(1)
  await engine.close()
  t.same(logged, ['storage failed on close, deliveries in flight will repeat when their leases expire'])
})

t.test('notices are claimed again after the storage has failed', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  const logged: string[] = []
  const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
  const repair = breakMethod(storage.deliveries, 'claimNotices')
  receiver.answer(410)
  const engine = start({ logger })
  const disabled = new Promise((resolve) => engine.on('webhookDisabled', resolve))
  await engine.emit(event)
  await engine.drain()
  t.ok(logged.length > 0)
  t.ok(logged.every((message) => message === 'could not read notices of failing webhooks, will retry'))
  repair()
  await clock.advance(30_000)
  t.match(await disabled, { kind: 'gone' })
})

t.test('the listener of the storage is removed on close', async (t) => {
  const { start, storage } = createMachines(t)
  const listeners = countDueListeners(storage.deliveries)
  const engine = start()
  t.equal(listeners.count, 1)
  await engine.close()
  t.equal(listeners.count, 0)
})
