import { Type } from '@sinclair/typebox'
import t from 'tap'
import { HttpError } from '../../src/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { Interview, interviewRoutes } from '../fixtures/hosts/host-routes.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { assertAcceptedByPlugin, assertRejectedByPlugin } from '../fixtures/rejected-option.js'
import type { OpenApi } from '../fixtures/api/document.js'

const url = '/api/v1/public/acme/interviews'
const headers = bearer(keys.full)

t.test('a host operation responds like the API\'s operations', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes })
  const answer = await app.inject({ url: `${url}/7?depth=2`, headers })
  t.equal(answer.body, '{"data":{"id":7,"place":"acme"},"depth":2}', 'undeclared fields are not sent')
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

t.test('header schemas match names in any letter case, as plain Fastify does', async (t) => {
  const app = await buildApp(t, {
    errorDetails: true,
    async routes (app) {
      const schema = {
        headers: Type.Object({
          'X-Source': Type.String(),
          'X-Mode': Type.Optional(Type.Union([Type.Literal('fast'), Type.Literal('slow')])),
          'X-Count': Type.Optional(Type.Integer({ maximum: 3 }))
        }),
        response: { 200: Type.Object({ count: Type.Integer() }) }
      }
      app.get('/modes', { config: { scopes: [] }, schema }, async ({ headers }) => {
        return { count: headers['x-count'] ?? 0 }
      })
    }
  })
  const ask = (given: Record<string, string>) =>
    app.inject({ url: '/api/v1/public/acme/modes', headers: { ...headers, ...given } })
  t.strictSame((await ask({ 'X-SOURCE': 'a', 'x-mode': 'fast', 'x-Count': '3' })).json(), { count: 3 })
  for (const [given, field] of [
    [{}, 'x-source'], [{ 'x-source': 'a', 'X-Mode': 'wrong' }, 'x-mode'], [{ 'x-source': 'a', 'X-Count': '4' }, 'x-count']
  ] as const) {
    const answer = await ask(given)
    t.strictSame([answer.statusCode, answer.json().error.details[0].field], [400, field])
  }
})

t.test('a description explains a pattern only if it begins with a phrase, of which the first sentence is shown', async (t) => {
  const pattern = '^[0-9]+$'
  const app = await buildApp(t, {
    errorDetails: true,
    async routes (app) {
      const querystring = Type.Object({
        plain: Type.Optional(Type.String({ pattern })),
        phrase: Type.Optional(Type.String({ pattern, description: 'a room number. Ask the reception' })),
        sentence: Type.Optional(Type.String({ pattern, description: 'The number of a room' }))
      })
      app.get('/rooms', { config: { scopes: [] }, schema: { querystring, response: { 204: Type.Null() } } }, async () => undefined as never)
    }
  })
  const shown = { plain: 'must match pattern "^[0-9]+$"', phrase: 'must be a room number', sentence: 'must match pattern "^[0-9]+$"' }
  for (const [field, message] of Object.entries(shown)) {
    const answer = await app.inject({ url: `/api/v1/public/acme/rooms?${field}=x`, headers })
    t.strictSame(answer.json().error.details, [{ in: 'query', field, message }])
  }
})

t.test('a handler can call reply.send, and can respond without a body', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes })
  const sent = await app.inject({ method: 'POST', url, headers: bearer(keys.none), payload: { place: 'Rome' } })
  t.same([sent.statusCode, sent.body], [201, '{"data":{"id":1,"place":"Rome"}}'])
  t.match(sent.headers, { 'cache-control': 'no-store', 'x-request-id': /^req_/ })
  const { statusCode, body } = await app.inject({ method: 'DELETE', url: `${url}/7`, headers })
  t.same([statusCode, body], [204, ''])
})

