import t from 'tap'
import type { IdKinds } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { type AppOverrides, bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { fetchIds, parseLinks, requestList } from '../fixtures/api/lists.js'

const ids: IdKinds = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' }
const ada = '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70'
const grace = '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d71'
const strange = '!"#$%&\'()*+,-.:;<=>?@[\\]^_`{|}~'
const tenants = {
  acme: {
    candidates: [
      { id: strange, full_name: 'Alan Turing', source_id: 'a_"b"', recruiter_id: 'a&b=c+d%20' },
      { id: grace, full_name: 'Grace Hopper', source_id: null, recruiter_id: grace },
      { id: ada, full_name: 'Ada Lovelace', headline: 'Analyst', source_id: grace, recruiter_id: ada },
      { id: 'Zz', full_name: 'Same' },
      { id: 'a', full_name: 'Same' }
    ],
    jobs: [{ id: ada, name: 'Compiler Engineer', status: 'published' }]
  },
  globex: { candidates: [{ id: 'theirs', full_name: 'Hank Scorpio' }] }
}

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)
const buildTextApp = (t: Teardown, options: AppOverrides = {}) =>
  buildApp(t, { ids, storage: memoryStorage({ ids, tenants }), ...options })

t.test('a path finds one item by its text id', async (t) => {
  const app = await buildTextApp(t)
  for (const id of [ada, strange, 'Zz']) {
    const answer = await app.inject({ url: `${base}/candidates/${encodeURIComponent(id)}`, headers })
    t.equal(answer.json().data.id, id)
  }
  t.equal((await app.inject({ url: `${base}/jobs/${ada}`, headers })).json().data.id, ada)
})

t.test('items with the ids ., .. and sync are in lists and in sync, although no path can read them', async (t) => {
  const special = ['.', '..', 'sync']
  const candidates = special.map((id) => ({ id, full_name: 'Same' }))
  const app = await buildTextApp(t, { storage: memoryStorage({ ids, tenants: { acme: { candidates } } }) })
  t.same(await fetchIds(app, 'candidates'), special)
  const synced = (await app.inject({ url: `${base}/candidates/sync`, headers })).json()
  t.same(synced.data.map(({ id }: { id: string }) => id), special)
  t.same((await app.inject({ url: `${base}/jobs/%2e%2e/candidates`, headers })).json().meta.total, 3, 'as in a URL')
})

t.test('text that cannot be an id gets 400, in a path and in a filter', async (t) => {
  const app = await buildTextApp(t, { errorDetails: true })
  for (const id of ['', '%20', 'a%20b', 'a%2Fb', '%2e%2f', 'x'.repeat(65), '%00', '%7f', '%C3%A9', '%0a', 'a%0a', '%F0%9F%98%80']) {
    for (const url of [`${base}/candidates/${id}`, `${base}/jobs/${id}`, `${base}/candidates?filter[recruiter_id]=${id}`]) {
      const { statusCode, body } = await app.inject({ url, headers })
      t.equal(statusCode, 400, url)
      if (id === '%00') continue
      const [detail] = JSON.parse(body).error.details
      t.match(detail, { field: url.includes('?') ? 'filter[recruiter_id]' : 'id', message: 'must be 1 to 64 visible ASCII characters without /' }, url)
    }
  }
})

t.test('candidates are filtered by a recruiter\'s text id, and links keep it', async (t) => {
  const app = await buildTextApp(t)
  t.same(await fetchIds(app, 'candidates', `filter[recruiter_id]=${grace}`), [grace])
  t.same(await fetchIds(app, 'candidates', 'filter[recruiter_id]=nobody'), [])
  t.same(await fetchIds(app, 'candidates', 'filter[recruiter_id]=1'), [])
  const { headers: { link } } = await requestList(app, 'candidates', 'filter[recruiter_id]=a%26b%3Dc%2Bd%2520')
  const { first = '' } = parseLinks(link) ?? {}
  t.match(first, '&filter%5Brecruiter_id%5D=a%26b%3Dc%2Bd%2520&')
  t.same((await app.inject({ url: first, headers })).json().data.map(({ id }: { id: string }) => id), [strange])
})

t.test('each kind of id is chosen separately', async (t) => {
  const own = memoryStorage({
    ids: { source: 'string', job: 'string' },
    tenants: { acme: { candidates: [{ id: 1, full_name: 'Ada', source_id: 's', recruiter_id: 7 }], jobs: [{ id: 'j', name: 'Nurse', status: 'draft' }] } }
  })
  const app = await buildApp(t, { ids: { source: 'string', job: 'string', recruiter: 'integer' }, storage: own })
  t.same((await app.inject({ url: `${base}/candidates?filter[recruiter_id]=7`, headers })).json().data, [
    { id: 1, full_name: 'Ada', headline: null, source_id: 's' }
  ])
  checkError(t, await app.inject({ url: `${base}/candidates?filter[recruiter_id]=x`, headers }), 400)
  checkError(t, await app.inject({ url: `${base}/candidates/x`, headers }), 400)
  checkError(t, await app.inject({ url: `${base}/jobs/x`, headers }), 404)
  t.equal((await app.inject({ url: `${base}/jobs/j`, headers })).json().data.id, 'j')
})
