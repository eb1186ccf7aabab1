import { parse } from 'node:querystring'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { Type as Old } from '@sinclair/typebox'
import { Type } from 'typebox'
import t from 'tap'
import { defineList, type RecruitingApiOptions } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { recordEvents } from '../../src/testing/index.js'
import { type AppOverrides, bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { probe, sendProbes } from '../fixtures/fuzz/probes.js'
import { addHostRoutes, hostRequests } from '../fixtures/hosts/own-site.js'

/** Reads `a[b]=c` as nested objects, the way that the package qs does. */
function parseNested (text: string): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(parse(text))) {
    const [, outer = '', inner = ''] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
    if (outer === '') values[name] = value
    else values[outer] = { ...values[outer] as object, [inner]: value }
  }
  return values
}

function sendCanary (_error: unknown, _request: unknown, reply: FastifyReply): void {
  reply.code(418).send({ canary: true })
}

/** What a host does with its own instance. It may do so before it registers the plugin, and after. */
const calls: Record<string, (app: FastifyInstance) => void> = {
  'a validator that lets everything through': (app) => { app.setValidatorCompiler(() => () => true) },
  'a validator that rejects everything': (app) => {
    app.setValidatorCompiler(() => () => ({ error: new Error('canary') }))
  },
  'a serializer that writes all that a row holds': (app) => {
    app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  },
  'a reply serializer': (app) => { app.setReplySerializer(() => '"canary"') },
  'an error handler that throws': (app) => { app.setErrorHandler(() => { throw new Error('canary') }) },
  'a not-found handler': (app) => {
    app.setNotFoundHandler((_request, reply) => reply.code(200).send({ canary: true }))
  },
  'a schema error formatter': (app) => { app.setSchemaErrorFormatter(() => new Error('canary')) },
  'an envelope around every answer': (app) => {
    app.addHook('preSerialization', async (_request, _reply, payload) => ({ canary: payload }))
  },
  'a query of its own making': (app) => {
    app.addHook('onRequest', async (request) => { request.query = { canary: '1' } })
  },
  'a JSON parser of its own': (app) => {
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, _body, done) => done(null, { a: 1 }))
  },
  'a parser for every media type': (app) => {
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, { canary: true }))
  },
  'a parser for text and forms': (app) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', /\+json$/]) {
      app.addContentTypeParser(type, { parseAs: 'string' }, (_request, _body, done) => done(null, {}))
    }
  },
  'no parser at all': (app) => { app.removeAllContentTypeParsers() },
  'schemas and decorators': (app) => {
    app.addSchema({ $id: 'Candidate', type: 'string' })
    app.decorateRequest('tenant', '')
    app.decorateReply('tenant', '')
  }
}

/** Options of the host's instance. */
const servers: Record<string, AppOverrides['server']> = {
  'an Ajv that coerces, removes and fills in': {
    ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true, allErrors: false } }
  },
  'an Ajv with a keyword that rejects everything': {
    ajv: { customOptions: { strict: false }, onCreate (ajv) { ajv.addFormat('date-time', () => false) } }
  },
  'compilers of its own': {
    schemaController: {
      compilersFactory: {
        buildValidator: (() => () => () => true) as never,
        buildSerializer: () => () => () => '"canary"'
      }
    }
  },
  'a schema error formatter as an option': { schemaErrorFormatter: () => new Error('canary') },
  'a nested query parser': { routerOptions: { querystringParser: parseNested } },
  'a query parser that invents things': { routerOptions: { querystringParser: () => ({ canary: '1', page: '7' }) } },
  'a small body limit': { bodyLimit: 10 },
  'prototypes that may be poisoned': { onProtoPoisoning: 'ignore', onConstructorPoisoning: 'ignore' },
  'prototypes that are removed': { onProtoPoisoning: 'remove', onConstructorPoisoning: 'remove' },
  'serializer options': { serializerOpts: { rounding: 'ceil', mode: 'standalone' } },
  'request ids of its own': { genReqId: () => 'canary', requestIdHeader: 'x-request-id', requestIdLogLabel: 'request_id' },
  'a trusted proxy': { trustProxy: true },
  'an answer to what the router cannot read': { frameworkErrors: sendCanary }
}

t.test('no setting of the host changes an answer', async (t) => {
  const plain = await probe(t, {})
  t.ok(plain.length >= 50, 'there are probes')
  t.notMatch(plain.join(), /canary/)
  for (const [what, apply] of Object.entries(calls)) {
    t.same(await probe(t, { before: apply }), plain, `${what}, set before the plugin is registered`)
    t.same(await probe(t, { after: apply }), plain, `${what}, set after the plugin is registered`)
  }
  for (const [what, server] of Object.entries(servers)) {
    if (server !== undefined) t.same(await probe(t, { server }), plain, what)
  }
})

