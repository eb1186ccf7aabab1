import t from 'tap'
import type { Delivery, DeliveryStatus, Page } from '../../../src/around/portal/page/api.js'
import {
  type Choice, appendRows, compareRows, countActivity, hasMore, renewRows, startRows, toReplay
} from '../../../src/around/portal/page/deliveries.js'

const perPage = 4

/** Numbers from the first down to the last. */
function down (first: number, last: number): number[] {
  return Array.from({ length: first - last + 1 }, (_, index) => first - index)
}

/** Returns the API's response for a page of a log with these ids. */
function pageOf (ids: readonly number[], page = 1, status: Delivery['status'] = 'failed'): Page<Delivery> {
  const data = ids.slice((page - 1) * perPage, page * perPage).map((id): Delivery => ({
    id, event_id: `evt_${id}`, event_type: 'application.created', status, attempt_count: 1, response_status: 500, error: 'http_status', next_attempt_at: null, created_at: '2026-03-01T09:30:00.000Z', delivered_at: null
  }))
  return { data, meta: { page, per_page: perPage, total: ids.length, total_pages: Math.ceil(ids.length / perPage) } }
}

const idsOf = ({ rows }: { rows: readonly Delivery[] }) => rows.map(({ id }) => id)
const nextPage = ({ loaded }: { loaded: number }) => Math.floor(loaded / perPage) + 1

t.test('a log with a capped total continues until a page is not full', async (t) => {
  const capped = (ids: readonly number[], page = 1): Page<Delivery> => {
    const { data, meta } = pageOf(ids, page)
    return { data, meta: { ...meta, total: 5, total_pages: 2, total_is_capped: true } }
  }
  const ids = down(10, 1)
  let log = startRows(capped(ids))
  t.match(log, { total: 5, isCapped: true })
  while (hasMore(log)) log = appendRows(log, capped(ids, nextPage(log)))
  t.strictSame(idsOf(log), ids)
  t.match(log, { total: 10, isCapped: false })
  log = renewRows(log, capped(down(11, 1)))
  t.match(log, { total: 5, isCapped: true, loaded: 11 })
})

t.test('deliveries that arrive while pages load appear once', async (t) => {
  let log = startRows(pageOf(down(10, 1)))
  const later = down(13, 1)
  log = appendRows(log, pageOf(later, 2))
  t.strictSame(idsOf(log), down(10, 6))
  log = renewRows(log, pageOf(later))
  t.strictSame(idsOf(log), down(13, 6))
})

t.test('deliveries that leave the log while pages load hide no others', async (t) => {
  let log = startRows(pageOf(down(12, 1)))
  const later = [12, 9, 8, 7, 6, 5, 4, 3, 2, 1]
  log = appendRows(log, pageOf(later, 2))
  t.strictSame(idsOf(log), [12, 11, 10, 9, 6, 5, 4, 3])
  while (hasMore(log)) log = appendRows(log, pageOf(later, nextPage(log)))
  t.strictSame(idsOf(renewRows(log, pageOf(later))), later)
})

t.test('the newest page shows how many deliveries arrived and left', async (t) => {
  const log = startRows(pageOf(down(8, 1)))
  t.strictSame(compareRows(log, pageOf(down(8, 1))), { added: 0, removed: 0 })
  t.strictSame(compareRows(log, pageOf([10, 9, 8, 6, 5, 4, 3, 2, 1])), { added: 2, removed: 1 })
  t.strictSame(idsOf(renewRows(log, pageOf([10, 9, 8, 6, 5, 4, 3, 2, 1]))), [10, 9, 8, 6, 5])
  t.strictSame(compareRows(startRows(pageOf([2, 1])), pageOf([2])), { added: 0, removed: 1 })
  t.strictSame(compareRows(startRows(pageOf([2, 1])), pageOf([])), { added: 0, removed: 2 })
})

t.test('more than a page of new deliveries restarts the log', async (t) => {
  const log = appendRows(startRows(pageOf(down(8, 1))), pageOf(down(8, 1), 2))
  const later = down(108, 1)
  t.strictSame(compareRows(log, pageOf(later)), { added: 100, removed: 0 })
  t.strictSame(renewRows(log, pageOf(later)), startRows(pageOf(later)))
  t.strictSame(renewRows(log, pageOf([])), startRows(pageOf([])))
})

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
