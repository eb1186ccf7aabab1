import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { lists, requestList } from '../fixtures/api/lists.js'
import { refusedSorts } from '../fixtures/api/refused-queries.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const foreign = {
  candidates: ['name', 'status'],
  jobs: ['full_name'],
  webhooks: ['full_name', 'status', 'event_types'],
  'webhooks/1/deliveries': ['updated_at', 'name', 'status', 'event_type', 'delivered_at', 'next_attempt_at']
}

for (const list of lists) {
  t.test(`${list}: a sort of unknown, repeated, empty or more than three fields gets 400`, async (t) => {
    const { storage, calls } = spyStorage()
    const app = await buildApp(t, { storage })
    for (const query of [...refusedSorts, ...foreign[list].map((field) => `sort=${field}`)]) {
      checkError(t, await requestList(app, list, query), 400, query.slice(0, 60))
    }
    t.same(calls, [])
  })
}

t.test('a fourth field gets 400', async (t) => {
  const app = await buildApp(t)
  checkError(t, await requestList(app, 'candidates', 'sort=full_name,created_at,updated_at,id'), 400)
  checkError(t, await requestList(app, 'jobs', 'sort=name,status,created_at,updated_at'), 400)
  checkError(t, await requestList(app, 'webhooks', 'sort=name,created_at,updated_at,-id'), 400)
})
