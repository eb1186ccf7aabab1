import t from 'tap'
import type { Delivery, DeliveryStatus } from '../../../src/around/portal/page/api.js'
import { type Choice, countActivity, toReplay } from '../../../src/around/portal/page/deliveries.js'

const now = Date.parse('2026-03-02T09:30:00.000Z')
const hourMs = 3_600_000

function delivery (status: DeliveryStatus, hoursAgo: number): Delivery {
  return {
    id: 1, event_id: 'evt_1', event_type: 'job.created', status, attempt_count: 1, response_status: null, error: null, detail: null, next_attempt_at: null, created_at: new Date(now - hoursAgo * hourMs).toISOString(), delivered_at: null
  }
}

function count (data: Delivery[], total = data.length) {
  return countActivity({ data, meta: { page: 1, per_page: 200, total, total_pages: 1 } }, now)
}

t.test('deliveries of the last 24 hours are counted in total and by hour, the newest last', async (t) => {
  const { hours, ...counts } = count([
    delivery('pending', 0), delivery('delivered', 0), delivery('failed', 0.5), delivery('delivered', 1.5), delivery('skipped', 2), delivery('delivered', 23.9), delivery('failed', 24)
  ])
  t.strictSame(counts, { delivered: 3, failed: 1, pending: 1, share: 0.75, isPartial: false })
  t.equal(hours.length, 24)
  t.strictSame([hours[0], hours[22], hours[23]], [
    { begin: now - 24 * hourMs, delivered: 1, failed: 0 },
    { begin: now - 2 * hourMs, delivered: 1, failed: 0 },
    { begin: now - hourMs, delivered: 1, failed: 1 }
  ])
})

t.test('a single failure is not rounded away, and the share is null without results', async (t) => {
  t.equal(count([...Array.from({ length: 1999 }, () => delivery('delivered', 1)), delivery('failed', 1)]).share, 0.999)
  for (const none of [[], [delivery('pending', 1)], [delivery('failed', 25)]]) t.equal(count(none).share, null)
})

const selectedAt = Date.parse('2026-03-10T12:00:00.000Z')
const choice: Choice = { range: 'day', since: '', until: '', include: 'undelivered', eventTypes: [] }

t.test('a preset period ends now, and only a custom one uses the entered times', async (t) => {
  t.strictSame(toReplay({ ...choice, range: 'hour' }, selectedAt), { since: '2026-03-10T11:00:00.000Z', include: 'undelivered' })
  t.strictSame(toReplay({ ...choice, since: '2026-01-01T00:00', until: '2026-01-02T00:00' }, selectedAt), { since: '2026-03-09T12:00:00.000Z', include: 'undelivered' })
  t.strictSame(toReplay({ ...choice, range: 'week', include: 'all', eventTypes: ['job.created'] }, selectedAt), { since: '2026-03-03T12:00:00.000Z', include: 'all', event_types: ['job.created'] })
})
