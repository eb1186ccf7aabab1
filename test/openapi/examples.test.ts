import t from 'tap'
import { type TSchema, Type } from '@sinclair/typebox'
import { exampleOf } from '../../src/http/document/components.js'
import { buildApp } from '../fixtures/api/app.js'
import { type Content, type OpenApi, type Operation, createDocumentAjv, resolve } from '../fixtures/api/document.js'

const url = '/api/v1/public/openapi.json'

function listParameters ({ paths }: OpenApi): Operation['parameters'] {
  return Object.values(paths).flatMap((item) => Object.values(item)).flatMap((operation) => operation.parameters)
}

t.test('every body and every answer has an example that its own schema takes', async (t) => {
  const document = (await (await buildApp(t)).inject(url)).json<OpenApi>()
  const ajv = createDocumentAjv(document)
  const bodies: Array<[title: string, content: Content | undefined]> = []
  for (const item of [...Object.values(document.paths), ...Object.values(document.webhooks)]) {
    for (const { operationId, requestBody, responses } of Object.values(item)) {
      if (requestBody !== undefined) bodies.push([operationId, requestBody.content['application/json']])
      for (const [status, response] of Object.entries(responses)) {
        const { content } = resolve(document, response)
        if (content !== undefined) bodies.push([`${operationId} ${status}`, content['application/json']])
      }
    }
  }
  t.equal(bodies.length, 20 * 6 + 20 + 6 + 18 + 3)
  for (const [title, content] of bodies) {
    const refs = JSON.parse(JSON.stringify(content?.schema).replaceAll('"#/', '"document#/'))
    t.ok(ajv.validate(refs, content?.example), `${title} ${ajv.errorsText()}`)
  }
})

t.test('a parameter that must be sent has an example, which its own schema takes', async (t) => {
  const document = (await (await buildApp(t)).inject(url)).json<OpenApi>()
  const ajv = createDocumentAjv(document)
  const needed = listParameters(document).filter(({ required }) => required)
  t.ok(needed.length > 20)
  for (const { name, schema, example } of [...needed, ...Object.values(document.components.parameters)]) {
    t.ok(example !== undefined && ajv.validate(schema, example), name)
  }
})

t.test('a reference page sends no filter by itself: optional parameters have their examples in the schema', async (t) => {
  const document = (await (await buildApp(t)).inject(url)).json<OpenApi>()
  const ajv = createDocumentAjv(document)
  const optional = listParameters(document).filter(({ required }) => !required)
  t.ok(optional.length > 20)
  for (const { name, schema, ...rest } of optional) {
    t.notOk('example' in rest || 'examples' in rest || 'example' in schema, name)
    const { examples, enum: choices, default: usual } = schema as { examples?: unknown[], enum?: unknown[], default?: unknown }
    t.ok(ajv.validate(schema, examples?.[0] ?? choices?.[0] ?? usual), name)
  }
})

t.test('a parameter of the query that a host requires is required, and has an example', async (t) => {
  const app = await buildApp(t, {
    async routes (app) {
      const querystring = Type.Object({ room: Type.String({ examples: ['A1'] }), seats: Type.Integer({ default: 2 }), wing: Type.Optional(Type.String()) })
      app.get('/rooms', { config: { scopes: [] }, schema: { querystring, response: { 204: Type.Null() } } }, async () => null)
    }
  })
  const { paths } = (await app.inject(url)).json<OpenApi>()
  const parameters = paths['/api/v1/public/{tenant_slug}/rooms']?.get?.parameters
  t.same(parameters?.slice(1).map(({ name, required, example }) => [name, required, example]), [['room', true, 'A1'], ['seats', false, undefined], ['wing', false, undefined]])
})

t.test('an example comes from the schema, and what says nothing of itself gets something of its type', async (t) => {
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

t.test('the data of an event has the examples of its schema', async (t) => {
  const Data = Type.Object({}, { examples: [{ id: 7 }] })
  const app = await buildApp(t, { events: { 'invoice.paid': Data, 'invoice.sent': Type.Object({}) } })
  const { webhooks } = (await app.inject(url)).json<OpenApi>()
  const dataOf = (name: string) => (webhooks[name]?.post.requestBody?.content['application/json']?.example as { data?: unknown }).data
  t.same([dataOf('invoice.paid'), dataOf('invoice.sent')], [{ id: 7 }, { id: 1 }])
})
