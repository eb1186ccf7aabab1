import { same } from '../support/expect.js'
import { rowCases } from './rows.js'
import type { Sample } from './rows.js'

function samples (from: number, to: number): Sample[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    id: from + index,
    name: index % 2 === 0 ? 'even' : 'odd'
  }))
}

/** Cases about pages and totals. */
export const pageCases = [
  rowCases({ port: 'list', name: 'a page is a slice of the order, after the filter' }, async (rows) => {
    await rows.save(samples(1, 7))
    same(await rows.ids({ offset: 0, limit: 3 }), [1, 2, 3], 'offset 0, limit 3')
    same(await rows.ids({ offset: 3, limit: 3 }), [4, 5, 6], 'offset 3, limit 3')
    same(await rows.ids({ offset: 6, limit: 3 }), [7], 'offset 6, limit 3')
    same(await rows.ids({ filter: { q: 'even' }, offset: 1, limit: 2 }), [3, 5], 'offset 1, limit 2 of 1, 3, 5 and 7')
    same(await rows.ids({ sort: [{ field: 'id', direction: 'desc' }], offset: 1, limit: 2 }), [6, 5],
      'offset 1, limit 2, descending')
  }),

  rowCases({ port: 'list', name: 'pages in an order with ties show every row once' }, async (rows) => {
    await rows.save(samples(1, 23))
    for (const field of ['name', 'created_at', 'updated_at'] as const) {
      const seen: number[] = []
      for (let offset = 0; offset < 25; offset += 5) {
        seen.push(
          ...(await rows.ids({
            sort: [
              { field, direction: 'asc' },
              { field: 'id', direction: 'asc' }
            ],
            offset,
            limit: 5
          }))
        )
      }
      same(seen.toSorted((a, b) => a - b), samples(1, 23).map(({ id }) => id), `the rows of five pages by ${field}`)
    }
  }),

  rowCases({ port: 'list', name: 'a page has up to 200 rows' }, async (rows) => {
    await rows.save(samples(1, 201))
    same((await rows.ids({ limit: 200 })).length, 200, 'the rows of a page of 200')
    same(await rows.ids({ offset: 200, limit: 200 }), [201], 'the page after it')
    same(await rows.ids({ limit: 1 }), [1], 'a page of one')
  }),

  rowCases({ port: 'list', name: 'pages beyond the last row are empty, however far' }, async (rows) => {
    await rows.save(samples(1, 2))
    for (const offset of [2, 3, 200, 2_147_483_648, 429_496_729_200]) {
      same(await rows.ids({ offset, limit: 200 }), [], `offset ${offset}`)
    }
    same(await rows.count(), 2, 'the total')
  }),

  rowCases({ port: 'list', name: 'a tenant that is unknown or has no rows gets an empty list' }, async (rows) => {
    await rows.save(samples(1, 2))
    for (const tenantSlug of ['globex', 'nobody', '__proto__', 'constructor']) {
      same(await rows.ids({}, tenantSlug), [], `the rows of ${tenantSlug}`)
      same(await rows.count({}, tenantSlug), 0, `the total of ${tenantSlug}`)
    }
  }),

  rowCases({ port: 'count', name: 'the total does not depend on the page' }, async (rows) => {
    await rows.save(samples(1, 30))
    same(await rows.count(), 30, 'the total')
    same(await rows.count({ q: 'odd' }), 15, 'the number that pass q')
    same(await rows.count({ q: 'neither' }), 0, 'the number that pass a q without matches')
  }),

  rowCases({ port: 'list', name: 'rows saved between two pages by id neither repeat nor hide rows' }, async (rows) => {
    await rows.save(samples(1, 6))
    const first = await rows.ids({ limit: 4 })
    await rows.save(samples(7, 9))
    same([...first, ...await rows.ids({ offset: 4, limit: 5 })], [1, 2, 3, 4, 5, 6, 7, 8, 9],
      'a page, three rows saved, the next page')
  }),

  rowCases({ port: 'list', name: 'pages read while rows are saved contain each row once, in order' }, async (rows) => {
    await rows.save(samples(1, 50))
    const saving = [60, 70, 80].map((from) => rows.save(samples(from, from + 9)))
    const pages = await Promise.all([0, 0, 0, 0].map(() => rows.ids({ limit: 200 })))
    await Promise.all(saving)
    for (const ids of pages) {
      same(ids, [...new Set(ids)].sort((a, b) => a - b), 'a page read while rows are saved')
      same(ids.slice(0, 50), samples(1, 50).map(({ id }) => id), 'the rows saved before')
    }
    same((await rows.ids()).length, 80, 'the rows after all were saved')
  })
].flat()
