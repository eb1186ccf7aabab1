import { Type } from '@sinclair/typebox'
import t from 'tap'
import { bearer, buildApp } from '../fixtures/api/app.js'
import type { OpenApi } from '../fixtures/api/document.js'
import { Interview, interviewRoutes } from '../fixtures/hosts/host-routes.js'

t.test('the host\'s own operations are in the document, with their scopes and errors', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes, rateLimit: { operations: { getInterview: { max: 5 } } } })
  const { paths, tags, components } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const operation = paths['/api/v1/public/{tenant_slug}/interviews/{id}']?.get
  t.match(operation, { operationId: 'getInterview', summary: 'Get an interview', tags: ['interviews'], security: [{ apiKey: ['candidates:read', 'jobs:read'] }] })
  t.same(operation?.parameters.map(({ name }) => name), ['tenant_slug', 'id', 'depth'])
  t.same(Object.keys(operation?.responses ?? {}), ['200', '400', '401', '403', '404', '429', '500', '503'])
  t.same(Object.keys(paths['/api/v1/public/{tenant_slug}/interviews/{id}'] ?? {}), ['get', 'delete'])
  t.same(Object.keys(paths['/api/v1/public/{tenant_slug}/interviews']?.post?.responses ?? {}), ['201', '400', '401', '403', '404', '409', '429', '500', '503'])
  t.ok(tags.some(({ name }) => name === 'interviews'))
  t.ok(components.schemas.Interview)
})

t.test('a route that the host hides answers, may have a limit of its own, and is not in the document', async (t) => {
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

t.test('the tenant is described on every route, and only the tenant, whatever the host says of its parameters', async (t) => {
  const schema = { response: { 200: Interview } }
  const config = { scopes: [] }
  const app = await buildApp(t, {
    async routes (app) {
      app.get('/rooms/:id', { config, schema }, async () => ({ id: 1, place: 'Rome' }))
      app.get('/rooms/:room/seats/:id', {
        config,
        schema: { ...schema, params: Type.Object({ tenant_slug: Type.String(), id: Type.Integer({ description: 'The seat' }) }) }
      }, async () => ({ id: 1, place: 'Rome' }))
    }
  })
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const parametersOf = (path: string) => paths[`/api/v1/public/{tenant_slug}${path}`]?.get?.parameters
    .map(({ name, description, example }) => [name, description, example])
  const tenant = ['tenant_slug', 'The tenant that the API key belongs to', 'acme']
  t.same(parametersOf('/rooms/{id}'), [tenant, ['id', undefined, 'text']])
  t.same(parametersOf('/rooms/{room}/seats/{id}'), [tenant, ['room', undefined, 'text'], ['id', 'The seat', 1]])
})
