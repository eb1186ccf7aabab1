import { same } from '../support/expect.js'
import { pick, resourceCase, rowCases, type Sample } from './rows.js'

function samples (from: number, to: number): Sample[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    id: from + index, name: index % 2 === 0 ? 'even' : 'odd'
  }))
}

// In code point order. UTF-16 order would move the last two forward, locale order almost all.
const words = [
  ' a', 'Z', 'Zz', '_', 'a', 'a b', 'aa', 'z', 'Ä', 'É', 'ä', 'é', 'ı', 'Ж', 'ﬀ', '\uffee', '\u{10400}', '\u{1f600}'
]

export const pageCases = [
  // About pages and totals.
  rowCases('list', 'a page is a slice of the order, after the filter', async (rows) => {
    await rows.save(samples(1, 7))
    same(await rows.ids({ offset: 0, limit: 3 }), [1, 2, 3], 'offset 0, limit 3')
    same(await rows.ids({ offset: 3, limit: 3 }), [4, 5, 6], 'offset 3, limit 3')
    same(await rows.ids({ offset: 6, limit: 3 }), [7], 'offset 6, limit 3')
    same(await rows.ids({ filter: { q: 'even' }, offset: 1, limit: 2 }), [3, 5], 'offset 1, limit 2 of 1, 3, 5 and 7')
    same(await rows.ids({ sort: ['-id'], offset: 1, limit: 2 }), [6, 5],
      'offset 1, limit 2, descending')
  }),

  rowCases('list', 'pages of an order with ties contain every row once', async (rows) => {
    await rows.save(samples(1, 23))
    for (const field of ['name', 'created_at', 'updated_at']) {
      const seen: number[] = []
      for (let offset = 0; offset < 25; offset += 5) {
        seen.push(...await rows.ids({ sort: [field, 'id'], offset, limit: 5 }))
      }
      same(seen.toSorted((a, b) => a - b), samples(1, 23).map(({ id }) => id), `the rows of five pages by ${field}`)
    }
  }),

  rowCases('list', 'a page has up to 200 rows, and none beyond the last row, even far beyond', async (rows) => {
    await rows.save(samples(1, 201))
    same((await rows.ids({ limit: 200 })).length, 200, 'the rows of a page of 200')
    same(await rows.ids({ offset: 200, limit: 200 }), [201], 'the page after it')
    for (const offset of [201, 202, 400, 2_147_483_648, 429_496_729_200]) {
      same(await rows.ids({ offset, limit: 200 }), [], `offset ${offset}`)
    }
    same(await rows.count(), 201, 'the total')
  }),

  rowCases('page', 'a page with its total has the rows of list and the total of count', async (rows) => {
    await rows.save(samples(1, 30))
    const filters = [{}, { q: 'odd' }, { q: 'neither' }]
    const slices = [{}, { offset: 4, sort: ['-name', 'id'] }, { offset: 30 }, { offset: 900, sort: ['-id'] }]
    for (const query of filters.flatMap((filter) => slices.map((slice) => ({ filter, limit: 7, ...slice })))) {
      for (const tenant of ['acme', 'nobody']) {
        const page = await rows.page(query, tenant)
        if (page === null) return
        const list = await rows.list(query, tenant)
        const [found, listed] = [page.rows, list].map((all) => all.map((row) => pick(row, rows.fields)))
        same([found, page.total], [listed, await rows.count(query.filter, tenant)],
          `the page of ${tenant} for ${JSON.stringify(query)}`)
      }
    }
  }),

  rowCases('list', 'pages read while rows are saved contain each row once, in order', async (rows) => {
    await rows.save(samples(1, 50))
    const saving = [60, 70, 80].map((from) => rows.save(samples(from, from + 9)))
    const pages = await Promise.all([0, 0, 0, 0].map(() => rows.ids({ limit: 200 })))
    await Promise.all(saving)
    for (const ids of pages) {
      same(ids, [...new Set(ids)].sort((a, b) => a - b), 'a page read while rows are saved')
      same(ids.slice(0, 50), samples(1, 50).map(({ id }) => id), 'the rows saved before')
    }
    same((await rows.ids()).length, 80, 'the rows after all were saved')
  }),

  // About the order of rows.
  rowCases('list', 'text is sorted by code point in every language', async (rows) => {
    const samples = words.map((name, index) => ({ id: index + 1, name }))
    await rows.save(samples.toReversed())
    const expected = samples.map(({ id }) => id)
    same(await rows.ids({ sort: ['name', 'id'] }), expected, `the order of ${words.join(' | ')}`)
    same(await rows.ids({ sort: ['-name', '-id'] }), expected.toReversed(), 'the same words, descending')
  }),

  rowCases('list', 'dates are sorted by value, to the millisecond', async (rows) => {
    const dates = [
      '1969-12-31T23:59:59.999Z', '2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z',
      '2026-01-01T00:00:01.000Z', '9999-12-31T23:59:59.999Z'
    ] as const
    await rows.save([
      { id: 1, created_at: dates[1], updated_at: dates[2] }, { id: 2, created_at: dates[3], updated_at: dates[4] },
      { id: 3, created_at: dates[5], updated_at: dates[0] }, { id: 4, created_at: dates[4], updated_at: dates[5] },
      { id: 5, created_at: dates[0], updated_at: dates[3] }, { id: 6, created_at: dates[2], updated_at: dates[1] }
    ])
    const orders = { created_at: [5, 1, 6, 2, 4, 3], updated_at: [3, 6, 1, 5, 2, 4] }
    for (const field of ['created_at', 'updated_at'] as const) {
      const expected = orders[field]
      same(await rows.ids({ sort: [field, 'id'] }), expected, `ascending ${field}`)
      same(await rows.ids({ sort: [`-${field}`, 'id'] }), expected.toReversed(), `descending ${field}`)
    }
  }),

  rowCases('list', 'ties are broken by the next field, in its own direction', async (rows) => {
    const early = '2026-01-01T00:00:00.000Z'
    const late = '2026-01-02T00:00:00.000Z'
    await rows.save([
      { id: 3, name: 'a', created_at: early }, { id: 1, name: 'b', created_at: early },
      { id: 4, name: 'a', created_at: late }, { id: 2, name: 'a', created_at: early }
    ])
    for (const [sort, ids] of [
      [['name', 'id'], [2, 3, 4, 1]],
      [['name', '-id'], [4, 3, 2, 1]],
      [['name', '-created_at', 'id'], [4, 2, 3, 1]],
      [['created_at', 'name', '-id'], [3, 2, 1, 4]]
    ] as const) {
      same(await rows.ids({ sort }), ids, `the rows by ${sort.join(', ')}`)
    }
  }),

  [resourceCase('jobs', 'list', 'rows can be sorted by status', async (rows) => {
    await rows.save(['published', 'Closed', 'draft', 'closed'].map((status, index) => ({ id: index + 1, status })))
    same(await rows.ids({ sort: ['status', 'id'] }), [2, 4, 3, 1], 'the jobs in the order of their statuses')
  })]
].flat()
