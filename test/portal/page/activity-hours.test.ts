import t from 'tap'
import { countActivity } from '../../../src/portal/page/activity-hours.js'
import type { Delivery, DeliveryStatus } from '../../../src/portal/page/api.js'

const now = Date.parse('2026-03-02T09:30:00.000Z')
const hourMs = 3_600_000

function delivery (status: DeliveryStatus, hoursAgo: number): Delivery {
  return {
    id: 1, event_id: 'evt_1', event_type: 'job.created', status, attempt_count: 1, response_status: null, error: null, next_attempt_at: null, created_at: new Date(now - hoursAgo * hourMs).toISOString(), delivered_at: null
  }
}

function count (data: Delivery[], total = data.length) {
  return countActivity({ data, meta: { page: 1, per_page: 200, total, total_pages: 1 } }, now)
}

t.test('deliveries of the last 24 hours are counted, and by hour, the newest last', (t) => {
  const { hours, ...counts } = count([
    delivery('pending', 0), delivery('delivered', 0), delivery('failed', 0.5), delivery('delivered', 1.5), delivery('skipped', 2), delivery('delivered', 23.9), delivery('failed', 24)
  ])
  t.strictSame(counts, { delivered: 3, failed: 1, pending: 1, share: 0.75, isPartial: false })
  t.equal(hours.length, 24)
  t.strictSame([hours[0], hours[22], hours[23]], [
    { begin: now - 24 * hourMs, delivered: 1, failed: 0 }, { begin: now - 2 * hourMs, delivered: 1, failed: 0 }, { begin: now - hourMs, delivered: 1, failed: 1 }
  ])
  t.end()
})

t.test('a single failure among many is not rounded away, and without a result there is no share', (t) => {
  t.equal(count([...Array.from({ length: 1999 }, () => delivery('delivered', 1)), delivery('failed', 1)]).share, 0.999)
  for (const none of [[], [delivery('pending', 1)], [delivery('failed', 25)]]) t.equal(count(none).share, null)
  t.end()
})

t.test('a page that does not reach back 24 hours is only a part', (t) => {
  t.equal(count([delivery('delivered', 1)], 2).isPartial, true)
  t.equal(count([delivery('delivered', 1), delivery('delivered', 25)], 3).isPartial, false)
  t.end()
})
