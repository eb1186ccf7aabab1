import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { fetchPage, requestList } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

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
  ['candidates', 'filter[recruiter_id]=0011', [1, 2]],
  ['candidates', 'filter[recruiter_id]=9007199254740991', [4]],
  ['candidates', 'filter[q]=ada&filter[updated_after]=2026-01-02T00:00:00Z&filter[recruiter_id]=12', [3]],
  ['candidates', 'filter[q]=&filter[recruiter_id]=12', [3]],
  ['jobs', 'filter[status]=Published', [2]],
  ['jobs', `filter[status]=${'x'.repeat(64)}`, [4]],
  ['jobs', `filter[status]=${'%F0%9F%98%80'.repeat(64)}`, []],
  ['jobs', 'filter[status]=on+hold+%26+%C3%A9', [5]],
  ['jobs', 'filter[q]=ada&filter[updated_after]=2026-01-01T00:00:00Z', [2, 4]]
]

t.test('a filter selects matching rows, several select rows that match all, and the total agrees', async (t) => {
  const app = await buildApp(t, { storage })
  for (const [list, query, ids] of found) {
    const { data, meta } = await fetchPage(app, list, query)
    t.same(data.map(({ id }) => id), ids, `${list}?${query}`)
    t.same(meta, { page: 1, per_page: 25, total: ids.length, total_pages: ids.length > 0 ? 1 : 0 }, `${list}?${query}`)
  }
})

const faces = '%F0%9F%98%80'

/** Values that a filter rejects. */
const refused: Array<[list: string, filter: string, values: string[]]> = [
  ['candidates', 'recruiter_id', [
    '', '0', '-1', '-11', '1.5', '11.0', '1e1', '0xb', '+11', '%2011', '11%20', 'x', '9007199254740992',
    '11,12', 'null', '%D9%A1'
  ]],
  ['webhooks', 'status', ['', 'gone']],
  ['webhooks/1/deliveries', 'status', ['', 'gone']],
  ['webhooks/1/deliveries', 'event_type', ['']],
  ['webhooks/1/deliveries', 'event_id', ['']],
  ['jobs', 'status', ['', 'x'.repeat(65), faces.repeat(65), 'x'.repeat(4000)]],
  ['jobs', 'q', ['x'.repeat(201), '%C3%A9'.repeat(201), faces.repeat(201), 'x'.repeat(5000)]],
  ['jobs', 'updated_after', [
    '2026-03-01', '2026-03-01T12:00:00', '2026-03-01%2012:00:00Z', '2026-03-01T12:00:00%2B0200',
    '2026-03-01T12:00:00%2B24:00', '2026-03-01T24:00:00Z', '2026-03-01T12:00:60Z', '2026-13-01T00:00:00Z',
    '1900-02-29T00:00:00Z', '0000-12-31T23:59:59Z', '0001-01-01T00:00:00%2B00:01', '9999-12-31T23:59:60Z', '1772366400',
    'now', '%202026-03-01T12:00:00Z',
    encodeURIComponent('٢٠٢٦-03-01T12:00:00Z'), '2026-03-01T12:00:00+02:00'
  ]]
]

t.test('a value that a filter cannot have gets 400', async (t) => {
  const app = await buildApp(t, { storage })
  for (const [list, filter, values] of refused) {
    for (const value of values) {
      checkError(t, await requestList(app, list, `filter[${filter}]=${value}`), 400, `${filter}=${value.slice(0, 30)}`)
    }
  }
})

t.test('the storage receives the trimmed text, and nothing for a blank one', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  const blank = ['=', '', '=%20', '=+++', '=%09%0A%0D', '=%C2%A0', '=%E3%80%80', `=${'%20'.repeat(300)}`]
  for (const text of ['=%20Ada%20%20L%20', ...blank]) await requestList(app, 'jobs', `filter[q]${text}`)
  const asked = calls.filter(({ method }) => method.endsWith('.count')).map(({ args }) => args[1])
  t.same(asked, [{ q: 'Ada  L' }, ...blank.map(() => ({}))])
})

t.test('the storage receives the time in UTC with milliseconds', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  const told: Array<[text: string, time: string]> = [
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01t14:30:00.123456+02:30', '2026-03-01T12:00:00.123Z'],
    ['2026-03-02T11:59:00+23:59', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T06:30:00-05:30', '2026-03-01T12:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['0001-01-01T02:00:00+02:00', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999+00:00', '9999-12-31T23:59:59.999Z']
  ]
  for (const [text, time] of told) {
    calls.length = 0
    await requestList(app, 'jobs', `filter[updated_after]=${encodeURIComponent(text)}`)
    t.same(calls.find(({ method }) => method === 'jobs.count')?.args, ['acme', { updatedAfter: time }], text)
  }
})
