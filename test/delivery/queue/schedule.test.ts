import t from 'tap'
import type { Clock } from '../../../src/index.js'
import { type LoggedDelivery, startDelivering } from '../../fixtures/delivery/delivering.js'

// Days pass here: fewer polls take less time.
const slowly = { delivery: { pollMs: 60_000 } }
const schedule = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

t.test('a delivery is attempted ten times, each after its wait and at most 20 % more, and then given up', async (t) => {
  const { clock, drain, emit, lastDelivery, receiver, retry, storage } = await startDelivering(t, slowly)
  receiver.answer(500)
  await emit()
  await drain()
  t.equal(receiver.requests.length, 1, 'the first attempt is made at once')
  for (const [index, seconds] of schedule.slice(1).entries()) {
    const waitMs = waitOf(await lastDelivery(), clock)
    t.ok(waitMs >= seconds * 1000 && waitMs <= seconds * 1200, `wait ${index + 1} of ${seconds} s is ${waitMs} ms`)
    await clock.advance(waitMs - 1)
    t.match(await storage.deliveries.stats(), { pending: 1, due: 0, leased: 0 }, 'not a millisecond earlier')
    await retry()
    t.equal(receiver.requests.length, index + 2)
  }
  t.match(await lastDelivery(), {
    status: 'failed', attempt_count: 10, response_status: 500, error: 'http_status', next_attempt_at: null, delivered_at: null
  })
  await clock.skip(30 * 86_400_000)
  await drain()
  t.equal(receiver.requests.length, 10)
})

t.test('a retry that succeeds ends the schedule', async (t) => {
  const { clock, drain, emit, lastDelivery, receiver, retry } = await startDelivering(t, slowly)
  receiver.answer(500, 500, 200)
  await emit()
  await drain()
  await retry()
  await retry()
  const { delivered_at: deliveredAt, ...delivery } = await lastDelivery()
  t.match(delivery, { status: 'delivered', attempt_count: 3, response_status: 200, error: null, next_attempt_at: null })
  t.equal(deliveredAt, new Date(clock.now()).toISOString())
  await clock.skip(86_400_000)
  await drain()
  t.equal(receiver.requests.length, 3)
})

t.test('a wait counts from the end of the attempt before', async (t) => {
  const { clock, drain, emit, lastDelivery, receiver } = await startDelivering(t)
  let answer = () => {}
  receiver.answer((response) => { answer = () => response.writeHead(500).end() })
  await emit()
  await receiver.received(1)
  await clock.advance(3000)
  answer()
  await drain()
  const waitMs = waitOf(await lastDelivery(), clock)
  t.ok(waitMs >= 5000 && waitMs <= 6000, `${waitMs} ms`)
})

t.test('jitter spreads the retries of deliveries that failed together', async (t) => {
  const { drain, emit, log, receiver } = await startDelivering(t)
  receiver.answer(500)
  for (let count = 0; count < 20; count++) await emit()
  await drain()
  const times = new Set((await log()).map(({ next_attempt_at: time }) => time))
  t.ok(times.size > 10, `${times.size} different times`)
})

t.test('a schedule of the host replaces the default, its first wait included', async (t) => {
  const { clock, drain, emit, lastDelivery, receiver, retry } = await startDelivering(t, {
    delivery: { retrySchedule: [0, 1.5, 60] }
  })
  receiver.answer(500)
  await emit()
  await drain()
  for (const seconds of [1.5, 60]) {
    const waitMs = waitOf(await lastDelivery(), clock)
    t.ok(waitMs >= seconds * 1000 && waitMs <= seconds * 1200, `${waitMs} ms`)
    await retry()
  }
  t.match(await lastDelivery(), { status: 'failed', attempt_count: 3 })
})

/** Milliseconds until the next attempt. */
function waitOf ({ next_attempt_at: next }: LoggedDelivery, clock: Clock): number {
  return Date.parse(String(next)) - clock.now()
}
