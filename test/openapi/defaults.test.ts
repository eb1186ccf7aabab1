import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import type { OpenApi } from '../fixtures/api/document.js'

const url = '/api/v1/public/openapi.json'

/** The schema of a body as the document has it, and the body that the handler gets for an empty one. */
async function describeBody (t: Parameters<typeof buildApp>[0], body: TObject): Promise<[schema: unknown, received: unknown]> {
  const app = await buildApp(t, {
    async routes (app) {
      const response = { 200: Type.Object({}, { additionalProperties: true }) }
      app.post('/rooms', { config: { scopes: [] }, schema: { body, response } }, async (request) => request.body as object)
    }
  })
  const { paths } = (await app.inject(url)).json<OpenApi>()
  const answer = await app.inject({ method: 'POST', url: '/api/v1/public/acme/rooms', headers: bearer(keys.full), payload: {} })
  return [paths['/api/v1/public/{tenant_slug}/rooms']?.post?.requestBody?.content['application/json']?.schema, answer.json()]
}

t.test('no request body of the document has a default, wherever the schema has one, and each is said in a description', async (t) => {
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
  const [schema] = await describeBody(t, Type.Object(Object.fromEntries(schemas.map(([of], index) => [named(index), of]))))
  const filled = [0, 1, 2].map(named)
  t.same(schema, {
    type: 'object',
    properties: Object.fromEntries(schemas.map(([, of], index) => [named(index), of])),
    required: schemas.map((_, index) => named(index)).filter((name) => !filled.includes(name))
  })
})

t.test('a default that the document only describes is still filled in', async (t) => {
  const [, received] = await describeBody(t, Type.Object({ seats: Type.Integer({ default: 2 }) }))
  t.same(received, { seats: 2 })
})

t.test('the defaults of queries and answers stay: they are always optional, or always there', async (t) => {
  const { paths } = (await (await buildApp(t)).inject(url)).json<OpenApi>()
  t.match(paths['/api/v1/public/{tenant_slug}/jobs']?.get?.parameters.find(({ name }) => name === 'page')?.schema, { default: 1 })
})

t.test('the data of an event has no default either, and is required as the schema says', async (t) => {
  const app = await buildApp(t, { events: { 'room.booked': Type.Object({ seats: Type.Integer({ default: 2 }) }) } })
  const { webhooks } = (await app.inject(url)).json<OpenApi>()
  t.same(webhooks['room.booked']?.post.requestBody?.content['application/json']?.schema.properties?.data, {
    type: 'object', properties: { seats: { type: 'integer', description: 'Default: `2`' } }, required: ['seats']
  })
})
