import { Type } from '@sinclair/typebox'
import t from 'tap'
import { memoryKeyLookup } from '../../src/storages/memory/index.js'
import { allScopes, bearer, buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { requestList } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const faces = '%F0%9F%98%80'
const blank = ['=', '', '=%20', '=+++', '=%09%0A%0D', '=%C2%A0', '=%E3%80%80', `=${'%20'.repeat(300)}`]
const instants: Array<[text: string, time: string]> = [
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01t14:30:00.123456+02:30', '2026-03-01T12:00:00.123Z'],
  ['2026-03-02T11:59:00+23:59', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T06:30:00-05:30', '2026-03-01T12:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['0001-01-01T02:00:00+02:00', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999+00:00', '9999-12-31T23:59:59.999Z']
]

/** Query values with the values that the storage gets, and values that get 400. */
interface Values {
  accepted: Array<[text: string, value: number | string]>
  rejected: string[]
}

const ids: Values = {
  accepted: [['0011', 11], ['9007199254740991', Number.MAX_SAFE_INTEGER]],
  rejected: [
    '', '0', '-1', '-11', '1.5', '11.0', '1e1', '0xb', '+11', '%2011', '11%20', 'x', '9007199254740992', '11,12',
    'null', '%D9%A1'
  ]
}
const texts: Values = {
  accepted: [
    ['On+hold+%26+%C3%A9', 'On hold & é'], ['x'.repeat(64), 'x'.repeat(64)], [faces.repeat(64), '😀'.repeat(64)]
  ],
  rejected: ['', 'x'.repeat(65), faces.repeat(65), 'x'.repeat(4000)]
}
const searches: Values = {
  accepted: [['%20Ada%20%20L%20', 'Ada  L']],
  rejected: ['x'.repeat(201), '%C3%A9'.repeat(201), faces.repeat(201), 'x'.repeat(5000)]
}
const times: Values = {
  accepted: instants.map(([text, time]) => [encodeURIComponent(text), time]),
  rejected: [
    '2026-03-01', '2026-03-01T12:00:00', '2026-03-01%2012:00:00Z', '2026-03-01T12:00:00%2B0200',
    '2026-03-01T12:00:00%2B24:00', '2026-03-01T24:00:00Z', '2026-03-01T12:00:60Z', '2026-13-01T00:00:00Z',
    '1900-02-29T00:00:00Z', '0000-12-31T23:59:59Z', '0001-01-01T00:00:00%2B00:01', '9999-12-31T23:59:60Z', '1772366400',
    'now', '%202026-03-01T12:00:00Z',
    encodeURIComponent('٢٠٢٦-03-01T12:00:00Z'), '2026-03-01T12:00:00+02:00'
  ]
}

/** All filters of candidates and jobs, with their port names and the fields they read. */
const filters: Array<[list: 'candidates' | 'jobs', parameter: string, name: string, field: string, values: Values]> = [
  ['candidates', 'filter[recruiter_id]', 'recruiterId', 'recruiter_id', ids],
  ['candidates', 'filter[q]', 'q', 'full_name', searches],
  ['candidates', 'filter[updated_after]', 'updatedAfter', 'updated_at', times],
  ['jobs', 'filter[status]', 'status', 'status', texts],
  ['jobs', 'filter[q]', 'q', 'name', searches],
  ['jobs', 'filter[updated_after]', 'updatedAfter', 'updated_at', times]
]

const accepted: Array<[list: string, query: string, filter: object]> = [
  ...filters.flatMap(([list, parameter, name, , { accepted }]) =>
    accepted.map(([text, value]): [string, string, object] => [list, `${parameter}=${text}`, { [name]: value }])),
  ['candidates', 'filter[q]=ada&filter[updated_after]=2026-01-02T00:00:00Z&filter[recruiter_id]=12',
    { q: 'ada', updatedAfter: '2026-01-02T00:00:00.000Z', recruiterId: 12 }],
  ...blank.map((text): [string, string, object] => ['jobs', `filter[q]${text}`, {}])
]

t.test('the document contains the filters of this test', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json()
  for (const list of ['candidates', 'jobs']) {
    const parameters: Array<{ name: string }> = paths[`/api/v1/public/{tenant_slug}/${list}`].get.parameters
    const documented = parameters.map(({ name }) => name).filter((name) => name.startsWith('filter['))
    t.strictSame(documented, filters.filter(([of]) => of === list).map(([, parameter]) => parameter), list)
  }
})

t.test('a page and its total get the same converted filter: numbers, trimmed text, none if blank, and times in UTC', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const [list, query, filter] of accepted) {
    calls.length = 0
    t.equal((await requestList(app, list, query)).statusCode, 200, query)
    t.match(calls, [{ method: `${list}.count` }, { method: `${list}.list` }])
    const asked = calls.map(({ args: [, given] }) => (given as { filter?: object }).filter ?? given)
    t.strictSame(asked, [filter, filter], query)
  }
})

t.test('an invalid filter value gets 400', async (t) => {
  const app = await buildApp(t)
  const rejected = [
    ...filters.map(([list, parameter, , , { rejected }]) => [list, parameter, rejected] as const),
    ['webhooks', 'filter[status]', ['', 'gone']],
    ['webhooks/1/deliveries', 'filter[status]', ['', 'gone']],
    ['webhooks/1/deliveries', 'filter[event_type]', ['']],
    ['webhooks/1/deliveries', 'filter[event_id]', ['']]
  ] as const
  for (const [list, parameter, values] of rejected) {
    for (const value of values) {
      checkError(t, await requestList(app, list, `${parameter}=${value}`), 400, `${parameter}=${value.slice(0, 30)}`)
    }
  }
})

t.test('a key cannot filter by a published field that it cannot see', async (t) => {
  const key = { key: 'blind', tenantSlug: 'acme', scopes: allScopes, candidateFields: [], jobFields: [] }
  const own = Type.Object({ recruiter_id: Type.Integer(), updated_at: Type.String() })
  const options = { keyLookup: memoryKeyLookup([key]), errorDetails: true, openapi: false } as const
  const app = await buildApp(t, { ...options, candidateFields: own, jobFields: own })
  for (const [list, parameter, , hidden, { accepted: [[text] = ['']] }] of filters) {
    for (const value of parameter === 'filter[q]' ? [text, ''] : [text]) {
      const url = `/api/v1/public/acme/${list}?${parameter}=${value}`
      const { statusCode, body } = await app.inject({ url, headers: bearer('blind') })
      const message = `the API key cannot read the field ${hidden}`
      t.same([statusCode, JSON.parse(body).error.details], [400, [{ in: 'query', field: parameter, message }]], url)
    }
  }
})
