import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { runUntil } from '../../fixtures/api/webhook-api.js'

const down = async (): Promise<never> => { throw new Error('storage is down') }

t.test('a worker is alive while the storage answers its claims, and says when it last did', async (t) => {
  const { clock, start } = createMachines(t)
  const startedAt = clock.now()
  const engine = start({ delivery: { pollMs: 1000 } })
  t.same(await engine.health(), { alive: true, lastClaimAt: null, oldestDueMs: 0, held: null, inFlight: 0 }, 'nothing was claimed yet')
  await clock.advance(0)
  await clock.advance(60_000)
  t.same(await engine.health(), { alive: true, lastClaimAt: new Date(startedAt + 60_000).toISOString(), oldestDueMs: 0, held: null, inFlight: 0 })
})

for (const [what, claimDue] of [['fail', down], ['never end', () => new Promise<never>(() => {})]] as const) {
  t.test(`a worker whose claims ${what} for longer than 30 seconds and its poll time is not alive`, async (t) => {
    const { addWebhook, clock, start, storage } = createMachines(t)
    await addWebhook('https://10.0.0.1/')
    const engine = start({ delivery: { pollMs: 1000, worker: true } })
    await clock.advance(0)
    await clock.advance(1000)
    const lastClaimAt = new Date(clock.now()).toISOString()
    const { claimDue: repaired } = storage.deliveries
    let end: () => void = () => {}
    const ended = new Promise<never>((_resolve, reject) => { end = () => reject(new Error('ended')) })
    storage.deliveries.claimDue = () => Promise.race([claimDue(), ended])
    await engine.emit(event)
    await clock.advance(31_000)
    t.same(await engine.health(), { alive: true, lastClaimAt, oldestDueMs: 31_000, held: null, inFlight: 0 })
    await clock.advance(1)
    t.same(await engine.health(), { alive: false, lastClaimAt, oldestDueMs: 31_001, held: null, inFlight: 0 })
    storage.deliveries.claimDue = repaired
    end()
    await clock.advance(2000)
    t.equal((await engine.health()).alive, true)
  })
}

t.test('a worker whose slots are all in use is alive', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start } = createMachines(t)
  await addWebhook(receiver.url)
  receiver.answer(hang)
  const engine = start({ delivery: { concurrency: 1, pollMs: 1000, timeoutMs: 60_000 } })
  await engine.emit(event)
  await clock.advance(0)
  await receiver.received(1)
  await clock.advance(40_000)
  const { alive, inFlight } = await engine.health()
  t.same([alive, inFlight], [true, 1])
})

t.test('a storage that does not answer makes the lag unknown, and health never rejects', async (t) => {
  const { start, storage } = createMachines(t)
  const engine = start()
  for (const stats of [down, () => { throw new Error('storage is down') }]) {
    storage.deliveries.stats = stats
    t.match(await engine.health(), { alive: true, oldestDueMs: null })
  }
})

t.test('a process that only emits is alive until it is closed', async (t) => {
  const { clock, storage } = createMachines(t)
  const engine = createRecruiting({ storage, delivery: false })
  await clock.advance(600_000)
  t.same(await engine.health(), { alive: true, lastClaimAt: null, oldestDueMs: 0, held: null, inFlight: 0 })
  await engine.close()
  t.same(await engine.health(), { alive: false, lastClaimAt: null, oldestDueMs: null, held: null, inFlight: 0 })
})

t.test('a worker that stops is not alive, from the moment it claims no more, and its storage is not asked', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  receiver.answer(hang)
  const engine = start({ delivery: { pollMs: 1000, timeoutMs: 60_000, closeGraceMs: 5000 } })
  await engine.emit(event)
  await clock.advance(0)
  await receiver.received(1)
  storage.deliveries.stats = () => { throw new Error('the host has ended its pool') }
  const closing = engine.close()
  t.match(await engine.health(), { alive: false, oldestDueMs: null, held: null, inFlight: 1 })
  await runUntil(clock, closing)
  t.match(await engine.health(), { alive: false, oldestDueMs: null, held: null, inFlight: 0 })
})
