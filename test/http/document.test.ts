import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import t from 'tap'
import { apiScopes } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { exampleOf } from '../../src/core/shared/typebox.js'
import { type AppOverrides, bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { type Content, createDocumentAjv, type OpenApi, type Operation, resolve } from '../fixtures/api/document.js'
import { buildAppWithRoutes } from '../fixtures/api/routes.js'

const base = '/api/v1/public'
const url = `${base}/openapi.json`
const eventId = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

/** Returns the document of a host with these options. */
async function readDocument (t: Teardown, options: AppOverrides = {}): Promise<OpenApi> {
  return (await (await buildApp(t, options)).inject(url)).json<OpenApi>()
}

t.test('the document contains exactly the served operations', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t)
  const { paths } = (await app.inject(url)).json<OpenApi>()
  const documented = Object.entries(paths).flatMap(([path, item]) => {
    return Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
  })
  const served = routes.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => {
    return `${method} ${base}/{tenant_slug}${path.replace(/:(\w+)/g, '{$1}')}`
  })
  t.same(documented.sort(), served.sort())
  t.ok(documented.includes(`GET ${base}/{tenant_slug}/candidates`))
})

t.test('every operation has a unique id, a summary, a description, a tag and the six errors', async (t) => {
  const { paths, tags: known } = await readDocument(t)
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  for (const { operationId, summary, description, tags, parameters, responses } of operations) {
    t.ok(summary, operationId)
    t.match(description, operationId === 'getOwnApiKey' ? /Needs no scope\.$/ : /^\S.+\n\nNeeds `/, operationId)
    t.equal(tags.length, 1, operationId)
    t.ok(known.some(({ name }) => name === tags[0]), operationId)
    const isIdempotent = parameters.some(({ name }) => name === 'idempotency-key')
    const own = isIdempotent ? ['409', '429'] : operationId.startsWith('sync') || operationId === 'listEvents' ? ['410'] : []
    t.same(Object.keys(responses).filter((status) => status >= '400'), ['400', '401', '403', '404', ...own, '500', '503'], operationId)
  }
})

t.test('each event of the catalogue is a webhook with its payload and its signature headers', async (t) => {
  const document = await readDocument(t, { events: { 'invoice.paid': Type.Object({ amount: Type.Integer() }) } })
  t.same(Object.keys(document.webhooks), ['invoice.paid'])
  const { parameters = [], requestBody } = document.webhooks['invoice.paid']?.post ?? {}
  t.same(parameters.map((parameter) => resolve(document, parameter)).map(({ name, in: place }) => `${place} ${name}`), [
    'header webhook-id', 'header webhook-timestamp', 'header webhook-signature'
  ])
  const { schema, example } = requestBody?.content['application/json'] ?? {}
  t.same(schema?.anyOf?.[0]?.properties?.type, { type: 'string', const: 'invoice.paid' })
  t.same(schema?.anyOf?.[0]?.properties?.data, {
    type: 'object',
    properties: { amount: { type: 'integer' } },
    required: ['amount']
  })
  t.same(example, { id: eventId, type: 'invoice.paid', timestamp: '2026-03-01T09:30:00.000Z', sequence: '1772357400000000', tenant_slug: 'acme', data: { amount: 1 } })
})

t.test('the summary of an event is its description, or its name', async (t) => {
  const summariesOf = async (options = {}) => {
    const { webhooks } = await readDocument(t, options)
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

t.test('the data of default events has a described, optional id, and accepts any other field', async (t) => {
  const app = await buildApp(t)
  const { webhooks } = (await app.inject(url)).json<OpenApi>()
  const { schema, example } = webhooks['candidate.merged']?.post.requestBody?.content['application/json'] ?? {}
  t.same(schema?.anyOf?.[0]?.properties?.data, {
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

t.test('the vendor\'s texts replace those of the document, and the rest stays', async (t) => {
  const info = { title: 'Acme Hiring API', contact: { email: 'api@acme.example' }, license: { name: 'Proprietary' } }
  const servers = [{ url: 'https://api.acme.example' }]
  const usual = await readDocument(t)
  const changed = await readDocument(t, { openapi: { info, servers } })
  t.strictSame(changed, { ...usual, info: { ...usual.info, ...info }, servers })
})

async function dataSchemas (t: Teardown, ...schemas: TObject[]): Promise<[data: object[], components: OpenApi['components']['schemas']]> {
  const events = Object.fromEntries(schemas.map((schema, index) => [`event.e${index}`, schema]))
  const { webhooks, components } = await readDocument(t, { events })
  const data = Object.values(webhooks).map(
    ({ post }) => post.requestBody?.content['application/json']?.schema.anyOf?.[0]?.properties?.data ?? {}
  )
  return [data, components.schemas]
}

t.test('a schema becomes one component if its title is a valid, unused component name', async (t) => {
  const Invoice = Type.Object({ amount: Type.Integer() }, { title: 'Invoice' })
  const [data, schemas] = await dataSchemas(t, Invoice, Invoice,
    Type.Object({ chips: Type.Integer() }, { title: 'Candidate' }),
    Type.Object({}, { title: 'An invoice, paid' }),
    Type.Object({ title: Type.String() }, { examples: [{ title: 'Invoice' }] }))
  t.same(data, [
    { $ref: '#/components/schemas/Invoice' },
    { $ref: '#/components/schemas/Invoice' },
    { type: 'object', properties: { chips: { type: 'integer' } }, required: ['chips'] },
    { title: 'An invoice, paid', type: 'object', properties: {} },
    {
      type: 'object', properties: { title: { type: 'string' } }, required: ['title'], examples: [{ title: 'Invoice' }]
    }
  ])
  t.same(schemas.Invoice, { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] })
  t.match(schemas.Candidate, { properties: { full_name: { type: 'string' } } })
})

/** Returns the body schema of a host operation in the document. */
async function describeBody (t: Teardown, body: TObject): Promise<unknown> {
  const { paths } = await readDocument(t, {
    async routes (app) {
      app.post('/rooms', { config: { scopes: [] }, schema: { body, response: { 204: Type.Null() } } }, async () => null)
    }
  })
  return paths['/api/v1/public/{tenant_slug}/rooms']?.post?.requestBody?.content['application/json']?.schema
}

t.test('request bodies in the document have no defaults: descriptions contain them', async (t) => {
  const Seats = Type.Integer({ default: 2, description: 'Chairs.' })
  const described = { type: 'integer', description: 'Chairs. Default: `2`' }
  const schemas: Array<[schema: TSchema, described: object]> = [
    [Seats, described],
    [Type.String({ default: 'x' }), { type: 'string', description: 'Default: `x`' }],
    [Type.Array(Seats, { default: [] }), { type: 'array', items: described, description: 'Default: `[]`' }],
    [Type.Tuple([Seats]), { type: 'array', items: [described], additionalItems: false, minItems: 1, maxItems: 1 }],
    [Type.Union([Seats, Type.Null()]), { anyOf: [described, { type: 'null' }] }],
    [Type.Record(Type.String(), Seats), { type: 'object', patternProperties: { '^(.*)$': described } }],
    [Type.Object({ seats: Seats, default: Type.String() }, { additionalProperties: false }), {
      type: 'object', additionalProperties: false, properties: { seats: described, default: { type: 'string' } }, required: ['default']
    }],
    [Type.Object({}, { additionalProperties: Seats }), { type: 'object', properties: {}, additionalProperties: described }]
  ]
  const named = (index: number): string => `field${index}`
  const properties = Object.fromEntries(schemas.map(([of], index) => [named(index), of]))
  const schema = await describeBody(t, Type.Object(properties))
  const filled = [0, 1, 2].map(named)
  t.same(schema, {
    type: 'object',
    properties: Object.fromEntries(schemas.map(([, of], index) => [named(index), of])),
    required: schemas.map((_, index) => named(index)).filter((name) => !filled.includes(name))
  })
})

t.test('event data has no defaults either, and is required as in the schema', async (t) => {
  const [[data]] = await dataSchemas(t, Type.Object({ seats: Type.Integer({ default: 2 }) }))
  t.same(data, { type: 'object', properties: { seats: { type: 'integer', description: 'Default: `2`' } }, required: ['seats'] })
})

function listParameters ({ paths }: OpenApi): Operation['parameters'] {
  return Object.values(paths).flatMap((item) => Object.values(item)).flatMap((operation) => operation.parameters)
}

t.test('every body and every response has an example that matches its schema', async (t) => {
  const document = await readDocument(t)
  const ajv = createDocumentAjv(document)
  const bodies: Array<[title: string, content: Content | undefined]> = []
  for (const item of [...Object.values(document.paths), ...Object.values(document.webhooks)]) {
    for (const { operationId, requestBody, responses } of Object.values(item)) {
      if (requestBody !== undefined) bodies.push([operationId, requestBody.content['application/json']])
      for (const [status, response] of Object.entries(responses)) {
        const { content } = resolve(document, response)
        if (content !== undefined) bodies.push([`${operationId} ${status}`, content['application/json']])
        else t.ok(status === '204' || operationId.startsWith('on.'), `${operationId} ${status}`)
      }
    }
  }
  for (const [title, content] of bodies) {
    const refs = JSON.parse(JSON.stringify(content?.schema).replaceAll('"#/', '"document#/'))
    t.ok(ajv.validate(refs, content?.example), `${title} ${ajv.errorsText()}`)
  }
})

t.test('optional parameters have their example in the schema, so that reference pages send no filters', async (t) => {
  const document = await readDocument(t)
  const ajv = createDocumentAjv(document)
  const shared = Object.values(document.components.parameters).map((one) => ({ ...one, required: true }))
  const parameters = [...listParameters(document), ...shared]
  t.ok(parameters.length > 40)
  // Objects are JSON.
  for (const { name, required, content, schema = content?.['application/json'].schema ?? {}, ...rest } of parameters) {
    t.equal('example' in rest, required, name)
    t.notOk('examples' in rest || 'example' in schema, name)
    type Shown = { examples?: unknown[], enum?: unknown[], default?: unknown }
    const { examples, enum: choices, default: usual } = schema as Shown
    t.ok(ajv.validate(schema, required ? rest.example : examples?.[0] ?? choices?.[0] ?? usual), name)
  }
})

t.test('examples come from the schema, or are derived from its type', async (t) => {
  const cases: Array<[schema: TSchema, example: unknown]> = [
    [Type.String({ examples: ['first', 'second'] }), 'first'],
    [Type.Literal('only'), 'only'],
    [Type.Integer({ default: 25 }), 25],
    [Type.Unsafe({ type: 'string', enum: ['active', 'inactive'] }), 'active'],
    [Type.Union([Type.Literal('a'), Type.Integer()]), 'a'],
    [Type.Unsafe({ type: ['string', 'null'] }), 'text'],
    [Type.String({ format: 'email' }), 'ada@example.com'],
    [Type.String({ minLength: 6 }), 'text..'],
    [Type.String({ maxLength: 2 }), 'te'],
    [Type.Integer({ minimum: 7 }), 7],
    [Type.Number(), 1],
    [Type.Boolean(), true],
    [Type.Null(), null],
    [Type.Array(Type.Integer()), [1]],
    [Type.Unsafe({ type: 'array' }), []],
    [Type.Unsafe({ type: 'object' }), {}],
    [Type.Object({ a: Type.String(), b: Type.Optional(Type.String()), c: Type.Optional(Type.String({ examples: ['c'] })) }), { a: 'text', c: 'c' }]
  ]
  for (const [schema, example] of cases) t.strictSame(exampleOf(schema), example, JSON.stringify(schema))
})

t.test('alternatives of type are written as anyOf, which every generator can read', async (t) => {
  const number = { type: ['integer', 'null'], minimum: 1, default: null, description: 'A number' }
  const state = Type.Unsafe({ type: ['string', 'boolean', 'null'], enum: ['on', true, null], maxLength: 2, title: 'State' })
  const body = {
    type: ['object', 'array'],
    properties: { default: number, type: { type: ['array', 'null'], items: state } },
    minItems: 2,
    examples: [{ type: ['a', 'b'] }]
  }
  const app = await buildApp(t, {
    events: { 'job.created': Type.Object({ id: Type.Integer(), default: Type.Unsafe(number) }) },
    async routes (scope) {
      const querystring = Type.Object({ limit: Type.Optional(Type.Unsafe(number)) })
      const schema = { querystring, body, response: { 200: Type.Object({ state }) } }
      scope.post('/own', { config: { scopes: [] }, schema }, async () => ({ state: 'on' }))
    }
  })
  const document = (await app.inject(url)).json<OpenApi>()
  t.notMatch(JSON.stringify(document).replaceAll('"type":["a","b"]', ''), /"type":\[/)
  const choice = { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }
  const own = document.paths['/api/v1/public/{tenant_slug}/own']?.['post']
  t.strictSame(own?.parameters.find(({ name }) => name === 'limit')?.schema, { ...choice, default: null })
  t.match(own?.requestBody, {
    content: {
      'application/json': {
        schema: {
          examples: body.examples,
          anyOf: [
            {
              type: 'object',
              properties: {
                default: { ...choice, description: 'A number. Default: `null`', minimum: undefined },
                type: { anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/State' } }, { type: 'null' }] }
              },
              minItems: undefined
            },
            { type: 'array', minItems: 2, properties: undefined }
          ]
        }
      }
    }
  })
  t.strictSame(document.components.schemas['State'], {
    anyOf: [{ type: 'string', maxLength: 2, enum: ['on'] }, { type: 'boolean', enum: [true] }, { type: 'null', enum: [null] }]
  })
})

t.test('apiScopes contains exactly the scopes of the API\'s routes, except for managing keys', async (t) => {
  const used = new Set<string>()
  const app = await buildApp(t, {
    before (app) {
      app.addHook('onRoute', ({ config }) => {
        for (const scope of [...config?.scopes ?? [], ...config?.anyScope ?? []]) used.add(scope)
      })
    }
  })
  t.strictSame([...used].sort(), ['api_keys:manage', ...apiScopes].sort())
  t.strictSame(app.recruiting.scopes, [...apiScopes, 'api_keys:manage'])
  t.throws(() => (apiScopes as string[]).push('more'), TypeError)
})

t.test('app.recruiting.scopes also contains the scopes of host routes, each once', async (t) => {
  const response = { 200: Type.Object({}) }
  const app = await buildApp(t, {
    async routes (app) {
      app.get('/notes', { config: { scopes: ['notes:read', 'jobs:read'] }, schema: { response } }, async () => ({}))
      app.get('/hidden', { config: { scopes: ['notes:read', 'notes:secret'] }, schema: { hide: true, response } as object }, async () => ({}))
      app.get('/open', { config: { scopes: [] }, schema: { response } }, async () => ({}))
    }
  })
  t.strictSame(app.recruiting.scopes, [...apiScopes, 'api_keys:manage', 'notes:read', 'notes:secret'])
})

const path = '/api/v1/public/{tenant_slug}/event_types'

t.test('only the description of listEventTypes contains the addresses that notifications come from', async (t) => {
  const app = await buildApp(t, { delivery: { sourceIps: ['203.0.113.7', '2001:db8::/32'] } })
  const answer = await app.inject(url)
  const { operationId, description } = answer.json<OpenApi>().paths[path]?.get ?? {}
  t.equal(operationId, 'listEventTypes')
  t.match(description, /an example\. Notifications come from `203\.0\.113\.7`, `2001:db8::\/32`\.\n\nNeeds /)
  t.equal(answer.body.split('203.0.113.7').length, 2)
})

const baseTextIds = '/api/v1/public/{tenant_slug}'
const list = `${baseTextIds}/candidates`
const uuid = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/

t.test('the document shows text ids as strings, in items, paths, filters and examples', async (t) => {
  const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
  const document = await readDocument(t, { ids, storage: memoryStorage({ ids }) })
  const { paths, components: { schemas } } = document
  t.match(schemas, {
    Candidate: { properties: { id: { type: 'string', examples: [uuid] }, source_id: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'The source they came from', examples: [uuid] } } },
    Job: { properties: { id: { type: 'string', examples: [uuid] } } },
    Webhook: { properties: { id: { type: 'integer' } } }
  })
  for (const resource of ['candidate', 'job']) {
    const { parameters = [], responses } = paths[`${baseTextIds}/${resource}s/{id}`]?.get ?? {}
    t.match(parameters[1], {
      name: 'id', description: `The id of the ${resource}`, schema: { type: 'string', pattern: '^[!-.0-~]{1,64}$' }, example: uuid
    })
    const content = responses?.['200']?.content?.['application/json']
    t.match(content?.example, { data: { id: uuid } })
    const refs = JSON.parse(JSON.stringify(content?.schema).replaceAll('"#/', '"document#/'))
    t.ok(createDocumentAjv(document).validate(refs, content?.example))
  }
  const filter = paths[list]?.get?.parameters.find(({ name }) => name === 'filter[recruiter_id]')
  t.match(filter, { description: 'Only candidates of this recruiter', schema: { type: 'string', pattern: '^[!-.0-~]{1,64}$', examples: [uuid] } })
})

// The fixture compares every response of the suite with the document. Would it detect a difference?

const candidates = '/api/v1/public/acme/candidates'

const headers = { 'x-request-id': 'req_1', link: '</>; rel="first"', 'content-type': 'application/json' }
const page = '{"data":[],"meta":{"page":1,"per_page":25,"total":0,"total_pages":0}}'

t.test('a response with an undeclared status, a missing header or an invalid body is detected', async (t) => {
  for (const [{ payload = page, status = 200, missing = '' }, message] of [
    [{ payload: '{"data":[{"id":"1"}]}' }, /is not as documented/],
    [{ status: 418 }, /418 is not in the document/],
    [{ missing: 'link' }, /lacks the header link/]
  ] as Array<[{ payload?: string, status?: number, missing?: string }, RegExp]>) {
    const app = await buildApp(t, {
      before (app) {
        app.addHook('onRequest', async (_request, reply) => reply.code(status).headers(headers).removeHeader(missing).send(payload))
      }
    })
    await t.rejects(app.inject({ url: candidates, headers: bearer(keys.full) }), message)
  }
})
