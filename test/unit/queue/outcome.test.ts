import t from 'tap'
import type { AttemptError, ClaimedDelivery } from '../../../src/index.js'
import { decideOutcome } from '../../../src/webhooks/queue/outcome.js'
import type { SendResult } from '../../../src/webhooks/sending/sender.js'

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

const result = { webhookId: 1, deliveryId: 3, fence: 2, targetUrl: 'https://example.com/', durationMs: 12, responseExcerpt: null }

function decide (sent: Partial<SendResult>, delivery: Partial<ClaimedDelivery> = {}, retrySchedule = [0, 5, 5]) {
  return decideOutcome({ ...claimed, ...delivery }, { responseStatus: null, error: null, durationMs: 12, ...sent }, {
    retrySchedule, nowMs: 0
  })
}

t.test('an attempt without an error has delivered', async (t) => {
  t.strictSame(decide({ responseStatus: 204 }), { ...result, responseStatus: 204, error: null, outcome: 'delivered' })
})

t.test('the excerpt of a response is handed on', async (t) => {
  t.match(decide({ responseStatus: 204, responseExcerpt: 'ok' }), { responseExcerpt: 'ok', outcome: 'delivered' })
  t.match(decide({ responseStatus: 500, error: 'http_status', responseExcerpt: 'no' }), { responseExcerpt: 'no', outcome: 'retry' })
})

t.test('an aborted attempt was none', async (t) => {
  t.equal(decide({ error: 'aborted' }), null)
})

t.test('a failure is tried again while the schedule lasts', async (t) => {
  for (const attemptCount of [0, 1]) {
    const decided = decide({ responseStatus: 500, error: 'http_status' }, { attemptCount })
    t.match(decided, { ...result, responseStatus: 500, error: 'http_status', outcome: 'retry', pauseMs: 0 })
    t.ok(decided?.outcome === 'retry' && decided.retryInMs >= 5000 && decided.retryInMs <= 6000)
  }
  t.strictSame(decide({ responseStatus: 500, error: 'http_status' }, { attemptCount: 2 }), {
    ...result, responseStatus: 500, error: 'http_status', outcome: 'failed', isGone: false
  })
})

t.test('a schedule that has become shorter ends a delivery that is beyond it', async (t) => {
  t.match(decide({ error: 'connection' }, { attemptCount: 17 }), { outcome: 'failed', isGone: false })
})

t.test('a blocked address is final, whatever is left of the schedule', async (t) => {
  t.strictSame(decide({ error: 'blocked' }), { ...result, responseStatus: null, error: 'blocked', outcome: 'failed', isGone: false })
})

t.test('a 410 is final and says that the endpoint is gone', async (t) => {
  for (const attemptCount of [0, 2]) {
    t.strictSame(decide({ responseStatus: 410, error: 'http_status', retryAfter: '60' }, { attemptCount }), {
      ...result, responseStatus: 410, error: 'http_status', outcome: 'failed', isGone: true
    })
  }
})

t.test('429 and 503 pause the endpoint for as long as Retry-After says', async (t) => {
  for (const responseStatus of [429, 503]) {
    const decided = decide({ responseStatus, error: 'http_status', retryAfter: '60' })
    t.ok(decided?.outcome === 'retry' && decided.retryInMs >= 60_000 && decided.retryInMs <= 72_000 && decided.pauseMs === 60_000)
  }
})

t.test('without Retry-After a pause lasts a minute at most, and ends with the next attempt', async (t) => {
  for (const [attemptCount, longestMs] of [[0, 6000], [1, 60_000], [2, 60_000]] as const) {
    const decided = decide({ responseStatus: 503, error: 'http_status' }, { attemptCount }, [0, 5, 300, 7200])
    t.ok(decided?.outcome === 'retry' && decided.pauseMs === Math.min(decided.retryInMs, 60_000) && decided.pauseMs <= longestMs)
  }
})

t.test('a timeout pauses the endpoint if it was failing before', async (t) => {
  for (const [isFailing, isPaused] of [[false, false], [true, true]] as const) {
    const decided = decide({ error: 'timeout' }, { isFailing })
    t.ok(decided?.outcome === 'retry' && (decided.pauseMs > 0) === isPaused)
  }
})

t.test('other failures pause nothing, not even with Retry-After', async (t) => {
  const failures: Array<[error: AttemptError, responseStatus: number | null]> = [
    ['connection', null], ['tls', null], ['http_status', 500], ['http_status', 404], ['http_status', 302]
  ]
  for (const [error, responseStatus] of failures) {
    t.match(decide({ error, responseStatus, retryAfter: '60' }, { isFailing: true }), { outcome: 'retry', pauseMs: 0 })
  }
})
