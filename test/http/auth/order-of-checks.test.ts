import t from 'tap'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'

// Everything is wrong with this request but for what a test mends: no key, no scope, a bad body, no such webhook.
const request = {
  method: 'PATCH' as const,
  url: '/api/v1/public/acme/webhooks/999?unknown=1',
  headers: { 'content-type': 'application/json' },
  payload: '{"name":'
}

t.test('the key is checked before anything else', async (t) => {
  const app = await buildApp(t)
  checkError(t, await app.inject(request), 401)
})

t.test('the scope is checked before the request is validated', async (t) => {
  const app = await buildApp(t)
  const headers = { ...request.headers, ...bearer(keys.jobsRead) }
  checkError(t, await app.inject({ ...request, headers }), 403)
})

t.test('the body, the query and the path are validated before the resource is looked for', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  const headers = { ...request.headers, ...bearer(keys.full) }
  const good = { ...request, headers, url: '/api/v1/public/acme/webhooks/999', payload: '{"name":"ATS events"}' }

  checkError(t, await app.inject({ ...good, payload: '{"name":' }), 400, 'a malformed body')
  checkError(t, await app.inject({ ...good, payload: '{"name":1}' }), 400, 'an invalid body')
  checkError(t, await app.inject({ ...good, url: `${good.url}?unknown=1` }), 400, 'an unknown parameter')
  checkError(t, await app.inject({ ...good, url: '/api/v1/public/acme/webhooks/x' }), 400, 'an id that is no number')
  t.same(calls, [], 'the storage is not asked')
  checkError(t, await app.inject(good), 404, 'a good request for an unknown webhook')
})

t.test('the response to a refused key does not show whether it lacks a scope or the path exists', async (t) => {
  const app = await buildApp(t)
  for (const path of ['candidates', 'webhooks/1', 'webhooks/x', 'candidates?page=0', 'nothing']) {
    checkError(t, await app.inject({ url: `/api/v1/public/acme/${path}`, headers: bearer('unknown') }), 401, path)
  }
})
