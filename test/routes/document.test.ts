import t from 'tap'
import { buildApp } from '../fixtures/app.js'
import type { OpenApi } from '../fixtures/document.js'
import { interviewRoutes } from '../fixtures/host-routes.js'

t.test('the host\'s own operations are in the document, with their scopes and the five errors', async (t) => {
  const app = await buildApp(t, { routes: interviewRoutes, rateLimit: { operations: { getInterview: { max: 5 } } } })
  const { paths, tags, components } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const operation = paths['/api/v1/public/{tenant_slug}/interviews/{id}']?.get
  t.match(operation, { operationId: 'getInterview', summary: 'Get an interview', tags: ['interviews'], security: [{ apiKey: ['candidates:read', 'jobs:read'] }] })
  t.same(operation?.parameters.map(({ name }) => name), ['tenant_slug', 'id', 'depth'])
  t.same(Object.keys(operation?.responses ?? {}), ['200', '400', '401', '403', '404', '429', '500'])
  t.same(Object.keys(paths['/api/v1/public/{tenant_slug}/interviews/{id}'] ?? {}), ['get', 'delete'])
  t.ok(tags.some(({ name }) => name === 'interviews'))
  t.ok(components.schemas.Interview)
})
