import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { fetchIds, requestList } from '../fixtures/api/lists.js'

const storage = memoryStorage({
  tenants: { acme: { candidates: ['Ada', 'A+B', 'A B', 'A&B', 'A=B', 'A#B', 'A?B', 'A/B', 'A%20B', 'é'].map((name, index) => ({ id: index + 1, full_name: name })) } }
})

const same: Array<[query: string, ids: number[]]> = [
  ['filter[q]=ada', [1]],
  ['filter%5Bq%5D=ada', [1]],
  ['filter%5bq%5d=ada', [1]],
  ['filter[q%5D=ada', [1]],
  ['filter%5Bq]=ada', [1]],
  ['%66%69%6C%74%65%72%5B%71%5D=%61%64%61', [1]],
  ['&filter[q]=ada&', [1]],
  ['filter[q]=A%2BB', [2]],
  ['filter[q]=A+B', [3]],
  ['filter[q]=A%20B', [3]],
  ['filter[q]=A%26B', [4]],
  ['filter[q]=A%3DB', [5]],
  ['filter[q]=A=B', [5]],
  ['filter[q]=A%23B', [6]],
  ['filter[q]=A%3FB', [7]],
  ['filter[q]=A?B', [7]],
  ['filter[q]=A/B', [8]],
  ['filter[q]=A%2FB', [8]],
  ['filter[q]=A%2520B', [9]],
  ['filter[q]=%C3%A9', [10]],
  ['filter[q]=%C3%89', [10]],
  ['p%61ge=2&per_page=9', [10]],
  ['page=%32&per_page=%39', [10]],
  ['sort=%2did&per_page=1', [10]],
  ['sort=full_name%2Cid&per_page=1', [3]]
]

t.test('a query means the same in every encoding of its names and values', async (t) => {
  const app = await buildApp(t, { storage })
  for (const [query, ids] of same) t.same(await fetchIds(app, 'candidates', query), ids, query)
})

t.test('a name that is encoded twice is another name', async (t) => {
  const app = await buildApp(t, { storage })
  for (const query of ['filter%255Bq%255D=ada', 'filter%5B%5Bq%5D%5D=ada', 'filter[q]%5B%5D=ada', '%20filter[q]=ada', 'filter+[q]=ada', 'FILTER[q]=ada']) {
    checkError(t, await requestList(app, 'candidates', query), 400, query)
  }
})
