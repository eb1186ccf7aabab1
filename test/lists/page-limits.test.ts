import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { fetchPage, lists, requestList, storeItems } from '../fixtures/api/lists.js'
import { notIntegers, overMaximum } from '../fixtures/api/refused-queries.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

for (const list of lists) {
  for (const name of ['page', 'per_page'] as const) {
    t.test(`${list}: a ${name} that is no integer within its bounds gets 400, and is never clamped`, async (t) => {
      const { storage, calls } = spyStorage()
      const app = await buildApp(t, { storage })
      for (const value of [...notIntegers, ...overMaximum[name]]) {
        checkError(t, await requestList(app, list, `${name}=${value}`), 400, `${name}=${value.slice(0, 20)}`)
      }
      checkError(t, await requestList(app, list, name), 400, `${name} without a value`)
      t.same(calls, [])
    })
  }

  t.test(`${list}: a page and a per_page at their bounds are accepted`, async (t) => {
    const app = await buildApp(t, await storeItems(3))
    for (const [query, page, perPage] of [
      ['page=1&per_page=1', 1, 1], ['page=2147483647&per_page=200', 2147483647, 200], ['per_page=200', 1, 200],
      ['page=2', 2, 25], ['page=01&per_page=0003', 1, 3], ['page=0000000000000000000000002', 2, 25]
    ] as const) {
      const { meta } = await fetchPage(app, list, query)
      t.same([meta.page, meta.per_page], [page, perPage], query)
    }
  })
}

t.test('a page reaches the storage as an offset and a limit', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  await fetchPage(app, 'candidates', 'page=2147483647&per_page=200')
  t.same(calls, [
    { method: 'candidates.count', args: ['acme', {}] },
    {
      method: 'candidates.list',
      args: ['acme', { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 429496729200, limit: 200, fields: ['id', 'full_name', 'headline', 'source_id'] }]
    }
  ])
})
