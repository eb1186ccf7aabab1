import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { requestList } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const faces = '%F0%9F%98%80'
const blank = ['=', '', '=%20', '=+++', '=%09%0A%0D', '=%C2%A0', '=%E3%80%80', `=${'%20'.repeat(300)}`]
const times: Array<[text: string, time: string]> = [
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01t14:30:00.123456+02:30', '2026-03-01T12:00:00.123Z'],
  ['2026-03-02T11:59:00+23:59', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T06:30:00-05:30', '2026-03-01T12:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['0001-01-01T02:00:00+02:00', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999+00:00', '9999-12-31T23:59:59.999Z']
]

const accepted: Array<[list: string, query: string, filter: object]> = [
  ['candidates', 'filter[recruiter_id]=0011', { recruiterId: 11 }],
  ['candidates', 'filter[recruiter_id]=9007199254740991', { recruiterId: Number.MAX_SAFE_INTEGER }],
  ['candidates', 'filter[q]=ada&filter[updated_after]=2026-01-02T00:00:00Z&filter[recruiter_id]=12',
    { q: 'ada', updatedAfter: '2026-01-02T00:00:00.000Z', recruiterId: 12 }],
  ['jobs', `filter[status]=${'x'.repeat(64)}`, { status: 'x'.repeat(64) }],
  ['jobs', `filter[status]=${faces.repeat(64)}`, { status: '😀'.repeat(64) }],
  ['jobs', 'filter[status]=On+hold+%26+%C3%A9', { status: 'On hold & é' }],
  ['jobs', 'filter[q]=%20Ada%20%20L%20', { q: 'Ada  L' }],
  ...blank.map((text): [string, string, object] => ['jobs', `filter[q]${text}`, {}]),
  ...times.map(([text, time]): [string, string, object] => {
    return ['jobs', `filter[updated_after]=${encodeURIComponent(text)}`, { updatedAfter: time }]
  })
]

t.test('a page and its total get the same filter: numbers, trimmed text, none if it is blank, and times in UTC', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const [list, query, filter] of accepted) {
    calls.length = 0
    t.equal((await requestList(app, list, query)).statusCode, 200, query)
    t.match(calls, [{ method: `${list}.count` }, { method: `${list}.list` }])
    t.strictSame(calls.map(({ args: [, asked] }) => (asked as { filter?: object }).filter ?? asked), [filter, filter], query)
  }
})

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
  const app = await buildApp(t)
  for (const [list, filter, values] of refused) {
    for (const value of values) {
      checkError(t, await requestList(app, list, `filter[${filter}]=${value}`), 400, `${filter}=${value.slice(0, 30)}`)
    }
  }
})
