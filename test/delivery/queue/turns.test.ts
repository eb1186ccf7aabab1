import t from 'tap'
import { setImmediate } from 'node:timers/promises'
import type { RecruitingStorage } from '../../../src/index.js'
import type { Teardown } from '../../fixtures/api/app.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { type Answer, startReceiver } from '../../fixtures/receivers/receiver.js'
import { runUntil } from '../../fixtures/api/webhook-api.js'

/** Lets nothing be completed until it is let through, and keeps what is asked of the storage, in order. */
function holdCompletions ({ deliveries }: RecruitingStorage): { calls: string[], letThrough: () => void } {
  const { claimDue, recordAttempts } = deliveries
  const calls: string[] = []
  let letThrough = (): void => {}
  const through = new Promise<void>((resolve) => { letThrough = resolve })
  deliveries.claimDue = async (options) => {
    const claimed = await claimDue(options)
    calls.push(`claimed ${claimed.length}`)
    return claimed
  }
  deliveries.recordAttempts = async (results, rule) => {
    calls.push(`complete ${results.map(({ outcome }) => outcome).join()}`)
    await through
    calls.push('completed')
    return recordAttempts(results, rule)
  }
  return { calls, letThrough }
}

/** An engine that makes one attempt at a time has two events to deliver, and cannot complete anything yet. */
async function emitTwo (t: Teardown, ...answers: Answer[]) {
  const receiver = await startReceiver(t)
  receiver.answer(...answers)
  const { addWebhook, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const held = holdCompletions(storage)
  const engine = start({ delivery: { concurrency: 1 } })
  await engine.emit(event)
  await engine.emit(event)
  return { receiver, engine, ...held, log: () => deliveries(id) }
}

t.test('attempts that have ended are completed before anything else is claimed', async (t) => {
  const { receiver, engine, calls, letThrough, log } = await emitTwo(t, 204)
  while (!calls.includes('complete delivered')) await setImmediate()
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.equal(calls.at(-1), 'complete delivered')
  letThrough()
  await engine.drain()
  t.same(await log(), [['delivered', 1], ['delivered', 1]])
  t.equal(receiver.requests.length, 2)
})

t.test('a failure that pauses its endpoint is completed before anything else is claimed', async (t) => {
  const { receiver, engine, calls, letThrough, log } = await emitTwo(t, 429, 204)
  while (!calls.includes('complete retry')) await setImmediate()
  // Whatever would be claimed along with it is claimed by then.
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.equal(calls.at(-1), 'complete retry')
  letThrough()
  await engine.drain()
  t.equal(receiver.requests.length, 1, 'its endpoint is paused')
  t.same(await log(), [['pending', 1], ['pending', 0]])
})

t.test('attempts that the storage does not take keep their slots, and are recorded once it does', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const { recordAttempts } = storage.deliveries
  let isDown = true
  storage.deliveries.recordAttempts = async (results, rule) => {
    if (isDown) throw new Error('storage is down')
    return recordAttempts(results, rule)
  }
  const engine = start({ delivery: { concurrency: 2 } })
  for (let count = 0; count < 5; count++) await engine.emit(event)
  await receiver.received(2)
  for (let poll = 0; poll < 20; poll++) await clock.advance(10)
  t.equal(receiver.requests.length, 2, 'as many as there are slots')
  isDown = false
  await runUntil(clock, engine.drain())
  t.same(await deliveries(id), Array.from({ length: 5 }, () => ['delivered', 1]))
  t.equal(receiver.requests.length, 5)
})

t.test('one result that cannot be written keeps neither others from being written nor the worker from claiming', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const { recordAttempts } = storage.deliveries
  let isBad = true
  storage.deliveries.recordAttempts = async (results, rule) => {
    if (isBad && results.some(({ deliveryId }) => deliveryId === 2)) throw new Error('this one cannot be written')
    return recordAttempts(results, rule)
  }
  const engine = start({ delivery: { concurrency: 4 } })
  for (let count = 0; count < 30; count++) await engine.emit(event)
  await runUntil(clock, receiver.received(30))
  for (let poll = 0; poll < 20; poll++) await clock.advance(10)
  const others = (await deliveries(id)).filter(([status]) => status === 'delivered')
  t.equal(others.length, 29)
  isBad = false
  await runUntil(clock, engine.drain())
  t.same(await deliveries(id), Array.from({ length: 30 }, () => ['delivered', 1]))
  t.equal(receiver.requests.length, 30, 'each was attempted once')
})

t.test('a result of a locked delivery is repeated until it counts', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const { recordAttempts } = storage.deliveries
  let told = 0
  storage.deliveries.recordAttempts = async (results, rule) => {
    const locked = results.filter(({ deliveryId }) => deliveryId === 1 && ++told < 5)
    return [...locked, ...await recordAttempts(results.filter((result) => !locked.includes(result)), rule)]
  }
  const engine = start({ delivery: { concurrency: 2 } })
  for (let count = 0; count < 6; count++) await engine.emit(event)
  await runUntil(clock, engine.drain())
  t.same(await deliveries(id), Array.from({ length: 6 }, () => ['delivered', 1]))
  t.same([told, receiver.requests.length], [5, 6])
})
