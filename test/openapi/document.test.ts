import t from 'tap'
import { Type } from '@sinclair/typebox'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { type OpenApi, resolve } from '../fixtures/api/document.js'
import { buildAppWithRoutes } from '../fixtures/api/routes.js'

const base = '/api/v1/public'
const url = `${base}/openapi.json`
const eventId = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

t.test('the document is served without a key, and is the same each time', async (t) => {
  const app = await buildApp(t)
  const first = await app.inject(url)
  const second = await app.inject(url)
  t.equal(first.statusCode, 200)
  t.equal(first.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(first.json<OpenApi>().openapi, '3.1.0')
  t.equal(second.body, first.body)
})

t.test('HEAD answers like GET, without the document', async (t) => {
  const app = await buildApp(t)
  const { statusCode, body, headers } = await app.inject({ method: 'HEAD', url })
  t.same([statusCode, body, headers['content-type']], [200, '', 'application/json; charset=utf-8'])
})

t.test('the operations served and the operations documented are the same', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t)
  const { paths } = (await app.inject(url)).json<OpenApi>()
  const documented = Object.entries(paths).flatMap(([path, item]) => {
    return Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
  })
  const served = routes.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => {
    return `${method} ${base}/{tenant_slug}${path.replace(/:(\w+)/g, '{$1}')}`
  })
  t.same(documented.sort(), served.sort())
  t.equal(documented.length, 20)
})

