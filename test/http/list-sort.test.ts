import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'
import { lists, requestList } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { checkError } from '../fixtures/api/answers.js'
import { refusedSorts } from '../fixtures/api/refused-queries.js'

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
    // The second time it may come from what was kept.
    for (let round = 0; round < 2; round++) await requestList(app, 'jobs', `sort=${sort}`)
    const told = calls.filter(({ method }) => method === 'jobs.list').map(({ args }) => args[1] as { sort: Array<{ field: string, direction: string }> })
    t.same(told.map((query) => query.sort.map(({ field, direction }) => `${field} ${direction}`)), [items, items], sort)
  }
})

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
