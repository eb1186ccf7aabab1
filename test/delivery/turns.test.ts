import t from 'tap'
import { setImmediate } from 'node:timers/promises'
import type { RecruitingStorage } from '../../src/index.js'
import type { Teardown } from '../fixtures/app.js'
import { createMachines, event } from '../fixtures/engine.js'
import { type Answer, startReceiver } from '../fixtures/receiver.js'

/** Lets nothing be completed until it is let through, and keeps what is asked of the storage, in order. */
function holdCompletions ({ deliveries }: RecruitingStorage): { calls: string[], letThrough: () => void } {
  const { claimDue, complete } = deliveries
  const calls: string[] = []
  let letThrough = (): void => {}
  const through = new Promise<void>((resolve) => { letThrough = resolve })
  deliveries.claimDue = async (options) => {
    const claimed = await claimDue(options)
    calls.push(`claim ended ${options.ended?.length} got ${claimed.length}`)
    return claimed
  }
  deliveries.complete = async (results, rule) => {
    calls.push(`complete ${results.map(({ outcome }) => outcome).join()}`)
    await through
    calls.push('completed')
    return complete(results, rule)
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

t.test('a claim does not wait for deliveries to be completed, and names those that have ended', async (t) => {
  const { receiver, engine, calls, letThrough, log } = await emitTwo(t, 204)
  await receiver.received(2)
  t.ok(calls.indexOf('claim ended 1 got 1') > calls.indexOf('complete delivered'), calls.join('; '))
  t.notOk(calls.includes('completed'))
  letThrough()
  await engine.drain()
  t.same(await log(), [['delivered', 1], ['delivered', 1]])
  t.equal(receiver.requests.length, 2)
})

t.test('a failure is completed before anything else is claimed, for it may hold its endpoint back', async (t) => {
  const { receiver, engine, calls, letThrough, log } = await emitTwo(t, 429, 204)
  while (!calls.includes('complete retry')) await setImmediate()
  // Whatever would be claimed along with it is claimed by then.
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.equal(calls.at(-1), 'complete retry')
  letThrough()
  await engine.drain()
  t.equal(receiver.requests.length, 1, 'its endpoint was held back')
  t.same(await log(), [['pending', 1], ['pending', 0]])
})

t.test('what the storage would not take is completed before anything else is claimed', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const { claimDue, complete } = storage.deliveries
  let isDown = true
  let claimsWhileDown = 0
  storage.deliveries.complete = async (results, rule) => {
    if (!isDown) return complete(results, rule)
    claimsWhileDown = 0
    throw new Error('storage is down')
  }
  storage.deliveries.claimDue = async (options) => {
    if (isDown) claimsWhileDown++
    return claimDue(options)
  }
  const engine = start({ delivery: { concurrency: 1 } })
  for (let count = 0; count < 3; count++) await engine.emit(event)
  await receiver.received(2)
  for (let poll = 0; poll < 5; poll++) await clock.advance(10)
  t.equal(claimsWhileDown, 0)
  t.equal(receiver.requests.length, 2, 'the one that was claimed along with the first failure, and no more')
  isDown = false
  await clock.advance(10)
  await engine.drain()
  t.same(await deliveries(id), [['delivered', 1], ['delivered', 1], ['delivered', 1]])
  t.equal(receiver.requests.length, 3)
})