t.test('all the settings together change no answer', async (t) => {
  const { 'no parser at all': _, ...others } = calls
  const applyAll = (app: FastifyInstance): void => { for (const apply of Object.values(others)) apply(app) }
  t.same(await probe(t, { server: Object.assign({ allowErrorHandlerOverride: true }, ...Object.values(servers)), before: applyAll }), await probe(t, {}))
})

async function answersAlone (t: Teardown, prepare: (app: FastifyInstance) => void): Promise<string[]> {
  const app = Fastify()
  t.teardown(() => app.close())
  prepare(app)
  return sendProbes(app, hostRequests)
}

t.test('the host\'s own handlers and hooks apply only to its own routes', async (t) => {
  const prepare = (app: FastifyInstance): void => {
    addHostRoutes(app)
    app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ mine: error.message }))
    app.setNotFoundHandler((_request, reply) => reply.code(404).send({ mine: 'not found' }))
    app.addHook('preSerialization', async (_request, _reply, payload) => ({ mine: payload }))
    app.addHook('onSend', async (request, reply) => { if (request.url.startsWith('/own')) reply.header('x-mine', '1') })
  }
  const alone = await answersAlone(t, prepare)
  const app = await buildApp(t, { before: prepare })
  t.same(await sendProbes(app, hostRequests), alone)
  t.same((await app.inject({ url: '/api/v1/public/acme/webhooks/1', headers: bearer(keys.full) })).json().error.code, 'not_found')
})

t.test('a host can mount the API under a prefix of its own, beside another', async (t) => {
  const app = await buildApp(t, { prefix: '/hr/v1' })
  const answer = await app.inject({ url: '/hr/v1/acme/jobs?per_page=1', headers: bearer(keys.full) })
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers.link, '</hr/v1/acme/jobs?page=1&per_page=1&sort=id>; rel="first", ' +
    '</hr/v1/acme/jobs?page=2&per_page=1&sort=id>; rel="next", </hr/v1/acme/jobs?page=2&per_page=1&sort=id>; rel="last"')
  t.equal((await app.inject({ url: '/hr/v1/acme/nothing' })).json().error.code, 'unauthorized')
  t.equal((await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) })).json().message,
    'Route GET:/api/v1/public/acme/jobs not found')
})

// The types are compared in test/types/typebox.ts.
const typeboxes = [['@sinclair/typebox 0.34', Old], ['typebox 1.x', Type as unknown as typeof Old]] as const

const storage = memoryStorage({
  tenants: {
    acme: {
      candidates: [{ id: 1, full_name: 'Ada Lovelace', email: 'ada@example.com', phone: '1', secret: 'canary' }, { id: 2, full_name: 'Grace Hopper', email: 'grace@example.com' }],
      jobs: [{ id: 1, name: 'Analyst', status: 'published', city: 'Paris' }, { id: 2, name: 'Engineer', status: 'published' }]
    }
  }
})

const requests = [
  { url: 'candidates' }, { url: 'jobs' }, { url: 'event_types' },
  { url: 'notes?filter[stage]=open&filter[score]=3' }, { url: 'notes?filter[stage]=lost' }, { url: 'notes?filter[score]=-1' }, { url: 'notes?filter[score]=x' },
  { method: 'POST', url: 'notes', payload: { name: 'a' } }, { method: 'POST', url: 'notes', payload: { name: 'a', note: 'b' } },
  { method: 'POST', url: 'notes', payload: {} }, { method: 'POST', url: 'notes', payload: { name: 'a', other: 1 } }, { method: 'POST', url: 'notes', payload: { name: 1 } }
] as const

