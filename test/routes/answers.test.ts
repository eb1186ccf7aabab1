import t from 'tap'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { interviewRoutes } from '../fixtures/hosts/host-routes.js'
import { captureLogs } from '../fixtures/api/logs.js'

const url = '/api/v1/public/acme/interviews'
const headers = bearer(keys.full)

t.test('an operation of the host\'s own answers like the others', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes })
  const answer = await app.inject({ url: `${url}/7?depth=2`, headers })
  t.equal(answer.body, '{"data":{"id":7,"place":"acme"},"depth":2}', 'what is not declared never leaves')
  t.match(answer.headers, {
    'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': /^req_/
  })
  t.equal((await app.inject({ url: `${url}/7`, headers })).json().depth, 1, 'defaults are filled in')
  const head = await app.inject({ method: 'HEAD', url: `${url}/7`, headers })
  t.same([head.statusCode, head.body], [200, ''])
})

t.test('keys and scopes, all of them, are checked before anything else', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes })
  checkError(t, await app.inject({ url: `${url}/x` }), 401)
  checkError(t, await app.inject({ url: `${url}/x`, headers: bearer(keys.globex) }), 401)
  checkError(t, await app.inject({ url: `${url}/x`, headers: bearer(keys.candidatesRead) }), 403)
  checkError(t, await app.inject({ url: `${url}/x`, headers }), 400)
})

t.test('invalid input gets 400, missing items 404 and failures 500', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes })
  for (const query of ['depth=4', 'depth=1.0', 'unknown=1', 'depth=1&depth=1']) checkError(t, await app.inject({ url: `${url}/7?${query}`, headers }), 400)
  checkError(t, await app.inject({ url: `${url}/404`, headers }), 404)
  checkError(t, await app.inject({ url: `${url}/500`, headers }), 500)
  for (const payload of [{}, { place: 5 }, { place: 'Rome', more: 1 }]) checkError(t, await app.inject({ method: 'POST', url, headers, payload }), 400)
})

t.test('a handler may send by itself, and need not answer with anything', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes })
  const sent = await app.inject({ method: 'POST', url, headers: bearer(keys.none), payload: { place: 'Rome' } })
  t.same([sent.statusCode, sent.body], [201, '{"data":{"id":1,"place":"Rome"}}'])
  t.match(sent.headers, { 'cache-control': 'no-store', 'x-request-id': /^req_/ })
  const { statusCode, body } = await app.inject({ method: 'DELETE', url: `${url}/7`, headers })
  t.same([statusCode, body], [204, ''])
})

t.test('an answer of a status that the route declares no schema for never leaves', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, {
    server: { logger: logs.logger },
    async routes (app) {
      const schema = { response: { 204: { type: 'null' } } }
      app.get('/leak', { config: { scopes: [] }, schema }, async () => ({ secret: 'canary' }) as never)
    }
  })
  const answer = await app.inject({ url: '/api/v1/public/acme/leak', headers })
  checkError(t, answer, 500)
  t.equal((await logs.waitFor('request failed')).err?.message, 'the route declares no response for status 200')
})

t.test('a plugin with a callback is accepted too', async (t) => {
  const app = await buildApp(t, {
    routes (app, _options, done) {
      app.get('/ping', { config: { scopes: [] }, schema: { response: { 204: { type: 'null', description: 'pong' } } } }, async () => {})
      done()
    }
  })
  t.equal((await app.inject({ url: '/api/v1/public/acme/ping', headers })).statusCode, 204)
})
