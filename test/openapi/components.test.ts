import t from 'tap'
import { type TObject, Type } from '@sinclair/typebox'
import { type Teardown, buildApp } from '../fixtures/api/app.js'
import type { OpenApi } from '../fixtures/api/document.js'

async function dataSchemas (t: Teardown, ...schemas: TObject[]): Promise<[data: object[], components: OpenApi['components']['schemas']]> {
  const events = Object.fromEntries(schemas.map((schema, index) => [`event.e${index}`, schema]))
  const app = await buildApp(t, { events })
  const { webhooks, components } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const data = Object.values(webhooks).map(({ post }) => post.requestBody?.content['application/json']?.schema.properties?.data ?? {})
  return [data, components.schemas]
}

t.test('a schema with a title is written once, under its title', async (t) => {
  const Invoice = Type.Object({ amount: Type.Integer() }, { title: 'Invoice' })
  const [data, schemas] = await dataSchemas(t, Invoice, Invoice)
  t.same(data, [{ $ref: '#/components/schemas/Invoice' }, { $ref: '#/components/schemas/Invoice' }])
  t.same(schemas.Invoice, { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] })
})

t.test('another schema with the same title stays inline', async (t) => {
  const [data, schemas] = await dataSchemas(t, Type.Object({ chips: Type.Integer() }, { title: 'Candidate' }))
  t.same(data, [{ type: 'object', properties: { chips: { type: 'integer' } }, required: ['chips'] }])
  t.match(schemas.Candidate, { properties: { full_name: { type: 'string' } } })
})

t.test('a title that is no name of a component stays a title', async (t) => {
  const [data] = await dataSchemas(t, Type.Object({}, { title: 'An invoice, paid' }))
  t.same(data, [{ title: 'An invoice, paid', type: 'object', properties: {} }])
})

t.test('a property whose name is title, and an example that has one, stay what they are', async (t) => {
  const [data] = await dataSchemas(t, Type.Object({ title: Type.String() }, { examples: [{ title: 'Invoice' }] }))
  t.same(data, [{ type: 'object', properties: { title: { type: 'string' } }, required: ['title'], examples: [{ title: 'Invoice' }] }])
})
