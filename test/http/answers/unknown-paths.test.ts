import t from 'tap'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { sendRaw } from '../../fixtures/receivers/raw-http.js'

const base = '/api/v1/public/acme'

const unknown = [
  ['GET', ''], ['GET', '/'], ['GET', '/nothing'], ['GET', '/candidates/1/'], ['GET', '/Candidates'], ['GET', '/candidates/1/jobs'],
  ['GET', '/jobs/1/candidates'], ['PATCH', '/candidates/1'], ['DELETE', '/jobs/1'], ['GET', '/webhooks/1/'], ['GET', '/webhooks/1/rotate_secret'],
  ['GET', '/webhooks/1/nothing'], ['GET', '/webhooks/1/deliveries/1/attempts'], ['GET', '/a/b/c/d/e'],
  ['POST', '/candidates'], ['POST', '/jobs'], ['POST', '/webhooks/1'], ['POST', '/webhooks/1/deliveries'],
  ['PUT', '/candidates'], ['PUT', '/webhooks/1'], ['PATCH', '/webhooks'], ['PATCH', '/candidates'],
  ['DELETE', '/webhooks'], ['DELETE', '/candidates'], ['DELETE', '/webhooks/1/deliveries/1'],
  ['OPTIONS', '/candidates'], ['OPTIONS', '/webhooks']
] as const

t.test('an unknown path or method gets 404', async (t) => {
  const app = await buildApp(t)
  for (const [method, path] of unknown) {
    const answer = await app.inject({ method, url: `${base}${path}`, headers: bearer(keys.full) })
    checkError(t, answer, 404, `${method} ${path}`)
  }
})

t.test('an unknown path or method gets 404 whatever the scopes of the key', async (t) => {
  const app = await buildApp(t)
  for (const [method, path] of unknown) {
    const answer = await app.inject({ method, url: `${base}${path}`, headers: bearer(keys.none) })
    checkError(t, answer, 404, `${method} ${path}`)
  }
})

t.test('an unknown path or method gets 401 without a key of the tenant', async (t) => {
  const app = await buildApp(t)
  for (const [method, path] of unknown) {
    const url = `${base}${path}`
    checkError(t, await app.inject({ method, url }), 401, `${method} ${path} without a key`)
    checkError(t, await app.inject({ method, url, headers: bearer('unknown') }), 401, `${method} ${path} with an unknown key`)
    checkError(t, await app.inject({ method, url, headers: bearer(keys.globex) }), 401, `${method} ${path} with a foreign key`)
  }
})

t.test('an unknown path gets 404 whatever its body and query', async (t) => {
  const app = await buildApp(t)
  const answer = await app.inject({
    method: 'POST',
    url: `${base}/nothing?page=0&page=0`,
    headers: { ...bearer(keys.full), 'content-type': 'text/plain' },
    payload: 'x'.repeat(100_000)
  })
  checkError(t, answer, 404)
})

t.test('the prefix itself and what is beside it are answered by the host', async (t) => {
  const app = await buildApp(t, {
    after (app) { app.setNotFoundHandler((request, reply) => reply.code(404).send('the host has no such page')) }
  })
  for (const url of ['/', '/api', '/api/v1/public', '/api/v2/public/acme/candidates', '/acme/candidates']) {
    const answer = await app.inject({ url, headers: bearer(keys.full) })
    t.equal(answer.statusCode, 404, url)
    t.equal(answer.body, 'the host has no such page', url)
    t.equal(answer.headers['x-request-id'], undefined, url)
  }
})

t.test('the host answers requests that the router refuses before any hook', async (t) => {
  const app = await buildApp(t)
  const cut = await app.inject({ url: '/api/v1/public/acme/webhooks/%zz', headers: bearer(keys.full) })
  const long = await app.inject({ url: `/api/v1/public/${'a'.repeat(101)}/candidates`, headers: bearer(keys.full) })
  t.same([cut.statusCode, cut.json().code], [400, 'FST_ERR_BAD_URL'])
  t.same([long.statusCode, long.json().code], [414, 'FST_ERR_MAX_PARAM_LENGTH'])
})

t.test('a method that HTTP does not have is answered by the host', async (t) => {
  const app = await buildApp(t)
  const [answer] = await sendRaw(app, `STEAL ${base}/candidates HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.full}\r\nConnection: close\r\n\r\n`)
  t.equal(answer?.statusCode, 400)
  t.equal(answer?.headers['x-request-id'], undefined)
})
