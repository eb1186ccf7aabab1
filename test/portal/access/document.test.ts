import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { buildApp } from '../../fixtures/api/app.js'
import type { OpenApi } from '../../fixtures/api/document.js'
import { interviewRoutes } from '../../fixtures/hosts/host-routes.js'
import { portal } from '../../fixtures/portal/sessions.js'

const tenant = '/api/v1/public/{tenant_slug}'
const needs = /A session of the portal needs (.*)\./

/** Operations of a host that a session reaches with its scopes, and one that it does not. */
const openRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const schema = { response: { 200: Type.Object({}) } }
  for (const [path, anyScope] of [['/open', ['jobs:write', 'webhooks:write']], ['/closed', ['jobs:read', 'jobs:write']]] as const) {
    app.post(path, { config: { scopes: ['webhooks:read'], anyScope }, schema }, async () => ({}))
  }
}

async function readDocument (options: object): Promise<OpenApi> {
  const app = await buildApp(t, options)
  return (await app.inject('/api/v1/public/openapi.json')).json()
}

t.test('with the portal, operations that need a capability say so', async (t) => {
  const { paths } = await readDocument({ portal, routes: interviewRoutes })
  const found = Object.entries(paths).flatMap(([path, operations]) => Object.entries(operations).map(([method, { description }]) => {
    return [`${method} ${path.replace(tenant, '')}`, needs.exec(description)?.[1]] as const
  }))
  t.strictSame(Object.fromEntries(found.filter(([, needed]) => needed !== undefined)), {
    'post /webhooks': '`write` and `secrets`',
    'patch /webhooks/{id}': '`write`',
    'delete /webhooks/{id}': '`write`',
    'post /webhooks/{id}/rotate_secret': '`write` and `secrets`',
    'post /webhooks/{id}/dispatch_test': '`test`',
    'post /webhooks/{id}/replay': '`replay`',
    'post /webhooks/{id}/deliveries/{delivery_id}/retry': '`replay`',
    'post /interviews': '`write`'
  })
  t.match(paths[`${tenant}/webhooks`]?.post?.description, /It is not shown again\.\n\nA session .*\n\nNeeds `webhooks:read` and `webhooks:write`\.$/)
  t.equal(paths[`${tenant}/interviews`]?.post?.description, 'A session of the portal needs `write`.\n\nNeeds no scope.')
})

t.test('an operation that no session reaches says nothing of them', async (t) => {
  const { paths } = await readDocument({ portal, routes: openRoutes })
  t.match(paths[`${tenant}/open`]?.post?.description, /^A session of the portal needs `write`\./)
  t.notMatch(paths[`${tenant}/closed`]?.post?.description, needs)
})

t.test('with the portal, the body of a delivery may be null, and the document says when', async (t) => {
  const bodyOf = ({ components }: OpenApi): unknown => (components.schemas.DeliveryWithAttempts as { properties: { body: unknown } }).properties.body
  t.match(bodyOf(await readDocument({ portal })), { type: ['string', 'null'], description: /its data is null. null only for sessions of the portal without the capability `bodies`$/ })
  t.match(bodyOf(await readDocument({})), { type: 'string', description: /its data is null$/ })
})

t.test('without the portal, the document knows nothing of sessions', async (t) => {
  t.notMatch(JSON.stringify(await readDocument({ routes: interviewRoutes })), /session|capabilit/i)
})
