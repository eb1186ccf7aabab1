import { readFile } from 'node:fs/promises'
import rateLimit from '@fastify/rate-limit'
import { type TSchema, Type } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import t from 'tap'
import { formatDocument } from '../../src/core/http/document/document.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import type { OpenApi } from '../fixtures/api/document.js'

const url = '/api/v1/public/openapi.json'

t.test('GET and HEAD of the document need no key, and ignore an invalid one', async (t) => {
  const app = await buildApp(t, { server: { exposeHeadRoutes: false } })
  const open = await app.inject({ url })
  t.equal(open.statusCode, 200)
  t.equal(open.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(open.json().openapi, '3.1.0')
  for (const headers of [bearer('unknown'), bearer(keys.none), { authorization: 'nonsense' }]) {
    const answer = await app.inject({ url, headers })
    t.same([answer.statusCode, answer.body], [200, open.body])
  }
  const head = await app.inject({ method: 'HEAD', url })
  t.same([head.statusCode, head.body, head.headers['content-length']], [200, '', open.headers['content-length']])
  for (const path of ['', '/candidates']) {
    checkError(t, await app.inject({ method: 'POST', url: `${url}${path}`, payload: {} }), 401, 'like any tenant')
  }
})

t.test('with openapi: false, /openapi.json is an ordinary unknown path', async (t) => {
  const app = await buildApp(t, { openapi: false })
  checkError(t, await app.inject({ url }), 401)
})

t.test('a client that already has the document gets 304 without a body; any other tag gets the whole document', async (t) => {
  const app = await buildApp(t)
  const first = await app.inject(url)
  const etag = String(first.headers.etag)
  t.match(etag, /^W\/"[\w-]{43}"$/)
  t.equal(first.headers['cache-control'], 'no-cache')
  for (const known of [etag, etag.slice(2), `"other", ${etag}`, ` ${etag} ,"other"`, '*']) {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, body, headers } = await app.inject({ method, url, headers: { 'if-none-match': known } })
      t.same([statusCode, body, headers.etag, headers['content-type']], [304, '', etag, undefined], `${method} ${known}`)
    }
  }
  for (const other of ['"other"', '', etag.slice(3, -1), `${etag}x`, '"*"']) {
    const answer = await app.inject({ url, headers: { 'if-none-match': other } })
    t.same([answer.statusCode, answer.body, answer.headers.etag], [200, first.body, etag], other)
  }
})

t.test('a different document has a different tag', async (t) => {
  const usual = await (await buildApp(t)).inject(url)
  const own = await (await buildApp(t, { candidateFields: Type.Object({ city: Type.String() }) })).inject(url)
  t.not(own.headers.etag, usual.headers.etag)
  const again = await (await buildApp(t)).inject(url)
  t.equal(again.headers.etag, usual.headers.etag, 'the same document has the same tag in every process')
})

t.test('a host that limits requests also limits requests for the document', async (t) => {
  const app = await buildApp(t, { before: async (app) => { await app.register(rateLimit, { max: 2 }) } })
  const statuses = []
  for (let sent = 0; sent < 3; sent++) statuses.push((await app.inject(url)).statusCode)
  t.same(statuses, [200, 200, 429])
})

t.test('the document declares the 503 of host hooks for every operation, as one component', async (t) => {
  const error = Object.assign(new Error('busy'), { statusCode: 503, headers: { 'retry-after': '7' } })
  const app = await buildApp(t, {
    before (app) { app.addHook('onRequest', async (request) => { if (request.routeOptions.config.recruitingApi && request.url.includes('acme')) throw error }) }
  })
  const { paths, components } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  for (const { operationId, responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    t.same(responses['503'], { $ref: '#/components/responses/Unavailable' }, operationId)
  }
  t.same(Object.keys(components.responses.Unavailable?.headers ?? {}), ['x-request-id', 'retry-after'])
  const answer = await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) })
  checkError(t, answer, 503)
  t.equal(answer.headers['retry-after'], '7')
})

const root = new URL('../../', import.meta.url)

t.test('the file openapi.json is the served document; npm run openapi writes it', async (t) => {
  const app = await buildApp(t, { secretKeys: [Buffer.alloc(32)], mcp: { events: true } })
  const file = await readFile(new URL('openapi.json', root), 'utf8')
  const { body } = await app.inject('/api/v1/public/openapi.json')
  t.equal(JSON.stringify(JSON.parse(file)), body)
})

function format (route: Partial<Omit<RouteOptions, 'schema'>> & { schema?: object }): OpenApi {
  const whole = { method: 'GET', url: '/:tenant_slug/interviews/:id', handler () {}, ...route } as RouteOptions
  return JSON.parse(JSON.stringify(formatDocument([whole], {}, { openapi: { info: {}, servers: [], inHostDocument: false }, publicUrl: '' })))
}

const path = '/{tenant_slug}/interviews/{id}'

t.test('a route without a description is documented by its path', async (t) => {
  const { paths, tags, components } = format({})
  const { security, description, parameters, ...rest } = paths[path]?.get ?? {}
  t.same(security, [{ apiKey: [] }])
  t.equal(description, 'Needs no scope.')
  t.same(parameters?.map(({ name, in: place, required }) => [name, place, required]), [['tenant_slug', 'path', true], ['id', 'path', true]])
  t.same(rest, { responses: {} })
  t.same(tags.map(({ name }) => name), ['events'])
  t.equal(components.securitySchemes.apiKey?.description, 'An API key of the tenant. It can be limited to some networks, and to some fields of candidates and jobs. Each operation lists the scopes that the key needs.')
})

t.test('a route with several methods, its own tag and scopes of both kinds is documented', async (t) => {
  const config = { scopes: ['a:read', 'b:read'], anyScope: ['c:read', 'c:write'] }
  const { paths, tags } = format({ method: ['PUT', 'PATCH'], config, schema: { tags: ['interviews'] } })
  t.same(Object.keys(paths[path] ?? {}), ['put', 'patch'])
  t.same(tags[0], { name: 'interviews', description: 'interviews' })
  const { security, description } = paths[path]?.patch ?? {}
  t.equal(description, 'Needs `a:read` and `b:read`, and `c:read` or `c:write`.')
  t.same(security, [{ apiKey: ['a:read', 'b:read', 'c:read'] }, { apiKey: ['a:read', 'b:read', 'c:write'] }])
})

t.test('a response without a description, or with a header without an example, is documented', async (t) => {
  const response: Record<number, TSchema> = { 200: Type.Object({}, { headers: { 'x-total': Type.Integer() } }) }
  const { paths } = format({ schema: { response } })
  const { description, headers } = paths[path]?.get?.responses['200'] ?? {}
  t.equal(description, '')
  t.same(headers?.['x-total'], { schema: { type: 'integer' }, example: 1 })
})