t.test('every operation has an id of its own, a summary, a description, a tag and the six errors', async (t) => {
  const app = await buildApp(t)
  const { paths, tags: known } = (await app.inject(url)).json<OpenApi>()
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  for (const { operationId, summary, description, tags, responses } of operations) {
    t.ok(summary, operationId)
    t.match(description, /^\S.+\n\nNeeds `/, operationId)
    t.equal(tags.length, 1, operationId)
    t.ok(known.some(({ name }) => name === tags[0]), operationId)
    const own = operationId.startsWith('sync') || operationId === 'listEvents' ? ['410'] : []
    t.same(Object.keys(responses).filter((status) => status >= '400'), ['400', '401', '403', '404', ...own, '500', '503'], operationId)
  }
})

t.test('scopes are said: one of two for a list, both for webhooks', async (t) => {
  const app = await buildApp(t)
  const { paths, components } = (await app.inject(url)).json<OpenApi>()
  t.same(paths[`${base}/{tenant_slug}/candidates`]?.get?.security, [{ apiKey: ['candidates:read'] }, { apiKey: ['candidates:write'] }])
  t.match(paths[`${base}/{tenant_slug}/candidates`]?.get?.description, /Needs `candidates:read` or `candidates:write`\.$/)
  t.same(paths[`${base}/{tenant_slug}/webhooks`]?.post?.security, [{ apiKey: ['webhooks:read', 'webhooks:write'] }])
  t.match(paths[`${base}/{tenant_slug}/webhooks`]?.post?.description, /Needs `webhooks:read` and `webhooks:write`\.$/)
  t.match(components.securitySchemes.apiKey, {
    type: 'http', scheme: 'bearer', description: /needs\.\n- `candidates:read`\n- `candidates:write`\n- `jobs:read`\n- `jobs:write`\n- `webhooks:read`\n- `webhooks:write`$/
  })
})

t.test('parameters are those of the path and of the query, with their bounds', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject(url)).json<OpenApi>()
  const parameters = paths[`${base}/{tenant_slug}/webhooks/{id}/deliveries`]?.get?.parameters ?? []
  t.same(parameters.map(({ name, in: place, required }) => `${place} ${name} ${required}`), [
    'path tenant_slug true', 'path id true', 'query page false', 'query per_page false', 'query sort false',
    'query filter[status] false', 'query filter[event_type] false', 'query filter[event_id] false'
  ])
  t.same(parameters.map(({ example }) => example), ['acme', 1, ...Array(6)])
  t.ok(parameters.every(({ description }) => description !== undefined))
  t.same(parameters.find(({ name }) => name === 'per_page')?.schema, { type: 'integer', minimum: 1, maximum: 200, default: 25 })
})

t.test('a body is required where an empty one would be refused, and fields with a default are not', async (t) => {
  const app = await buildApp(t)
  const document = (await app.inject(url)).json<OpenApi>()
  const { paths } = document
  const webhook = `${base}/{tenant_slug}/webhooks/{id}`
  t.equal(paths[webhook]?.patch?.requestBody?.required, true)
  t.equal(paths[`${webhook}/rotate_secret`]?.post?.requestBody?.required, false)
  t.equal(paths[`${webhook}/replay`]?.post?.requestBody?.required, false)
  const create = paths[`${base}/{tenant_slug}/webhooks`]?.post?.requestBody
  t.equal(create?.required, true)
  t.same(resolve(document, create?.content['application/json']?.schema ?? {}), document.components.schemas.CreateWebhook)
  t.same((document.components.schemas.CreateWebhook as { required?: string[] }).required, ['name', 'target_url', 'event_types'])
})

t.test('a response without content has only a description and headers', async (t) => {
  const app = await buildApp(t)
  const { paths } = (await app.inject(url)).json<OpenApi>()
  const { description, headers, ...rest } = paths[`${base}/{tenant_slug}/webhooks/{id}`]?.delete?.responses['204'] ?? {}
  t.same([description, Object.keys(headers ?? {}), rest], ['The webhook is gone', ['x-request-id'], {}])
})

t.test('headers are documented: the id of the request, links, the location, the challenge', async (t) => {
  const app = await buildApp(t)
  const { paths, components } = (await app.inject(url)).json<OpenApi>()
  const webhooks = paths[`${base}/{tenant_slug}/webhooks`]
  t.same(Object.keys(webhooks?.get?.responses['200']?.headers ?? {}), ['x-request-id', 'link'])
  t.same(Object.keys(webhooks?.post?.responses['201']?.headers ?? {}), ['x-request-id', 'location'])
  t.same(Object.keys(components.responses.Unauthorized?.headers ?? {}), ['x-request-id', 'www-authenticate'])
})

t.test('each event of the catalogue is a webhook with its payload and its signature headers', async (t) => {
  const app = await buildApp(t, { events: { 'invoice.paid': Type.Object({ amount: Type.Integer() }) } })
  const document = (await app.inject(url)).json<OpenApi>()
  t.same(Object.keys(document.webhooks), ['invoice.paid'])
  const { parameters = [], requestBody } = document.webhooks['invoice.paid']?.post ?? {}
  t.same(parameters.map((parameter) => resolve(document, parameter)).map(({ name, in: place }) => `${place} ${name}`), [
    'header webhook-id', 'header webhook-timestamp', 'header webhook-signature'
  ])
  const { schema, example } = requestBody?.content['application/json'] ?? {}
  t.same(schema?.properties?.type, { type: 'string', const: 'invoice.paid' })
  t.same(schema?.properties?.data, { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] })
  t.same(example, { id: eventId, type: 'invoice.paid', timestamp: '2026-03-01T09:30:00.000Z', tenant_slug: 'acme', data: { amount: 1 } })
})

t.test('the summary of an event says what happened, and falls back to its name', async (t) => {
  const summariesOf = async (options = {}) => {
    const { webhooks } = (await (await buildApp(t, options)).inject(url)).json<OpenApi>()
    return Object.fromEntries(Object.entries(webhooks).map(([name, { post }]) => [name, post.summary]))
  }
  const summaries = await summariesOf()
  t.equal(Object.keys(summaries).length, 18)
  t.equal(new Set(Object.values(summaries)).size, 18)
  for (const [name, summary] of Object.entries(summaries)) t.match(summary, /^(An?|The) [a-z ]+$/, name)
  t.match(summaries, { 'application.created': 'An application was created', 'job.closed': 'A job was closed' })

  const Paid = Type.Object({ amount: Type.Integer() }, { description: 'An invoice was paid' })
  t.same(await summariesOf({ events: { 'invoice.paid': Paid, 'invoice.sent': Type.Object({}) } }), {
    'invoice.paid': 'An invoice was paid', 'invoice.sent': 'invoice.sent'
  })
})

t.test('the data of the default events has an id that is described and not required, and any other field', async (t) => {
  const app = await buildApp(t)
  const { webhooks } = (await app.inject(url)).json<OpenApi>()
  const { schema, example } = webhooks['candidate.merged']?.post.requestBody?.content['application/json'] ?? {}
  t.same(schema?.properties?.data, {
    type: 'object',
    additionalProperties: true,
    properties: { id: { description: 'The id of the candidate', examples: [1] } },
    examples: [{ id: 1 }]
  })
  t.match(example, { data: { id: 1 } })
  for (const data of [{ id: 1 }, { id: '7c1e' }, { id: null, name: 'Ada' }, { candidate_id: 1 }, {}]) {
    await t.resolves(app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.merged', data }), JSON.stringify(data))
  }
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

t.test('the document says of the vendor what the vendor says, and keeps the rest', async (t) => {
  const app = await buildApp(t, {
    openapi: {
      info: { title: 'Acme Hiring API', contact: { email: 'api@acme.example' }, license: { name: 'Proprietary' } },
      servers: [{ url: 'https://api.acme.example' }]
    }
  })
  const usual = (await (await buildApp(t)).inject(url)).json()
  const { info, servers, ...rest } = (await app.inject(url)).json()
  t.strictSame(info, { ...usual.info, title: 'Acme Hiring API', contact: { email: 'api@acme.example' }, license: { name: 'Proprietary' } })
  t.strictSame(servers, [{ url: 'https://api.acme.example' }])
  t.strictSame({ ...rest, info: usual.info, servers: usual.servers }, usual)
})

t.test('the document names no licence unless the vendor does', async (t) => {
  const { info } = (await (await buildApp(t)).inject(url)).json()
  t.same(Object.keys(info), ['title', 'version', 'description', 'contact'])
})

t.test('a tenant whose slug is the name of the document is served', async (t) => {
  const app = await buildApp(t)
  const { statusCode } = await app.inject({ url: `${base}/openapi.json/candidates`, headers: bearer(keys.full) })
  t.equal(statusCode, 401)
})
