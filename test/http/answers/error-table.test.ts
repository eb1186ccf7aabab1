import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'

const candidates = '/api/v1/public/acme/candidates'

t.test('parameters that fail validation get 400 bad_request', async (t) => {
  const app = await buildApp(t)
  checkError(t, await app.inject({ url: `${candidates}?page=0`, headers: bearer(keys.full) }), 400)
})

t.test('a body that fails validation gets 400 bad_request', async (t) => {
  const app = await buildApp(t)
  const answer = await app.inject({
    method: 'POST',
    url: '/api/v1/public/acme/webhooks',
    headers: bearer(keys.full),
    payload: { name: 'ATS events', target_url: 'https://example.com/hook' }
  })
  checkError(t, answer, 400)
})

t.test('a missing key gets 401 unauthorized', async (t) => {
  const app = await buildApp(t)
  checkError(t, await app.inject({ url: candidates }), 401)
})

t.test('an invalid key gets 401 unauthorized', async (t) => {
  const app = await buildApp(t)
  checkError(t, await app.inject({ url: candidates, headers: bearer('unknown') }), 401)
})

t.test('a key without the required scope gets 403 forbidden', async (t) => {
  const app = await buildApp(t)
  checkError(t, await app.inject({ url: candidates, headers: bearer(keys.jobsRead) }), 403)
})

t.test('a resource that does not exist gets 404 not_found', async (t) => {
  const app = await buildApp(t)
  checkError(t, await app.inject({ url: '/api/v1/public/acme/webhooks/1', headers: bearer(keys.full) }), 404)
})

t.test('an unexpected failure gets 500 internal_error', async (t) => {
  const storage = memoryStorage()
  storage.candidates.list = async () => { throw new Error('the database is down') }
  const app = await buildApp(t, { storage })
  checkError(t, await app.inject({ url: candidates, headers: bearer(keys.full) }), 500)
})
