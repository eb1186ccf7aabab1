import { Type } from 'typebox'
import t from 'tap'
import { defineList, type RecruitingApiOptions } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { recordEvents } from '../../src/tools/testing/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'

const storage = memoryStorage({
  tenants: {
    acme: {
      candidates: [
        { id: 1, full_name: 'Ada Lovelace', email: 'ada@example.com', phone: '1', secret: 'canary' },
        { id: 2, full_name: 'Grace Hopper', email: 'grace@example.com' }
      ],
      jobs: [
        { id: 1, name: 'Analyst', status: 'published', city: 'Paris' },
        { id: 2, name: 'Engineer', status: 'published' }
      ]
    }
  }
})

const requests = [
  { url: 'candidates' }, { url: 'jobs' }, { url: 'event_types' },
  { url: 'notes?filter[stage]=open&filter[score]=3' }, { url: 'notes?filter[stage]=lost' },
  { url: 'notes?filter[score]=-1' }, { url: 'notes?filter[score]=x' },
  ...[{ name: 'a' }, { name: 'a', note: 'b' }, {}, { name: 'a', other: 1 }, { name: 1 }]
    .map((payload) => ({ method: 'POST', url: 'notes', payload } as const))
]

const events = {
  'offer.signed': Type.Object({
    id: Type.Integer(),
    note: Type.Optional(Type.String()),
    parts: Type.Array(Type.Union([Type.Literal('a'), Type.Null()]))
  }, { description: 'An offer was signed', examples: [{ id: 1, parts: ['a'] }] })
}
const list = defineList(Type.Object({ id: Type.Integer(), note: Type.Optional(Type.String()) }), {
  sort: ['id'],
  filters: { stage: Type.Union([Type.Literal('open'), Type.Literal('shut')]), score: Type.Integer({ minimum: 0 }) }
})
const body = Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) }, { additionalProperties: false })
const answer = Type.Object({ name: Type.String(), note: Type.Optional(Type.String()) })
const routes: RecruitingApiOptions['routes'] = async (app) => {
  app.get('/notes', {
    config: { scopes: ['jobs:read'] },
    schema: { operationId: 'listNotes', querystring: list.query, response: { 200: list.page } }
  }, (request, reply) => list.read(request, reply, {
    list: async (_tenant, { filter: { stage, score } }) => [{ id: 1, note: JSON.stringify([stage, score]) }, { id: 2 }],
    count: async () => 2
  }))
  app.post('/notes', {
    config: { scopes: ['jobs:write'] }, schema: { operationId: 'createNote', body, response: { 201: answer } }
  }, async ({ body }, reply) => {
    reply.code(201)
    return body
  })
}

t.test('responses, errors and the document support schemas of typebox 1.x', async (t) => {
  const app = await buildApp(t, {
    storage,
    events,
    candidateFields: Type.Object({ email: Type.String(), phone: Type.Optional(Type.String()) }),
    jobFields: Type.Object({ city: Type.Optional(Type.String()) }),
    routes,
    errorDetails: true
  })
  const answers = await Promise.all(requests.map(async ({ url, ...request }) => {
    const path = `/api/v1/public/acme/${url}`
    const { statusCode, body } = await app.inject({ ...request, url: path, headers: bearer(keys.full) })
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

t.test('emit checks data with schemas of typebox 1.x', async (t) => {
  const { recruiting, of } = recordEvents({ events })
  await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, parts: ['a', null] } })
  t.strictSame(of('offer.signed').map(({ data }) => data), [{ id: 1, parts: ['a', null] }])
  for (const [data, field] of [[{ id: 'x', parts: [] }, 'data.id'], [{ id: 1 }, 'data.parts'], [{ id: 1, parts: [], note: 1 }, 'data.note'], [{ id: 1, parts: ['b'] }, 'data.parts[0]']] as const) {
    await t.rejects(recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: data as never }), { code: 'invalid_event', field })
  }
})

t.test('a list of typebox 1.x can have text enums as filters', async (t) => {
  const Row = Type.Object({ id: Type.Integer() })
  const { query } = defineList(Row, { sort: ['id'], filters: { stage: Type.Enum(['open', 'shut']) } })
  t.match(query.properties['filter[stage]'], { enum: ['open', 'shut'] })
  const field = 'filters.stage'
  t.throws(() => defineList(Row, { sort: ['id'], filters: { stage: Type.Enum(['open', 2]) } }), {
    code: 'invalid_option', field, message: `${field}: expected a schema of text, integers or booleans, got an object`
  })
})

t.test('typebox 1.x types that JSON does not have are rejected with the name of the option', async (t) => {
  for (const [type, schema] of [['bigint', Type.BigInt()], ['undefined', Type.Undefined()]] as const) {
    t.throws(() => recordEvents({ events: { 'offer.signed': Type.Object({ id: schema }) } }), { code: 'invalid_option', field: 'events["offer.signed"]' }, type)
    await t.rejects(buildApp(t, { candidateFields: Type.Object({ phone: schema }) }), { code: 'invalid_option', field: 'candidateFields' }, type)
  }
})
