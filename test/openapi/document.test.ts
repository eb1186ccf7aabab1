import t from 'tap'
import { Type } from '@sinclair/typebox'
import { bearer, buildApp, keys } from '../fixtures/app.js'
import { buildAppWithRoutes } from '../fixtures/routes.js'

interface Parameter {
  name: string
  in: string
  required: boolean
  description?: string
  schema: object
}

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security: Array<Record<string, string[]>>
  parameters: Parameter[]
  requestBody?: { required: boolean, content: Record<string, { schema: { required: string[], properties: Record<string, object> } }> }
  responses: Record<string, { description: string, content?: Record<string, { schema: object }> }>
}

interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
}

const base = '/api/v1/public'
const url = `${base}/openapi.json`

t.test('the document is served without a key, and is the same each time', async (t) => {
  const app = await buildApp(t)
  const first = await app.inject(url)
  const second = await app.inject(url)
  t.equal(first.statusCode, 200)
  t.equal(first.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(first.json<Document>().openapi, '3.1.0')
  t.equal(second.body, first.body)
})

t.test('HEAD answers like GET, without the document', async (t) => {
  const app = await buildApp(t)
  const { statusCode, body, headers } = await app.inject({ method: 'HEAD', url })
  t.same([statusCode, body, headers['content-type']], [200, '', 'application/json; charset=utf-8'])
})

t.test('the operations served and the operations documented are the same', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t)
  const { paths } = (await app.inject(url)).json<Document>()
  const documented = Object.entries(paths).flatMap(([path, item]) => {
    return Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
  })
  const served = routes.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => {
    return `${method} ${base}/{tenant_slug}${path.replace(/:(\w+)/g, '{$1}')}`
  })
  t.same(documented.sort(), served.sort())
  t.equal(documented.length, 12)
})

t.test('every operation has an id of its own, a summary, a tag and the five errors', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject(url)).json<Document>()
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  for (const { operationId, summary, tags, responses } of operations) {
    t.ok(summary, operationId)
    t.equal(tags.length, 1, operationId)
    t.same(Object.keys(responses).filter((status) => status >= '400'), ['400', '401', '403', '404', '500'], operationId)
  }
})

t.test('scopes are said: one of two for a list, both for webhooks', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject(url)).json<Document>()
  t.same(paths[`${base}/{tenant_slug}/candidates`]?.get?.security, [{ apiKey: ['candidates:read'] }, { apiKey: ['candidates:write'] }])
  t.same(paths[`${base}/{tenant_slug}/webhooks`]?.post?.security, [{ apiKey: ['webhooks:read', 'webhooks:write'] }])
})

t.test('parameters are those of the path and of the query, with their bounds', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject(url)).json<Document>()
  const parameters = paths[`${base}/{tenant_slug}/webhooks/{id}/deliveries`]?.get?.parameters ?? []
  t.same(parameters.map(({ name, in: place, required }) => `${place} ${name} ${required}`), [
    'path tenant_slug true', 'path id true', 'query page false', 'query per_page false', 'query sort false',
    'query filter[status] false', 'query filter[event_type] false', 'query filter[event_id] false'
  ])
  t.same(parameters.find(({ name }) => name === 'per_page')?.schema, { type: 'integer', minimum: 1, maximum: 200, default: 25 })
})

t.test('a body is required where an empty one would be refused, and fields with a default are not', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject(url)).json<Document>()
  const webhook = `${base}/{tenant_slug}/webhooks/{id}`
  t.equal(paths[webhook]?.patch?.requestBody?.required, true)
  t.equal(paths[`${webhook}/rotate_secret`]?.post?.requestBody?.required, false)
  t.equal(paths[`${webhook}/replay`]?.post?.requestBody?.required, false)
  const create = paths[`${base}/{tenant_slug}/webhooks`]?.post?.requestBody
  t.equal(create?.required, true)
  t.same(create?.content['application/json']?.schema.required, ['name', 'target_url', 'event_types'])
})

t.test('an answer without content has a description alone', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject(url)).json<Document>()
  t.same(paths[`${base}/{tenant_slug}/webhooks/{id}`]?.delete?.responses['204'], { description: 'The webhook is gone' })
})

t.test('each event of the catalogue is a webhook with its payload and its signature headers', async (t) => {
  const app = await buildApp(t, { events: { 'invoice.paid': Type.Object({ amount: Type.Integer() }) } })
  const { webhooks } = (await app.inject(url)).json<Document>()
  t.same(Object.keys(webhooks), ['invoice.paid'])
  const { parameters, requestBody } = webhooks['invoice.paid']?.post ?? {}
  t.same(parameters?.map(({ name, in: place }) => `${place} ${name}`), ['header webhook-id', 'header webhook-timestamp', 'header webhook-signature'])
  const schema = requestBody?.content['application/json']?.schema
  t.same(schema?.properties.type, { type: 'string', const: 'invoice.paid' })
  t.same(schema?.properties.data, { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] })
})

t.test('fields that the host publishes are documented', async (t) => {
  const app = await buildApp(t, { candidateFields: Type.Object({ city: Type.String() }) })
  const { body } = await app.inject(url)
  t.match(body, /"city":\{"type":"string"\}/)
})

t.test('with openapi false there is no document, and its path is that of a tenant like any other', async (t) => {
  const app = await buildApp(t, { openapi: false })
  const { statusCode } = await app.inject(url)
  t.equal(statusCode, 401)
})

t.test('a tenant whose slug is the name of the document is served all the same', async (t) => {
  const app = await buildApp(t)
  const { statusCode } = await app.inject({ url: `${base}/openapi.json/candidates`, headers: bearer(keys.full) })
  t.equal(statusCode, 401)
})
