import t from 'tap'
import type { AttemptError, ClaimedDelivery, Clock } from '../../../src/index.js'
import { decideOutcome, nextRetryMs, parseRetryAfter } from '../../../src/core/webhooks/queue/attempt-delivery.js'
import type { SendResult } from '../../../src/core/webhooks/sending/sender.js'
import { type LoggedDelivery, startDelivering } from '../../fixtures/delivery/delivering.js'

// Days pass here, so fewer polls save time.
const slowly = { delivery: { pollMs: 60_000 } }
const schedule = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

t.test('a delivery fails after ten attempts, each after its wait plus at most 20 %', async (t) => {
  const { clock, drain, emit, lastDelivery, receiver, retry, storage } = await startDelivering(t, slowly)
  receiver.answer(500)
  await emit()
  await drain()
  t.equal(receiver.requests.length, 1, 'the first attempt is made immediately')
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

/** Milliseconds until the next attempt. */
function waitOf ({ next_attempt_at: next }: LoggedDelivery, clock: Clock): number {
  return Date.parse(String(next)) - clock.now()
}

t.test('neither Retry-After nor a shortened schedule adds an attempt', async (t) => {
  const busy = { responseStatus: 503, error: 'http_status', retryAfter: '60' } as const
  t.match(decide(busy, { attemptCount: 2 }), { outcome: 'failed' })
  t.match(decide({ error: 'connection' }, { attemptCount: 17 }), { outcome: 'failed', isGone: false })
})

const claimed: ClaimedDelivery = {
  deliveryId: 3,
  fence: 2,
  tenantId: 'acme',
  tenantSlug: 'acme',
  webhookId: 1,
  targetUrl: 'https://example.com/',
  secrets: [],
  headers: null,
  eventId: 'evt_1',
  eventType: 'job.created',
  body: '{}',
  traceParent: null,
  attemptCount: 0,
  isFailing: false
}

function decide (sent: Partial<SendResult>, delivery: Partial<ClaimedDelivery> = {}, retrySchedule = [0, 5, 5]) {
  return decideOutcome({ ...claimed, ...delivery }, { responseStatus: null, error: null, durationMs: 12, ...sent }, {
    retrySchedule, nowMs: 0, random: Math.random
  })
}

t.test('an aborted attempt does not count', async (t) => {
  t.equal(decide({ error: 'aborted' }), null)
})

t.test('413 and the response header webhook-delivery end a delivery', async (t) => {
  const failed = { responseStatus: 500, error: 'http_status' } as const
  t.match(decide({ ...failed, responseStatus: 413 }), { outcome: 'failed', isGone: false })
  t.match(decide({ ...failed, control: 'abort', retryAfter: '60' }), { outcome: 'failed', isGone: false })
  t.match(decide({ ...failed, control: 'disable' }), { outcome: 'failed', isGone: true })
  t.match(decide({ responseStatus: 200, control: 'disable' }), { outcome: 'delivered', isGone: true })
  t.match(decide({ responseStatus: 200, control: 'abort' }), { outcome: 'delivered', isGone: false })
})

t.test('without Retry-After a pause lasts until the next attempt, but at most a minute', async (t) => {
  for (const [attemptCount, longestMs] of [[0, 6000], [1, 60_000], [2, 60_000]] as const) {
    const decided = decide({ responseStatus: 503, error: 'http_status' }, { attemptCount }, [0, 5, 300, 7200])
    t.ok(decided?.outcome === 'retry' && decided.pauseMs === Math.min(decided.retryInMs, 60_000) && decided.pauseMs <= longestMs)
  }
})

t.test('a timeout pauses an endpoint that was already failing', async (t) => {
  for (const [isFailing, isPaused] of [[false, false], [true, true]] as const) {
    const decided = decide({ error: 'timeout' }, { isFailing })
    t.ok(decided?.outcome === 'retry' && (decided.pauseMs > 0) === isPaused)
  }
})

t.test('other failures do not pause, even with Retry-After', async (t) => {
  const failures: Array<[error: AttemptError, responseStatus: number | null]> = [
    ['connection', null], ['tls', null], ['http_status', 500], ['http_status', 404], ['http_status', 302]
  ]
  for (const [error, responseStatus] of failures) {
    t.match(decide({ error, responseStatus, retryAfter: '60' }, { isFailing: true }), { outcome: 'retry', pauseMs: 0 })
  }
})
const most = () => 1 - Number.EPSILON / 2

t.test('jitter adds 0 to 20 percent', async (t) => {
  for (const [random, waitMs] of [[0, 5000], [0.25, 5250], [0.5, 5500], [0.999999, 6000]] as const) {
    t.equal(nextRetryMs([0, 5], 1, null, () => random), waitMs)
  }
  t.equal(nextRetryMs([0, 5], 1, null, most), 6000)
})

const nowMs = Date.parse('2026-11-06T08:49:37.000Z')

t.test('Retry-After is parsed as seconds or an HTTP date, up to a day; other values are ignored', async (t) => {
  for (const [value, waitMs] of [
    ['1', 1000], ['86400', 86_400_000], ['86401', 86_400_000], ['Fri, 06 Nov 2026 08:50:37 GMT', 60_000],
    ['Friday, 06-Nov-26 08:50:37 GMT', 60_000], ['Fri Nov  6 08:50:37 2026', 60_000],
    ['Tue Nov 10 08:49:37 2026', 86_400_000]
  ] as const) t.equal(parseRetryAfter(value, nowMs), waitMs)
  for (const value of [
    undefined, '', ' ', '0', '00', '-1', '1.5', '1e3', '0x10', 'NaN', 'Infinity', 'tomorrow', '2026-11-06T08:50:37Z',
    'Fri, 06 Nov 2026 08:49:37 GMT', 'Thu, 05 Nov 2026 08:49:37 GMT', 'Fri, 6 Nov 2026 08:50:37 GMT',
    'fri, 06 nov 2026 08:50:37 gmt', 'Fri, 06 Nov 2026 08:50:37', 'Fri, 06 Nov 2026 08:50:37 UTC',
    'Fri, 06 Nov 2026 08:50:37 +0000', 'Fri, 06 Nov 2026 08:50 GMT', 'Fri, 06 Now 2026 08:50:37 GMT',
    'Fri, 06 Nov 2026 25:50:37 GMT', 'Wed, 31 Feb 2027 08:50:37 GMT', 'Fri Nov 6 08:50:37 2026',
    '06 Nov 2026 08:50:37 GMT', '１２３'
  ]) t.equal(parseRetryAfter(value, nowMs), null, String(value))
})
