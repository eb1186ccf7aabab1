import t from 'tap'
import { type TSchema, Type } from '@sinclair/typebox'
import { exampleOf } from '../../src/http/document/example.js'
import { buildApp } from '../fixtures/app.js'
import { type Content, type OpenApi, createDocumentAjv, resolve } from '../fixtures/document.js'

const url = '/api/v1/public/openapi.json'

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
  t.equal(bodies.length, 12 * 5 + 11 + 5 + 18)
  for (const [title, content] of bodies) {
    const refs = JSON.parse(JSON.stringify(content?.schema).replaceAll('"#/', '"document#/'))
    t.ok(ajv.validate(refs, content?.example), `${title} ${ajv.errorsText()}`)
  }
})

t.test('every parameter has an example that its own schema takes', async (t) => {
  const document = (await (await buildApp(t)).inject(url)).json<OpenApi>()
  const ajv = createDocumentAjv(document)
  const parameters = Object.values(document.paths).flatMap((item) => Object.values(item)).flatMap((operation) => operation.parameters)
  t.ok(parameters.length > 40)
  for (const { name, schema, example } of [...parameters, ...Object.values(document.components.parameters)]) {
    t.ok(example !== undefined && ajv.validate(schema, example), name)
  }
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
