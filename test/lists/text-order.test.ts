import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { fetchPage } from '../fixtures/api/lists.js'

/** Ascending by code point, which differs from every alphabet and from the order of UTF-16 units. */
const names = [
  '', ' ', ' b', '"', '10', '2', 'A', 'B', 'Z', 'Zoe', '_', 'a', 'a b', 'aB', 'ab', 'b', 'z', '\u00c9', '\u00e9', '\u00fc', '\u0141', '\u03a9',
  '\u0416', '\u05d0', '\u3042', '\u4e2d', '\ue000', '\ufb01', '\uff21', '\ufffd', '\u{10000}', '\u{1d400}', '\u{1f600}', '\u{10ffff}'
]

// Neither the ids nor the order in which rows are stored give the answer away.
const shuffled = names.map((name, index) => ({ id: (index * 7) % names.length + 1, name })).sort((a, b) => a.id - b.id)

t.test('text is ordered by Unicode code point', async (t) => {
  const storage = memoryStorage({
    tenants: {
      acme: {
        candidates: shuffled.map(({ id, name }) => ({ id, full_name: name })),
        jobs: shuffled.map(({ id, name }) => ({ id, name, status: name }))
      }
    }
  })
  const app = await buildApp(t, { storage })
  const candidates = await fetchPage<{ full_name: string }>(app, 'candidates', 'sort=full_name&per_page=200')
  t.same(candidates.data.map((item) => item.full_name), names)
  for (const field of ['name', 'status'] as const) {
    const up = await fetchPage<{ name: string, status: string }>(app, 'jobs', `sort=${field}&per_page=200`)
    const down = await fetchPage<{ name: string, status: string }>(app, 'jobs', `sort=-${field}&per_page=200`)
    t.same(up.data.map((item) => item[field]), names)
    t.same(down.data.map((item) => item[field]), names.toReversed())
  }
})

t.test('dates are ordered by time, however they were written', async (t) => {
  const dates = ['2026-01-01T00:00:00Z', '2025-12-31T20:00:00.5-05:00', '2026-01-01T02:00:00+01:00', '2026-01-01t01:00:00.499z']
  const storage = memoryStorage({
    tenants: { acme: { candidates: dates.map((date, index) => ({ id: index + 1, full_name: 'x', created_at: date, updated_at: date })) } }
  })
  const app = await buildApp(t, { storage })
  for (const field of ['created_at', 'updated_at']) {
    const { data } = await fetchPage(app, 'candidates', `sort=${field}`)
    t.same(data.map(({ id }) => id), [1, 3, 4, 2], field)
  }
})
