import t from 'tap'
import { createWakeup } from '../../../src/webhooks/queue/wakeup.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'

/** A sleep, and whether it has ended. */
function watch (sleep: Promise<void>): { isOver: boolean } {
  const state = { isOver: false }
  sleep.then(() => { state.isOver = true })
  return state
}

t.test('a sleep ends when its time is over', async (t) => {
  const clock = createManualClock()
  const sleep = watch(createWakeup(clock).wait(1000, { ignoreWakes: false }))
  await clock.advance(999)
  t.notOk(sleep.isOver)
  await clock.advance(1)
  t.ok(sleep.isOver)
  t.equal(clock.timerCount, 0)
})

t.test('wake ends a sleep and leaves no timer', async (t) => {
  const clock = createManualClock()
  const wakeup = createWakeup(clock)
  const sleep = watch(wakeup.wait(1000, { ignoreWakes: false }))
  wakeup.wake()
  await clock.advance(0)
  t.ok(sleep.isOver)
  t.equal(clock.timerCount, 0)
})

t.test('wake before a sleep ends the next one, unless it is forgotten', async (t) => {
  const clock = createManualClock()
  const wakeup = createWakeup(clock)
  wakeup.wake()
  await wakeup.wait(1000, { ignoreWakes: false })
  t.equal(clock.timerCount, 0)
  wakeup.reset()
  const sleep = watch(wakeup.wait(1000, { ignoreWakes: false }))
  await clock.advance(999)
  t.notOk(sleep.isOver)
  await clock.advance(1)
  t.ok(sleep.isOver)
})

t.test('a sleep that ignores wakes is not ended by wake, before or during it, but the one after is', async (t) => {
  const clock = createManualClock()
  const wakeup = createWakeup(clock)
  wakeup.wake()
  const sleep = watch(wakeup.wait(1000, { ignoreWakes: true }))
  wakeup.wake()
  await clock.advance(999)
  t.notOk(sleep.isOver)
  await clock.advance(1)
  t.ok(sleep.isOver)
  await wakeup.wait(1000, { ignoreWakes: false })
})

t.test('end ends every sleep for good, those that ignore wakes too', async (t) => {
  const clock = createManualClock()
  const wakeup = createWakeup(clock)
  const sleep = watch(wakeup.wait(1000, { ignoreWakes: true }))
  wakeup.end()
  await clock.advance(0)
  t.ok(sleep.isOver)
  await wakeup.wait(1000, { ignoreWakes: true })
  await wakeup.wait(1000, { ignoreWakes: false })
  t.equal(clock.timerCount, 0)
})

t.test('wake and end without a sleep do no harm, also after one', async (t) => {
  const clock = createManualClock()
  const wakeup = createWakeup(clock)
  wakeup.wake()
  wakeup.reset()
  const sleep = watch(wakeup.wait(10, { ignoreWakes: false }))
  await clock.advance(10)
  t.ok(sleep.isOver)
  wakeup.wake()
  wakeup.wake()
  wakeup.end()
  wakeup.end()
})