t.test('a response with an undeclared status is never sent', async (t) => {
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

const urlHttpError = '/api/v1/public/acme/fails'

/** A host with an operation that throws. The document does not declare all of its errors. */
function buildThrowing (t: Teardown, thrown: () => unknown) {
  return buildApp(t, {
    openapi: false,
    errorDetails: true,
    async routes (app) {
      app.post('/fails', { config: { scopes: [] }, schema: { response: { 200: Type.Object({}) } } }, async () => { throw thrown() })
    }
  })
}

t.test('each code gets its status and message', async (t) => {
  let code: HttpError['code'] = 'not_found'
  const app = await buildThrowing(t, () => new HttpError(code))
  for (const [known, status] of [
    ['unauthorized', 401], ['forbidden', 403], ['not_found', 404], ['conflict', 409], ['rate_limited', 429], ['internal_error', 500], ['unavailable', 503]
  ] as const) {
    code = known
    checkError(t, await app.inject({ method: 'POST', url: urlHttpError, headers, payload: {} }), status)
  }
})

t.test('creating an error with an unknown code throws, and the message lists the known codes', async (t) => {
  for (const [code, shown] of [['teapot', '"teapot"'], ['toString', '"toString"'], [404, '404'], [undefined, 'undefined']]) {
    t.throws(() => new HttpError(code as never), {
      name: 'RecruitingApiError',
      code: 'invalid_option',
      field: 'code',
      message: `code: expected one of bad_request, unauthorized, forbidden, suspended, not_found, conflict, sync_token_expired, rate_limited, internal_error, outcome_unknown, unavailable, got ${shown}`
    })
  }
})

t.test('an HttpError of another copy of the package gets the same response, or 500 if it is invalid here', async (t) => {
  const brand = { [Symbol.for('fastify-recruiting-api.http-error')]: true }
  const detail = { in: 'body', field: 'place', message: 'is taken' } as const
  let fields: object = { code: 'bad_request', details: [detail] }
  const app = await buildThrowing(t, () => Object.assign(new Error('copy'), brand, fields))
  const request = { method: 'POST', url: urlHttpError, headers, payload: {} } as const
  t.same((await app.inject(request)).json().error.details, [detail])
  for (const unknown of [{}, { code: 'teapot', details: [] }, { code: 'not_found' }, { code: 'not_found', details: [null] }, { code: 'constructor', details: [] }]) {
    fields = unknown
    checkError(t, await app.inject(request), 500, JSON.stringify(unknown))
  }
})

const path = '/api/v1/public/:tenant_slug/interviews'

interface Host { route (options: object): void }

t.test('a route without scopes fails the registration, with all its methods', async (t) => {
  for (const [method, config, shown] of [
    ['GET', { scopes: undefined }, 'undefined'], ['GET', { scopes: 'jobs:read' }, '"jobs:read"'],
    ['GET', { scopes: [5] }, 'an array'], [['PUT', 'PATCH'], undefined, 'undefined']
  ] as const) {
    const routes = async (app: Host) => app.route({ method, url: '/interviews', config, handler () {} })
    const expected = `config.scopes of ${[method].flat().join(', ')} ${path} to be an array of scopes`
    await assertRejectedByPlugin(t, [{ routes }, 'routes', expected, shown])
  }
})

function routesWith (response: object | undefined, method: string | string[] = 'GET') {
  const schema = response === undefined ? {} : { response }
  return { routes: async (app: Host) => app.route({ method, url: '/interviews', config: { scopes: [] }, schema, handler () {} }) }
}

const name = '/api/v1/public/:tenant_slug/interviews to have a schema for a status such as 200'

t.test('a route without a success schema fails the registration, with its method and path', async (t) => {
  const Interview = Type.Object({})
  for (const [response, shown] of [
    [undefined, 'undefined'], [{}, 'an object'], [{ 404: Interview }, 'an object'], [{ '2xx': Interview }, 'an object'], [{ 200: null }, 'an object'],
    [{ 200: { content: { 'application/json': { schema: Interview } } } }, 'an object']
  ] as Array<[object | undefined, string]>) {
    await assertRejectedByPlugin(t, [routesWith(response), 'routes', `schema.response of GET ${name}`, shown])
  }
  await assertRejectedByPlugin(t, [routesWith(undefined, ['PUT', 'PATCH']), 'routes', `schema.response of PUT, PATCH ${name}`, 'undefined'])
})

t.test('a route that declares any success, or a redirect, is accepted', async (t) => {
  for (const status of [200, 201, 204, 303]) await assertAcceptedByPlugin(t, routesWith({ [status]: Type.Null() }))
})

t.test('host operations are in the document, with their scopes and errors', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes, rateLimit: { operations: { getInterview: { max: 5 } } } })
  const { paths, tags, components } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const operation = paths['/api/v1/public/{tenant_slug}/interviews/{id}']?.get
  t.match(operation, { operationId: 'getInterview', summary: 'Get an interview', tags: ['interviews'], security: [{ apiKey: ['candidates:read', 'jobs:read'] }] })
  t.same(operation?.parameters.map(({ name }) => name), ['tenant_slug', 'id', 'depth'])
  t.same(Object.keys(operation?.responses ?? {}), ['200', '400', '401', '403', '404', '429', '500', '503'])
  t.same(Object.keys(paths['/api/v1/public/{tenant_slug}/interviews/{id}'] ?? {}), ['get', 'delete'])
  t.same(Object.keys(paths['/api/v1/public/{tenant_slug}/interviews']?.post?.responses ?? {}), ['201', '400', '401', '403', '404', '409', '429', '500', '503'])
  t.same(Object.keys(components.responses.RateLimited?.headers ?? {}), ['x-request-id', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
  t.ok(tags.some(({ name }) => name === 'interviews'))
  t.ok(components.schemas.Interview)
})

t.test('a hidden host route works, can have its own limit, and is not in the document', async (t) => {
  const app = await buildApp(t, {
    async routes (app) {
      app.get('/internal', {
        config: { scopes: ['internal:read'] },
        schema: { operationId: 'getInternal', tags: ['internal'], hide: true, response: { 200: Interview } }
      }, async () => ({ id: 1, place: 'Rome' }))
    },
    keyLookup: async () => ({ id: 'key', scopes: ['internal:read'] }),
    rateLimit: { operations: { getInternal: { max: 1 } } }
  })
  const ask = () => app.inject({ url: '/api/v1/public/acme/internal', headers: bearer('any') })
  t.same([(await ask()).statusCode, (await ask()).statusCode], [200, 429])
  const { body } = await app.inject('/api/v1/public/openapi.json')
  t.notMatch(body, /internal(?!_error)|Interview/)
})

t.test('the document describes the tenant on every route, and other parameters only if the host does', async (t) => {
  const schema = { response: { 200: Interview } }
  const params = Type.Object({ tenant_slug: Type.String(), id: Type.Integer({ description: 'The seat' }) })
  const config = { scopes: [] }
  const room = async () => ({ id: 1, place: 'Rome' })
  const app = await buildApp(t, {
    async routes (app) {
      app.get('/rooms/:id', { config, schema }, room)
      app.get('/rooms/:room/seats/:id', { config, schema: { ...schema, params } }, room)
    }
  })
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const tenant = ['tenant_slug', 'The tenant that the API key belongs to', 'acme']
  for (const [path, expected] of [
    ['/rooms/{id}', [['id', undefined, 'text']]],
    ['/rooms/{room}/seats/{id}', [['room', undefined, 'text'], ['id', 'The seat', 1]]]
  ] as const) {
    const { parameters = [] } = paths[`/api/v1/public/{tenant_slug}${path}`]?.get ?? {}
    t.same(parameters.map(({ name, description, example }) => [name, description, example]), [tenant, ...expected])
  }
})
