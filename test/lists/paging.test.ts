import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'
import { fetchIds, fetchPage, lists, storeItems } from '../fixtures/api/lists.js'

for (const list of lists) {
  t.test(`${list}: the first 25 come without a query, with the true total`, async (t) => {
    const app = await buildApp(t, await storeItems(60))
    const { data, meta } = await fetchPage(app, list)
    t.equal(data.length, 25)
    t.same(meta, { page: 1, per_page: 25, total: meta.total, total_pages: Math.ceil(meta.total / 25) })
    t.ok(meta.total >= 60)
  })

  t.test(`${list}: the pages of any size are the whole list cut up`, async (t) => {
    const app = await buildApp(t, await storeItems(12))
    const whole = await fetchPage(app, list, 'per_page=200')
    const all = whole.data.map(({ id }) => id)
    t.equal(all.length, whole.meta.total)
    for (const perPage of [1, 2, 5, 11, 12, 13, 199]) {
      const ids: number[] = []
      const totalPages = Math.ceil(all.length / perPage)
      for (let page = 1; page <= totalPages; page++) {
        const { data, meta } = await fetchPage(app, list, `page=${page}&per_page=${perPage}`)
        t.same(meta, { page, per_page: perPage, total: all.length, total_pages: totalPages })
        ids.push(...data.map(({ id }) => id))
      }
      t.same(ids, all, `by ${perPage}`)
    }
  })

  t.test(`${list}: a page beyond the last is empty, and keeps its number and the true total`, async (t) => {
    const app = await buildApp(t, await storeItems(3))
    const { meta: { total } } = await fetchPage(app, list)
    for (const page of [2, 3, 1000, 2147483647]) {
      t.same(await fetchPage(app, list, `page=${page}`), { data: [], meta: { page, per_page: 25, total, total_pages: 1 } })
      t.same(await fetchIds(app, list, `page=${page}&per_page=200`), [])
    }
  })
}

for (const list of ['candidates', 'jobs', 'webhooks']) {
  t.test(`${list}: an empty list has a total of 0 and no pages`, async (t) => {
    const app = await buildApp(t, await storeItems(0))
    t.same(await fetchPage(app, list), { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
    t.same(await fetchPage(app, list, 'page=9&per_page=7'), { data: [], meta: { page: 9, per_page: 7, total: 0, total_pages: 0 } })
  })
}

t.test('a page is an object with data and meta, to the byte', async (t) => {
  const { storage } = await storeItems(2)
  const app = await buildApp(t, { storage })
  const { body } = await app.inject({ url: '/api/v1/public/acme/jobs?per_page=1&page=2', headers: { authorization: 'Bearer acme-full-key' } })
  t.equal(body, '{"data":[{"id":2,"name":"Name 2","status":"published"}],"meta":{"page":2,"per_page":1,"total":2,"total_pages":2}}')
})
