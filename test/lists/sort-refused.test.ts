import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { lists, requestList } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const refused = [
  'sort', 'sort=', 'sort=%20', 'sort=-', 'sort=--id', 'sort=%2Bid', 'sort=+id', 'sort=id%20', 'sort=%20id', 'sort=id,', 'sort=,id', 'sort=,',
  'sort=id,,created_at', 'sort=id,id', 'sort=id,-id', 'sort=-id,id', 'sort=created_at,id,created_at', 'sort=created_at,-created_at',
  'sort=ID', 'sort=Id', 'sort=unknown', 'sort=id,unknown', 'sort=-unknown', 'sort=id%20desc', 'sort=id:desc', 'sort=id.desc', 'sort=id;created_at',
  'sort=id,%20created_at', 'sort=created_at|id', 'sort=createdAt', 'sort=__proto__', 'sort=constructor', 'sort=toString',
  'sort=secret', 'sort=tenant_slug', 'sort=target_url', 'sort=headline', 'sort=source_id', 'sort=recruiter_id', 'sort=event_id', 'sort=1', 'sort=*',
  'sort[]=id', 'sort[id]=desc', 'sort=[id]', 'sort=id%00', 'sort=id)%3Bdrop%20table', `sort=${'id,'.repeat(1000)}id`, 'sort=-id-', 'sort=i%64,id'
]

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
    for (const query of [...refused, ...foreign[list].map((field) => `sort=${field}`)]) {
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