for (const [name, Type] of typeboxes) {
  const events = {
    'offer.signed': Type.Object({
      id: Type.Integer(), note: Type.Optional(Type.String()), parts: Type.Array(Type.Union([Type.Literal('a'), Type.Null()]))
    }, { description: 'An offer was signed', examples: [{ id: 1, parts: ['a'] }] })
  }
  const list = defineList(Type.Object({ id: Type.Integer(), note: Type.Optional(Type.String()) }), {
    sort: ['id'], filters: { stage: Type.Union([Type.Literal('open'), Type.Literal('shut')]), score: Type.Integer({ minimum: 0 }) }
  })
  const body = Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) }, { additionalProperties: false })
  const answer = Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) })
  const routes: RecruitingApiOptions['routes'] = async (app) => {
    app.get('/notes', {
      config: { scopes: ['jobs:read'] }, schema: { operationId: 'listNotes', tags: ['notes'], summary: 'List notes', querystring: list.query, response: { 200: list.page } }
    }, (request, reply) => list.read(request, reply, {
      list: async (_tenantSlug, { filter: { stage, score } }) => [{ id: 1, note: JSON.stringify([stage, score]) }, { id: 2 }],
      count: async () => 2
    }))
    app.post('/notes', {
      config: { scopes: ['jobs:write'] }, schema: { operationId: 'createNote', tags: ['notes'], summary: 'Create a note', body, response: { 201: answer } }
    }, async ({ body }, reply) => {
      reply.code(201)
      return body
    })
  }

  t.test(`answers, errors and the document with schemas of ${name}`, async (t) => {
    const app = await buildApp(t, {
      storage,
      events,
      candidateFields: Type.Object({ email: Type.String(), phone: Type.Optional(Type.String()) }),
      jobFields: Type.Object({ city: Type.Optional(Type.String()) }),
      routes,
      errorDetails: true
    })
    const answers = await Promise.all(requests.map(async ({ url, ...request }) => {
      const { statusCode, body } = await app.inject({ ...request, url: `/api/v1/public/acme/${url}`, headers: bearer(keys.full) })
      return [url, statusCode, JSON.parse(body.replace(/req_\w+/, 'req'))]
    }))
    t.matchOnly(answers.slice(0, 2), [
      ['candidates', 200, {
        data: [
          { id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null, email: 'ada@example.com', phone: '1' },
          { id: 2, full_name: 'Grace Hopper', headline: null, source_id: null, email: 'grace@example.com' }
        ],
        meta: Object
      }],
      ['jobs', 200, { data: [{ id: 1, name: 'Analyst', status: 'published', city: 'Paris' }, { id: 2, name: 'Engineer', status: 'published' }], meta: Object }]
    ])
    t.match(answers[3], ['notes?filter[stage]=open&filter[score]=3', 200, { data: [{ id: 1, note: '["open",3]' }, { id: 2 }] }])
    t.strictSame(answers.map(([, status]) => status), [200, 200, 200, 200, 400, 400, 400, 201, 201, 400, 400, 400])
    const { schemas } = (await app.inject('/api/v1/public/openapi.json')).json().components
    t.strictSame(Object.keys(schemas.Candidate.properties), ['id', 'full_name', 'headline', 'source_id', 'email', 'phone'])
    t.strictSame(schemas.Candidate.required, ['id', 'full_name', 'headline', 'source_id', 'email'])
  })

  t.test(`emit checks data with schemas of ${name}`, async (t) => {
    const { recruiting, of } = recordEvents({ events })
    await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, parts: ['a', null] } })
    t.strictSame(of('offer.signed').map(({ data }) => data), [{ id: 1, parts: ['a', null] }])
    for (const [data, field] of [[{ id: 'x', parts: [] }, 'data.id'], [{ id: 1 }, 'data.parts'], [{ id: 1, parts: [], note: 1 }, 'data.note'], [{ id: 1, parts: ['b'] }, 'data.parts[0]']] as const) {
      await t.rejects(recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: data as never }), { code: 'invalid_event', field })
    }
  })
}

t.test('a list of typebox 1.x has filters that are enums of text', async (t) => {
  const Row = Type.Object({ id: Type.Integer() })
  const { query } = defineList(Row, { sort: ['id'], filters: { stage: Type.Enum(['open', 'shut']) } })
  t.match(query.properties['filter[stage]'], { enum: ['open', 'shut'] })
  const field = 'filters.stage'
  t.throws(() => defineList(Row, { sort: ['id'], filters: { stage: Type.Enum(['open', 2]) } }), {
    code: 'invalid_option', field, message: `${field}: expected a schema of text or integers, got an object`
  })
})

t.test('types of typebox 1.x that JSON does not have are refused by the name of the option', async (t) => {
  for (const [type, schema] of [['bigint', Type.BigInt()], ['undefined', Type.Undefined()]] as const) {
    t.throws(() => recordEvents({ events: { 'offer.signed': Type.Object({ id: schema }) } }), { code: 'invalid_option', field: 'events["offer.signed"]' }, type)
    await t.rejects(buildApp(t, { candidateFields: Type.Object({ phone: schema }) }), { code: 'invalid_option', field: 'candidateFields' }, type)
  }
})
