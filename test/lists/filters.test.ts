import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { fetchIds, fetchPage, lists, requestList, storeItems } from '../fixtures/api/lists.js'

const day = (number: number): string => `2026-01-0${number}T00:00:00Z`

const storage = memoryStorage({
  tenants: {
    acme: {
      candidates: [
        { id: 1, full_name: 'Ada Lovelace', recruiter_id: 11, updated_at: day(1) },
        { id: 2, full_name: 'Alan Turing', recruiter_id: 11, updated_at: day(2) },
        { id: 3, full_name: 'Ada Yonath', recruiter_id: 12, updated_at: day(3) },
        { id: 4, full_name: 'Grace Hopper', recruiter_id: Number.MAX_SAFE_INTEGER, updated_at: day(4) },
        { id: 5, full_name: 'Nobody', updated_at: day(5) }
      ],
      jobs: [
        { id: 1, name: 'Ada Developer', status: 'published', updated_at: day(1) },
        { id: 2, name: 'Ada Tester', status: 'Published', updated_at: day(2) },
        { id: 3, name: 'Clerk', status: 'published', updated_at: day(3) },
        { id: 4, name: 'Ada Clerk', status: 'x'.repeat(64), updated_at: day(4) },
        { id: 5, name: 'Driver', status: 'on hold & é', updated_at: day(5) }
      ]
    }
  }
})

const found: Array<[list: string, query: string, ids: number[]]> = [
  ['candidates', 'filter[recruiter_id]=11', [1, 2]],
  ['candidates', 'filter[recruiter_id]=0011', [1, 2]],
  ['candidates', 'filter[recruiter_id]=12', [3]],
  ['candidates', 'filter[recruiter_id]=9007199254740991', [4]],
  ['candidates', 'filter[recruiter_id]=1', []],
  ['candidates', 'filter[recruiter_id]=11&filter[q]=ada', [1]],
  ['candidates', 'filter[recruiter_id]=12&filter[q]=alan', []],
  ['candidates', 'filter[recruiter_id]=11&filter[updated_after]=2026-01-01T00:00:00Z', [2]],
  ['candidates', 'filter[q]=ada&filter[updated_after]=2026-01-02T00:00:00Z&filter[recruiter_id]=12', [3]],
  ['candidates', 'filter[q]=&filter[recruiter_id]=12', [3]],
  ['jobs', 'filter[status]=published', [1, 3]],
  ['jobs', 'filter[status]=Published', [2]],
  ['jobs', 'filter[status]=PUBLISHED', []],
  ['jobs', 'filter[status]=publish', []],
  ['jobs', 'filter[status]=published%20', []],
  ['jobs', 'filter[status]=nothing%20like%20it', []],
  ['jobs', 'filter[status]=publishe_', []],
  ['jobs', 'filter[status]=%25', []],
  ['jobs', `filter[status]=${'x'.repeat(64)}`, [4]],
  ['jobs', `filter[status]=${'%F0%9F%98%80'.repeat(64)}`, []],
  ['jobs', 'filter[status]=on%20hold%20%26%20%C3%A9', [5]],
  ['jobs', 'filter[status]=on+hold+%26+%C3%A9', [5]],
  ['jobs', 'filter[status]=published&filter[q]=ada', [1]],
  ['jobs', 'filter[status]=published&filter[q]=ada&filter[updated_after]=2026-01-01T00:00:00Z', []],
  ['jobs', 'filter[q]=ada&filter[updated_after]=2026-01-01T00:00:00Z', [2, 4]]
]

t.test('a filter keeps what matches it, several keep what matches all, and the total counts the same', async (t) => {
  const app = await buildApp(t, { storage })
  for (const [list, query, ids] of found) {
    const { data, meta } = await fetchPage(app, list, query)
    t.same(data.map(({ id }) => id), ids, `${list}?${query}`)
    t.same(meta, { page: 1, per_page: 25, total: ids.length, total_pages: ids.length > 0 ? 1 : 0 }, `${list}?${query}`)
  }
})

t.test('a filter works together with sort and pages', async (t) => {
  const app = await buildApp(t, { storage })
  t.same(await fetchIds(app, 'candidates', 'filter[q]=a&sort=-full_name&per_page=2&page=1'), [4, 2])
  t.same(await fetchIds(app, 'candidates', 'filter[q]=a&sort=-full_name&per_page=2&page=2'), [3, 1])
  t.same(await fetchIds(app, 'candidates', 'filter[q]=a&sort=-full_name&per_page=2&page=3'), [])
})

t.test('a recruiter that is no integer from 1 to 2^53-1 gets 400', async (t) => {
  const app = await buildApp(t, { storage })
  for (const value of ['', '0', '-1', '-11', '1.5', '11.0', '1e1', '0xb', '+11', '%2011', '11%20', 'x', '9007199254740992', '11,12', 'null', '%D9%A1']) {
    checkError(t, await requestList(app, 'candidates', `filter[recruiter_id]=${value}`), 400, value)
  }
})

t.test('a status of more than 64 characters gets 400', async (t) => {
  const app = await buildApp(t, { storage })
  for (const value of ['x'.repeat(65), '%F0%9F%98%80'.repeat(65), 'x'.repeat(4000)]) {
    checkError(t, await requestList(app, 'jobs', `filter[status]=${value}`), 400, value.slice(0, 12))
  }
})

const blanks = {
  candidates: ['page', 'per_page', 'sort', 'filter[recruiter_id]', 'filter[updated_after]'],
  jobs: ['page', 'per_page', 'sort', 'filter[status]', 'filter[updated_after]'],
  webhooks: ['page', 'per_page', 'sort', 'filter[status]'],
  'webhooks/1/deliveries': ['page', 'per_page', 'sort', 'filter[status]', 'filter[event_type]', 'filter[event_id]']
}

for (const list of lists) {
  t.test(`${list}: a blank parameter gets 400`, async (t) => {
    const app = await buildApp(t, await storeItems(1))
    for (const name of blanks[list]) {
      for (const query of [name, `${name}=`, `${encodeURIComponent(name)}=`]) {
        checkError(t, await requestList(app, list, query), 400, query)
      }
    }
  })
}
