import t from 'tap'
import { defaultRetrySchedule, nextRetryMs, parseRetryAfter } from '../../../src/webhooks/queue/outcome.js'

const none = () => 0
const most = () => 1 - Number.EPSILON / 2

t.test('the default schedule is that of the contract', async (t) => {
  t.strictSame(defaultRetrySchedule, [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
})

t.test('the wait is that of the schedule by the attempts made, and null after the last', async (t) => {
  const waits = Array.from({ length: 11 }, (_, made) => nextRetryMs(defaultRetrySchedule, made, null, none))
  t.strictSame(waits, [0, 5000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000, null])
})

t.test('jitter adds 0 to 20 percent', async (t) => {
  for (const [random, waitMs] of [[0, 5000], [0.25, 5250], [0.5, 5500], [0.999999, 6000]] as const) {
    t.equal(nextRetryMs([0, 5], 1, null, () => random), waitMs)
  }
  t.equal(nextRetryMs([0, 5], 1, null, most), 6000)
})

t.test('a wait is a whole number of milliseconds, rounded up', async (t) => {
  t.equal(nextRetryMs([0, 0.0015], 1, null, none), 2)
})

t.test('Retry-After lengthens the wait and never shortens it, and jitter comes on top', async (t) => {
  t.equal(nextRetryMs([0, 5], 1, 60_000, none), 60_000)
  t.equal(nextRetryMs([0, 5], 1, 60_000, () => 0.5), 66_000)
  t.equal(nextRetryMs([0, 5], 1, 1000, none), 5000)
  t.equal(nextRetryMs([0], 1, 60_000, none), null)
})

t.test('without a source of its own the jitter is random', async (t) => {
  const waits = Array.from({ length: 100 }, () => nextRetryMs([0, 300], 1, null) ?? 0)
  t.ok(waits.every((waitMs) => waitMs >= 300_000 && waitMs <= 360_000))
  t.ok(new Set(waits).size > 50)
})

const nowMs = Date.parse('2026-11-06T08:49:37.000Z')

t.test('Retry-After is read as seconds, a day at most', async (t) => {
  t.equal(parseRetryAfter('1', nowMs), 1000)
  t.equal(parseRetryAfter('86400', nowMs), 86_400_000)
  t.equal(parseRetryAfter('86401', nowMs), 86_400_000)
})

t.test('Retry-After is read as an HTTP date in each of its three forms', async (t) => {
  t.equal(parseRetryAfter('Fri, 06 Nov 2026 08:50:37 GMT', nowMs), 60_000)
  t.equal(parseRetryAfter('Friday, 06-Nov-26 08:50:37 GMT', nowMs), 60_000)
  t.equal(parseRetryAfter('Fri Nov  6 08:50:37 2026', nowMs), 60_000)
  t.equal(parseRetryAfter('Tue Nov 10 08:49:37 2026', nowMs), 86_400_000)
})

t.test('Retry-After that is absent, past or malformed is no wait', async (t) => {
  const values = [
    undefined, '', ' ', '0', '00', '-1', '1.5', '1e3', '0x10', 'NaN', 'Infinity', 'tomorrow', '2026-11-06T08:50:37Z',
    'Fri, 06 Nov 2026 08:49:37 GMT', 'Thu, 05 Nov 2026 08:49:37 GMT', 'Fri, 6 Nov 2026 08:50:37 GMT', 'fri, 06 nov 2026 08:50:37 gmt',
    'Fri, 06 Nov 2026 08:50:37', 'Fri, 06 Nov 2026 08:50:37 UTC', 'Fri, 06 Nov 2026 08:50:37 +0000', 'Fri, 06 Nov 2026 08:50 GMT',
    'Fri, 06 Now 2026 08:50:37 GMT', 'Fri, 06 Nov 2026 25:50:37 GMT', 'Wed, 31 Feb 2027 08:50:37 GMT', 'Fri Nov 6 08:50:37 2026', '06 Nov 2026 08:50:37 GMT', '１２３'
  ]
  for (const value of values) t.equal(parseRetryAfter(value, nowMs), null, String(value))
})
