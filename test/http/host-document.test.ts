import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { type RecruitingRoutes, type OpenApiOptions, recruitingApi } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import type { OpenApi, Operation } from '../fixtures/api/document.js'

const base = '/api/v1/public/{tenant_slug}'

interface HostDocument extends OpenApi {
  securityDefinitions: OpenApi['components']['securitySchemes']
}

const routes: RecruitingRoutes = async (app) => {
  const config = { scopes: ['rooms:read'] }
  const response = { 200: Type.Object({}, { description: 'The room' }) }
  app.get('/rooms/:id', { config, schema: { summary: 'Get a room', response } }, async () => ({}))
  app.get('/secret', { config, schema: { hide: true, response } }, async () => ({}))
}

/** A host with its own route and its own document. */
async function buildHost (
  t: Teardown, options: FastifyDynamicSwaggerOptions, openapi: boolean | OpenApiOptions
): Promise<[FastifyInstance, HostDocument]> {
  const app = await buildApp(t, {
    routes,
    openapi,
    async before (app) {
      await app.register(swagger, options)
      app.get('/own', async () => 'mine')
    }
  })
  return [app, JSON.parse(JSON.stringify(app.swagger()))]
}

const info = { title: 'Host', version: '1' }
const kinds: Array<[name: string, options: FastifyDynamicSwaggerOptions]> = [
  ['OpenAPI 3.0', { openapi: { info } }], ['OpenAPI 3.1', { openapi: { openapi: '3.1.0', info } }], ['Swagger 2', { swagger: { info } }]
]

function listOperations ({ paths }: OpenApi): Operation[] {
  return Object.values(paths).flatMap((item) => Object.values(item))
}

t.test('no path of the API is in the host\'s document unless the host wants it', async (t) => {
  for (const [name, options] of kinds) {
    for (const openapi of name === 'OpenAPI 3.0' ? [false, {}, { inHostDocument: false }] : [true]) {
      const [, { paths }] = await buildHost(t, { ...options, exposeHeadRoutes: true }, openapi)
      t.same(Object.keys(paths), ['/own'], name)
    }
  }
})

t.test('each of two APIs in one server follows its own option for the host\'s document', async (t) => {
  const app = await buildApp(t, {
    openapi: { inHostDocument: false },
    before: async (app) => { await app.register(swagger, { openapi: { info } }) },
    async after (app) {
      await app.register(async (child) => {
        await child.register(recruitingApi, {
          storage: memoryStorage(), keyLookup: () => null, delivery: false, openapi: { inHostDocument: true }
        })
      }, { prefix: '/eu' })
    }
  })
  const own = (await app.inject('/eu/api/v1/public/openapi.json')).json<OpenApi>()
  const paths = Object.keys(app.swagger().paths ?? {})
  t.same(paths.sort(), [...Object.keys(own.paths), '/eu/api/v1/public/openapi.json'].sort())
})

for (const [name, options] of kinds) {
  t.test(`with inHostDocument, a host's ${name} document contains everything from the API's document, and its path`, async (t) => {
    const [app, document] = await buildHost(t, options, { inHostDocument: true })
    const own = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
    const { '/own': _, ...paths } = document.paths
    t.same(Object.keys(paths).sort(), [...Object.keys(own.paths), '/api/v1/public/openapi.json'].sort(), 'hidden routes stay hidden')
    for (const [path, item] of Object.entries(own.paths)) {
      for (const [method, { operationId, summary, description, tags, responses }] of Object.entries(item)) {
        const shown = document.paths[path]?.[method]
        t.match(shown, JSON.parse(JSON.stringify({ operationId, summary, description, tags })), `${method} ${path}`)
        t.same(Object.keys(shown?.responses ?? {}), Object.keys(responses))
      }
    }

    const schemes = { ...document.components?.securitySchemes, ...document.securityDefinitions }
    t.match(schemes.recruitingApiKey?.description, /^An API key/)
    for (const { summary, parameters = [], responses, security } of listOperations({ ...document, paths })) {
      // The host's own route does not describe its parameter.
      const undescribed = parameters.filter(({ description }) => description === undefined).map(({ name }) => name)
      t.same(undescribed.filter((parameter) => parameter !== 'body'), summary === 'Get a room' ? ['id'] : [], summary)
      for (const [status, { description, headers = {} }] of Object.entries(responses)) {
        t.notMatch(description, /^(Default Response)?$/, `${summary} ${status}`)
        t.ok(Object.values(headers).every((header) => 'description' in header), `${summary} ${status}`)
      }
      for (const scheme of security.flatMap((alternative) => Object.keys(alternative))) t.ok(schemes[scheme], scheme)
    }
    t.same(paths['/api/v1/public/openapi.json']?.get?.security, [], 'only the document needs no key')
    const secured = listOperations({ ...document, paths }).filter(({ security }) => security.length > 0)
    t.equal(secured.length, listOperations(own).length)
    const knowsScopes = name === 'OpenAPI 3.1'
    t.same(paths[`${base}/jobs`]?.get?.security, knowsScopes
      ? [{ recruitingApiKey: ['jobs:read'] }, { recruitingApiKey: ['jobs:write'] }]
      : [{ recruitingApiKey: [] }])
  })
}

t.test('a host route keeps its own swaggerTransform, and a frozen config is accepted', async (t) => {
  const config: object = { scopes: [], swaggerTransform: () => ({ schema: { summary: 'Mine' } }) }
  const schema = { response: { 204: Type.Null() } }
  const app = await buildApp(t, {
    async routes (app) {
      app.get('/mine', { config, schema }, async () => null)
      app.get('/frozen', { config: Object.freeze({ scopes: [] }), schema }, async () => null)
    },
    before: async (app) => { await app.register(swagger, { openapi: { info } }) }
  })
  t.match(app.swagger().paths, { [`${base}/mine`]: { get: { summary: 'Mine' } } })
  t.equal(Object.keys(app.swagger().paths ?? {}).length, 1)
})

t.test('the host keeps its security schemes, and its requests are validated as before', async (t) => {
  const apiKey = { type: 'http', scheme: 'basic', description: 'Staff' } as const
  const components = { securitySchemes: { apiKey } }
  const [app, document] = await buildHost(t, { openapi: { info, components } }, { inHostDocument: true })
  t.same(document.components.securitySchemes.apiKey, apiKey)
  t.same(components, { securitySchemes: { apiKey } }, "the host's object does not change")
  const answer = await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) })
  t.same([answer.statusCode, answer.json().meta.per_page], [200, 25])
})
