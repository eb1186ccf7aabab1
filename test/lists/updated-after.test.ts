import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { fetchIds, requestList } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const dates = [
  '0001-01-01T00:00:00.001Z', '2015-06-30T23:59:59.999Z', '2015-07-01T00:00:00.000Z', '2015-07-01T00:00:00.001Z', '2026-03-01T12:00:00.000Z',
  '2026-03-01T12:00:00.500Z', '9999-12-31T23:59:59.998Z', '9999-12-31T23:59:59.999Z'
]

const storage = memoryStorage({
  tenants: {
    acme: {
      candidates: dates.map((date, index) => ({ id: index + 1, full_name: 'x', updated_at: date })),
      jobs: dates.map((date, index) => ({ id: index + 1, name: 'x', status: 'x', updated_at: date }))
    }
  }
})

/** The number of the first row that is strictly later, 9 for none. */
const accepted: Array<[text: string, first: number]> = [
  ['0001-01-01T00:00:00Z', 1],
  ['0001-01-01T00:00:00.001Z', 2],
  ['0001-01-01T02:00:00+02:00', 1],
  ['2015-06-30T23:59:59.998Z', 2],
  ['2015-06-30T23:59:59.999Z', 3],
  ['2015-06-30T23:59:59.9999Z', 3],
  ['2015-06-30T23:59:60Z', 4],
  ['2015-06-30T23:59:60.000Z', 4],
  ['2015-06-30T23:59:60.001Z', 5],
  ['2015-07-01T01:59:60+02:00', 4],
  ['2015-06-30T15:59:60-08:00', 4],
  ['2015-07-01T00:00:00Z', 4],
  ['2026-03-01T12:00:00Z', 6],
  ['2026-03-01T12:00:00.0Z', 6],
  ['2026-03-01T12:00:00.4Z', 6],
  ['2026-03-01T12:00:00.5Z', 7],
  ['2026-03-01T12:00:00.500000000Z', 7],
  ['2026-03-01T12:00:00.499999999Z', 6],
  ['2026-03-01t12:00:00z', 6],
  ['2026-03-01T12:00:00+00:00', 6],
  ['2026-03-01T12:00:00-00:00', 6],
  ['2026-03-01T14:00:00+02:00', 6],
  ['2026-03-01T06:30:00-05:30', 6],
  ['2026-03-02T11:59:00+23:59', 6],
  ['2026-02-28T12:01:00-23:59', 6],
  ['2024-02-29T00:00:00Z', 5],
  ['9999-12-31T23:59:59.998Z', 8],
  ['9999-12-31T23:59:59.999Z', 9],
  ['9999-12-31T23:59:59.999+00:00', 9]
]

const refused = [
  '2026', '2026-03', '2026-03-01', '2026-03-01T12:00Z', '2026-03-01T12:00:00', '2026-03-01 12:00:00Z', '2026-03-01_12:00:00Z', '20260301T120000Z',
  '2026-03-01T12:00:00+02', '2026-03-01T12:00:00+0200', '2026-03-01T12:00:00 02:00', '2026-03-01T12:00:00+24:00', '2026-03-01T12:00:00+02:60',
  '2026-03-01T12:00:00ZZ', '2026-03-01T12:00:00Z+00:00', '2026-03-01T12:00:00.Z', '2026-03-01T12:00:00,5Z', '2026-03-01T24:00:00Z',
  '2026-03-01T12:60:00Z', '2026-03-01T12:00:60Z', '2026-03-01T23:59:61Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-03-00T00:00:00Z',
  '2026-03-32T00:00:00Z', '2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z', '1900-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '26-03-01T00:00:00Z',
  '02026-03-01T00:00:00Z', '+002026-03-01T00:00:00Z', '-000001-01-01T00:00:00Z', '-2026-03-01T00:00:00Z', '10000-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z', '0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01', '0001-01-01T01:00:00+02:00', '9999-12-31T23:59:59-00:01',
  '9999-12-31T23:59:60Z', '2026-3-1T00:00:00Z', '2026-W09-7T00:00:00Z', '1772366400', '1772366400000', 'now', 'yesterday', 'null',
  'Sun, 01 Mar 2026 12:00:00 GMT', ' 2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z ', '٢٠٢٦-03-01T12:00:00Z'
]

for (const list of ['candidates', 'jobs']) {
  t.test(`${list}: filter[updated_after] keeps what was updated strictly later`, async (t) => {
    const app = await buildApp(t, { storage })
    for (const [text, first] of accepted) {
      const wanted = dates.map((_date, index) => index + 1).filter((id) => id >= first)
      t.same(await fetchIds(app, list, `filter[updated_after]=${encodeURIComponent(text)}`), wanted, text)
    }
  })

  t.test(`${list}: a filter[updated_after] that is no RFC 3339 date-time of the years 1 to 9999 gets 400`, async (t) => {
    const app = await buildApp(t, { storage })
    for (const text of refused) {
      checkError(t, await requestList(app, list, `filter[updated_after]=${encodeURIComponent(text)}`), 400, text)
    }
    checkError(t, await requestList(app, list, 'filter[updated_after]=2026-03-01T12:00:00+02:00'), 400, 'a plus sign that is a blank')
  })
}

t.test('the storage receives the time in UTC with milliseconds', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  const told: Array<[text: string, time: string]> = [
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'], ['2026-03-01t14:30:00.123456+02:30', '2026-03-01T12:00:00.123Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'], ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z']
  ]
  for (const [text, time] of told) {
    calls.length = 0
    await requestList(app, 'jobs', `filter[updated_after]=${encodeURIComponent(text)}`)
    t.same(calls.find(({ method }) => method === 'jobs.count')?.args, ['acme', { updatedAfter: time }], text)
  }
})
