import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { fetchIds, lists, requestList, storeItems } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { checkError } from '../fixtures/api/answers.js'
import { refusedSorts } from '../fixtures/api/refused-queries.js'

const day = (number: number): string => `2026-01-0${number}T00:00:00.000Z`

// Every two rows are tied in some field, and no two fields give the same order.
const rows = [
  { id: 1, name: 'b', status: 'draft', created_at: day(2), updated_at: day(3) },
  { id: 2, name: 'a', status: 'published', created_at: day(2), updated_at: day(3) },
  { id: 3, name: 'b', status: 'published', created_at: day(1), updated_at: day(4) },
  { id: 4, name: 'c', status: 'draft', created_at: day(1), updated_at: day(3) },
  { id: 5, name: 'a', status: 'draft', created_at: day(2), updated_at: day(4) }
]

const { candidates, jobs, ...rest } = memoryStorage({
  tenants: { acme: { candidates: rows.map(({ name, ...row }) => ({ ...row, full_name: name })), jobs: rows } }
})

const orders: Array<[list: string, sort: string, ids: number[]]> = [
  ['jobs', 'id', [1, 2, 3, 4, 5]],
  ['jobs', '-name', [4, 3, 1, 5, 2]],
  ['jobs', '-created_at', [5, 2, 1, 4, 3]],
  ['jobs', 'status,-updated_at,name', [5, 1, 4, 3, 2]],
  ['jobs', 'created_at,-id', [4, 3, 5, 2, 1]],
  ['candidates', '-full_name,created_at', [4, 3, 1, 2, 5]],
  ['candidates', '-updated_at,id', [3, 5, 1, 2, 4]],
  ['candidates', '', [1, 2, 3, 4, 5]]
]

t.test('a list has the requested order, ties by id in the direction of the last field', async (t) => {
  const app = await buildApp(t, { storage: { candidates, jobs, ...rest } })
  for (const [list, sort, ids] of orders) {
    const query = sort === '' ? '' : `sort=${sort}`
    t.same(await fetchIds(app, list, query), ids, `${list}?${query}`)
    const paged: number[] = []
    for (let page = 1; page <= 3; page++) paged.push(...await fetchIds(app, list, `${query}&per_page=2&page=${page}`))
    t.same(paged, ids, `${list}?${query} by pages`)
  }
})

t.test('webhooks and deliveries sort by their own fields; deliveries come newest first by default', async (t) => {
  const app = await buildApp(t, await storeItems(3))
  for (const [list, sort, ids] of [
    ['webhooks', '', [1, 3, 5]], ['webhooks', '-id', [5, 3, 1]], ['webhooks', '-name', [5, 3, 1]], ['webhooks', '-created_at', [5, 3, 1]],
    ['webhooks', 'updated_at', [1, 3, 5]], ['webhooks/1/deliveries', 'id', [1, 3, 5]],
    ['webhooks/1/deliveries', 'created_at', [1, 3, 5]], ['webhooks/1/deliveries', '-created_at', [5, 3, 1]]
  ] as const) {
    const found = await fetchIds(app, list, sort === '' ? '' : `sort=${sort}`)
    t.same(found, ids, `${list}?sort=${sort}`)
  }
  t.same(await fetchIds(app, 'webhooks/1/deliveries'), await fetchIds(app, 'webhooks/1/deliveries', 'sort=-id'))
})

t.test('the storage always receives a total order', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  const expected: Array<[sort: string, items: string[]]> = [
    ['id', ['id asc']], ['-id', ['id desc']], ['name', ['name asc', 'id asc']], ['-name', ['name desc', 'id desc']],
    ['name,-status', ['name asc', 'status desc', 'id desc']], ['-name,status', ['name desc', 'status asc', 'id asc']],
    ['-name,-status,created_at', ['name desc', 'status desc', 'created_at asc', 'id asc']], ['id,-name', ['id asc', 'name desc']]
  ]
  for (const [sort, items] of expected) {
    calls.length = 0
    // The second time it may come from what was kept.
    for (let round = 0; round < 2; round++) await requestList(app, 'jobs', `sort=${sort}`)
    const told = calls.filter(({ method }) => method === 'jobs.list').map(({ args }) => args[1] as { sort: Array<{ field: string, direction: string }> })
    t.same(told.map((query) => query.sort.map(({ field, direction }) => `${field} ${direction}`)), [items, items], sort)
  }
})

const foreign = {
  candidates: ['name', 'status'],
  jobs: ['full_name'],
  webhooks: ['full_name', 'status', 'event_types'],
  'webhooks/1/deliveries': ['updated_at', 'name', 'status', 'event_type', 'delivered_at', 'next_attempt_at']
}

for (const list of lists) {
  t.test(`${list}: a sort of unknown, repeated, empty or more than three fields gets 400`, async (t) => {
    const { storage, calls } = spyStorage()
    const app = await buildApp(t, { storage })
    for (const query of [...refusedSorts, ...foreign[list].map((field) => `sort=${field}`)]) {
      checkError(t, await requestList(app, list, query), 400, query.slice(0, 60))
    }
    t.same(calls, [])
  })
}
