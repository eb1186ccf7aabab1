import t from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { buildAppWithRoutes, requestTo, titleOf } from '../fixtures/api/routes.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { fetchIds, lists, requestList } from '../fixtures/api/lists.js'
import { rejectedSorts } from '../fixtures/api/rejected-queries.js'

const unknown = [
  'unknown', 'unknown=', 'unknown=1', '=', '=1', 'Page=1', 'PAGE=1', 'page[]=1', 'page[0]=1', 'filter=x', 'filter[]=x', 'filter[unknown]=x',
  'filter[q][]=x', 'filter[q]x=x', 'filter.q=x', 'filter%5Bunknown%5D=x', 'filter%255Bq%255D=x', 'filter[__proto__]=x', '__proto__=x', 'constructor=x',
  'toString=x', 'hasOwnProperty=x', 'limit=1', 'offset=1', 'q=x', 'tenant_slug=globex', 'id=1', 'api_key=x', '%20page=1', 'page%20=1',
  'pa%67e2=1', '&&unknown=1', 'unknown=1&page=1', '?page=1'
]

t.test('every operation rejects unknown and repeated parameters', async (t) => {
  const { storage, calls } = spyStorage()
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  for (const route of routes) {
    for (const query of [...unknown, ...repeated]) {
      const answer = await app.inject(requestTo(route, { query: `?${query}` }))
      if (route.method === 'HEAD') t.equal(answer.statusCode, 400, `${titleOf(route)}?${query}`)
      else checkError(t, answer, 400, `${titleOf(route)}?${query}`)
    }
  }
  t.same(calls, [], 'the storage is not called')
})

const repeated = [
  'page=1&page=1', 'page=1&page=2', 'page=1&per_page=2&page=1', 'page&page', 'p%61ge=1&page=1', 'sort=id&sort=id', 'filter[q]=a&filter%5Bq%5D=b',
  'filter[q]=&filter[q]=', 'filter%5bstatus%5d=a&filter%5Bstatus%5D=b', 'unknown=1&unknown=1', '__proto__=1&__proto__=1', '=&='
]

t.test('empty parts of the query are ignored', async (t) => {
  const { app } = await buildAppWithRoutes(t)
  for (const query of ['', '&', '&&&', '&page=1&', 'page=1&&per_page=1']) {
    const answer = await app.inject({ url: `/api/v1/public/acme/jobs?${query}`, headers: bearer(keys.full) })
    t.equal(answer.statusCode, 200, `?${query}`)
  }
})

const storage = memoryStorage({
  tenants: { acme: { candidates: ['Ada', 'A+B', 'A B', 'A&B', 'A=B', 'A#B', 'A?B', 'A/B', 'A%20B', 'é'].map((name, index) => ({ id: index + 1, full_name: name })) } }
})

const same: Array<[query: string, ids: number[]]> = [
  ['filter%5bq%5d=ada', [1]],
  ['%66%69%6C%74%65%72%5B%71%5D=%61%64%61', [1]],
  ['filter[q]=A%2BB', [2]],
  ['filter[q]=A+B', [3]],
  ['filter[q]=A%26B', [4]],
  ['filter[q]=A=B', [5]],
  ['filter[q]=A%2520B', [9]],
  ['filter[q]=%C3%89', [10]],
  ['sort=%2did&per_page=1', [10]]
]

t.test('a query means the same in every encoding of its names and values', async (t) => {
  const app = await buildApp(t, { storage })
  for (const [query, ids] of same) t.same(await fetchIds(app, 'candidates', query), ids, query)
})

t.test('the storage always receives a total order', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  const expected: Array<[sort: string, items: string[]]> = [
    ['id', ['id asc']], ['-id', ['id desc']], ['name', ['name asc', 'id asc']], ['-name', ['name desc', 'id desc']],
    ['name,-status', ['name asc', 'status desc', 'id desc']], ['-name,status', ['name desc', 'status asc', 'id asc']],
    ['-name,-status,created_at', ['name desc', 'status desc', 'created_at asc', 'id asc']], ['id,-name', ['id asc', 'name desc']]
  ]
  for (const [sort, items] of expected) {
    calls.length = 0
    // The second time, it may come from a cache.
    for (let round = 0; round < 2; round++) await requestList(app, 'jobs', `sort=${sort}`)
    const queries = calls
      .filter(({ method }) => method === 'jobs.list')
      .map(({ args }) => args[1] as { sort: Array<{ field: string, direction: string }> })
    const asked = queries.map((query) => query.sort.map(({ field, direction }) => `${field} ${direction}`))
    t.same(asked, [items, items], sort)
  }
})

const foreign = {
  candidates: ['name', 'status'],
  jobs: ['full_name'],
  webhooks: ['full_name', 'status', 'event_types'],
  'webhooks/1/deliveries': ['updated_at', 'name', 'status', 'event_type', 'delivered_at', 'next_attempt_at']
}

for (const list of lists) {
  t.test(`${list}: a sort with unknown, repeated, empty or more than three fields gets 400`, async (t) => {
    const { storage, calls } = spyStorage()
    const app = await buildApp(t, { storage })
    for (const query of [...rejectedSorts, ...foreign[list].map((field) => `sort=${field}`)]) {
      checkError(t, await requestList(app, list, query), 400, query.slice(0, 60))
    }
    t.same(calls, [])
  })
}
