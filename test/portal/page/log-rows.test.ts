import t from 'tap'
import type { Delivery, Page } from '../../../src/portal/page/api.js'
import { appendRows, compareRows, hasMore, renewRows, startRows, updateRows } from '../../../src/portal/page/log-rows.js'

const perPage = 4

/** Numbers from the first down to the last. */
function down (first: number, last: number): number[] {
  return Array.from({ length: first - last + 1 }, (_, index) => first - index)
}

/** What the API answers for a page of a log with these ids. */
function pageOf (ids: readonly number[], page = 1, status: Delivery['status'] = 'failed'): Page<Delivery> {
  const data = ids.slice((page - 1) * perPage, page * perPage).map((id): Delivery => ({
    id, event_id: `evt_${id}`, event_type: 'application.created', status, attempt_count: 1, response_status: 500, error: 'http_status', next_attempt_at: null, created_at: '2026-03-01T09:30:00.000Z', delivered_at: null
  }))
  return { data, meta: { page, per_page: perPage, total: ids.length, total_pages: Math.ceil(ids.length / perPage) } }
}

const idsOf = ({ rows }: { rows: readonly Delivery[] }) => rows.map(({ id }) => id)
const nextPage = ({ loaded }: { loaded: number }) => Math.floor(loaded / perPage) + 1

t.test('pages follow each other to the end of the log', (t) => {
  const ids = down(10, 1)
  let log = startRows(pageOf(ids))
  t.ok(hasMore(log))
  log = appendRows(log, pageOf(ids, 2))
  log = appendRows(log, pageOf(ids, 3))
  t.strictSame(idsOf(log), ids)
  t.notOk(hasMore(log))
  t.end()
})

t.test('a log whose total is higher than its rows ends at the first empty page', (t) => {
  const log = appendRows({ ...startRows(pageOf(down(4, 1))), total: 9 }, { data: [], meta: { page: 2, per_page: perPage, total: 9, total_pages: 3 } })
  t.notOk(hasMore(log))
  t.end()
})

t.test('an empty newest page leaves no row, whatever its total', (t) => {
  const log = startRows(pageOf(down(4, 1)))
  t.strictSame(compareRows(log, { data: [], meta: { page: 1, per_page: perPage, total: 9, total_pages: 3 } }), { added: 0, removed: 4 })
  t.end()
})

t.test('deliveries that arrive while pages are loaded come once', (t) => {
  let log = startRows(pageOf(down(10, 1)))
  const later = down(13, 1)
  log = appendRows(log, pageOf(later, 2))
  t.strictSame(idsOf(log), down(10, 6))
  log = renewRows(log, pageOf(later))
  t.strictSame(idsOf(log), down(13, 6))
  t.end()
})

t.test('deliveries that leave the log while pages are loaded hide no other', (t) => {
  let log = startRows(pageOf(down(12, 1)))
  const later = [12, 9, 8, 7, 6, 5, 4, 3, 2, 1]
  log = appendRows(log, pageOf(later, 2))
  t.strictSame(idsOf(log), [12, 11, 10, 9, 6, 5, 4, 3])
  while (hasMore(log)) log = appendRows(log, pageOf(later, nextPage(log)))
  t.strictSame(idsOf(renewRows(log, pageOf(later))), later)
  t.end()
})

t.test('the newest page tells how many deliveries arrived and left', (t) => {
  const log = startRows(pageOf(down(8, 1)))
  t.strictSame(compareRows(log, pageOf(down(8, 1))), { added: 0, removed: 0 })
  t.strictSame(compareRows(log, pageOf([10, 9, 8, 6, 5, 4, 3, 2, 1])), { added: 2, removed: 1 })
  t.strictSame(idsOf(renewRows(log, pageOf([10, 9, 8, 6, 5, 4, 3, 2, 1]))), [10, 9, 8, 6, 5])
  t.strictSame(compareRows(startRows(pageOf([2, 1])), pageOf([2])), { added: 0, removed: 1 })
  t.strictSame(compareRows(startRows(pageOf([2, 1])), pageOf([])), { added: 0, removed: 2 })
  t.end()
})

t.test('more than a page of new deliveries begins the log anew', (t) => {
  const log = appendRows(startRows(pageOf(down(8, 1))), pageOf(down(8, 1), 2))
  const later = down(108, 1)
  t.strictSame(compareRows(log, pageOf(later)), { added: 100, removed: 0 })
  t.strictSame(renewRows(log, pageOf(later)), startRows(pageOf(later)))
  t.strictSame(renewRows(log, pageOf([])), startRows(pageOf([])))
  t.end()
})

t.test('an update changes rows and moves none', (t) => {
  const log = startRows(pageOf(down(8, 1), 1, 'pending'))
  const updated = updateRows(log, pageOf([9, 8, 7, 6], 1, 'delivered'))
  t.strictSame(updated.rows.map(({ id, status }) => [id, status]), [[8, 'delivered'], [7, 'delivered'], [6, 'delivered'], [5, 'pending']])
  t.end()
})
