import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { followSync, requestSync } from '../fixtures/sync/sync-client.js'

const many = { acme: { candidates: Array.from({ length: 5 }, (_, index) => ({ id: index + 1, full_name: 'x' })) }, globex: {} }

t.test('tokens that this tenant, resource and database did not give get the same 410', async (t) => {
  const app = await buildApp(t)
  const { token } = await followSync(app)
  const [content = '', signature = ''] = token.split('.')
  const jobs = await followSync(app, { resource: 'jobs' })
  const theirs = await followSync(app, { tenantSlug: 'globex', key: keys.globex })
  const restored = await followSync(await buildApp(t))
  const tokens = {
    'another resource': jobs.token,
    'another tenant': theirs.token,
    'another database': restored.token,
    'a changed content': `${content.slice(0, -1)}${content.endsWith('A') ? 'B' : 'A'}.${signature}`,
    'a changed signature': `${content}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    'no signature': content,
    'an empty signature': `${content}.`,
    'one part more': `${token}.x`,
    'no content': `.${signature}`,
    'more than 512 characters': token + 'A'.repeat(512),
    'a made-up text': 'token',
    'text in another script': 'жетон'
  }
  for (const [what, given] of Object.entries(tokens)) checkError(t, await requestSync(app, { token: given }), 410, what)
  t.equal((await requestSync(app, { token })).statusCode, 200)
})

t.test('a token is valid in every process that uses the database', async (t) => {
  const storage = memoryStorage({ tenants })
  const [first, second] = [await buildApp(t, { storage }), await buildApp(t, { storage })]
  const { token } = await followSync(first)
  t.equal((await requestSync(second, { token })).statusCode, 200)
})

t.test('a token older than the changes that are kept gets 410, also in the middle of the first pass', async (t) => {
  const clock = createManualClock()
  const storage = memoryStorage({ tenants: many, clock })
  const app = await buildApp(t, { storage, changesRetentionDays: 7 })
  const old = await followSync(app)
  const middle = JSON.parse((await requestSync(app, { perPage: 2 })).body).meta.next_token
  storage.candidates.remove('acme', 5)
  await clock.advance(6 * 24 * 3600 * 1000)
  t.equal(await app.recruiting.prune(), 0)
  t.equal((await requestSync(app, { token: old.token })).statusCode, 200)
  const { token } = await followSync(app)
  await clock.advance(2 * 24 * 3600 * 1000)
  t.equal(await app.recruiting.prune(), 1)
  for (const expired of [old.token, middle]) checkError(t, await requestSync(app, { token: expired }), 410)
  t.equal((await requestSync(app, { token })).statusCode, 200)
})

t.test('a token of the first pass expires when the kind of the ids changes', async (t) => {
  const storage = memoryStorage({ ids: { candidate: 'string' }, tenants: { acme: { candidates: [{ id: 'a', full_name: 'x' }, { id: 'b', full_name: 'x' }] } } })
  const before = await buildApp(t, { storage, ids: { candidate: 'string' } })
  const { meta } = JSON.parse((await requestSync(before, { perPage: 1 })).body)
  const after = await buildApp(t, { storage: { ...storage, candidates: memoryStorage().candidates } })
  checkError(t, await requestSync(after, { token: meta.next_token }), 410)
})

t.test('parameters that are not valid get 400, before a token is read', async (t) => {
  const app = await buildApp(t)
  for (const query of ['token=', 'token=%20', 'token=x&per_page=0', 'per_page=201', 'per_page=x', 'per_page=', 'page=1', 'sort=id', 'filter[q]=a', 'token=a&token=b', 'token=%00']) {
    checkError(t, await app.inject({ url: `/api/v1/public/acme/candidates/sync?${query}`, headers: bearer(keys.full) }), 400, query)
  }
})

t.test('a key and one of the scopes come first', async (t) => {
  const app = await buildApp(t)
  checkError(t, await requestSync(app, { key: 'wrong', token: '' }), 401)
  checkError(t, await requestSync(app, { key: keys.globex }), 401)
  checkError(t, await requestSync(app, { key: keys.jobsRead, token: '' }), 403)
  for (const key of [keys.candidatesRead, keys.candidatesWrite]) t.equal((await requestSync(app, { key })).statusCode, 200)
})

t.test('a source without the methods for sync has none, and the other resource has one', async (t) => {
  const storage = memoryStorage({ tenants })
  const { listAfter, ...candidates } = storage.candidates
  const app = await buildApp(t, { storage: { ...storage, candidates } })
  checkError(t, await requestSync(app), 404)
  const withoutValue = { ...storage, candidates: { ...candidates, listAfter: undefined as never } }
  checkError(t, await requestSync(await buildApp(t, { storage: withoutValue })), 404, 'a method that is undefined')
  t.equal((await requestSync(app, { resource: 'jobs' })).statusCode, 200)
})

t.test('without changes there is no sync, with any query, and the document has none', async (t) => {
  const { changes, ...storage } = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  for (const resource of ['candidates', 'jobs'] as const) {
    checkError(t, await requestSync(app, { resource }), 404)
    checkError(t, await requestSync(app, { resource, token: '', key: keys.none }), 404)
    checkError(t, await requestSync(app, { resource, key: 'wrong' }), 401)
  }
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json()
  t.notMatch(Object.keys(paths).join(), 'sync')
  const withChanges = (await (await buildApp(t)).inject('/api/v1/public/openapi.json')).json()
  t.match(Object.keys(withChanges.paths), ['/candidates', '/candidates/{id}', '/candidates/sync'].map((path) => `/api/v1/public/{tenant_slug}${path}`))
})
