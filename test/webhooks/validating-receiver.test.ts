import { Type } from '@sinclair/typebox'
import t from 'tap'
import { createDocumentAjv, type OpenApi } from '../fixtures/api/document.js'
import { rejection } from '../fixtures/api/webhook-api.js'
import { first, startDelivering } from '../fixtures/delivery/delivering.js'

const events = {
  'application.created': Type.Object({ id: Type.Integer() }),
  'offer.signed': Type.Object({
    at: Type.String({ format: 'date-time' }),
    mail: Type.String({ format: 'email' }),
    code: Type.String({ minLength: 12, maxLength: 14 }),
    seats: Type.Integer({ minimum: 3, multipleOf: 5 }),
    discount: Type.Number({ exclusiveMaximum: 0 }),
    currency: Type.Union([Type.Literal('EUR'), Type.Literal('USD')]),
    kind: Type.Unsafe<string>({ enum: ['fixed', 'open'] }),
    tags: Type.Array(Type.String(), { minItems: 2 }),
    person: Type.Intersect([Type.Object({ name: Type.String() }), Type.Object({ age: Type.Integer({ minimum: 18 }) })]),
    nothing: Type.Null(),
    extra: Type.Optional(Type.String())
  }),
  'offer.coded': Type.Object({ code: Type.String({ pattern: '^[A-Z]{3}$' }) }),
  'offer.wrong': Type.Object({ id: Type.Integer() }, { examples: [{ id: 'one' }] })
}

async function startValidating (t: Parameters<typeof startDelivering>[0]) {
  const started = await startDelivering(t, { events })
  const document = (await started.app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const ajv = createDocumentAjv(document)
  function faultOf (text: string): string | null {
    const body = JSON.parse(text)
    const schema = document.webhooks[body.type]?.post.requestBody?.content['application/json']?.schema ?? {}
    return ajv.validate(schema, body) ? null : ajv.errorsText()
  }
  return { ...started, faultOf }
}

t.test('events, their tombstones and tests without an example match the document', async (t) => {
  const { app, call, drain, receiver, webhook, faultOf } = await startValidating(t)
  await app.recruiting.emit({
    tenantSlug: 'acme',
    type: 'application.created',
    data: { id: 1 },
    subject: 'candidate:1'
  })
  await drain()
  await app.recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' })
  await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
  await drain()
  for (const type of ['application.created', 'offer.signed']) {
    await call('POST', `/webhooks/${webhook.id}/dispatch_test`, { event_type: type })
  }
  const bodies = receiver.requests.map(({ body }) => body)
  t.match(
    bodies.map((body) => JSON.parse(body)),
    [
      { data: { id: 1 } },
      { data: null, erased: true },
      { data: { id: 1 }, test: true },
      { type: 'offer.signed', test: true }
    ]
  )
  for (const body of bodies) t.equal(faultOf(body), null, body)
  t.not(faultOf(first(bodies).replace('{"id":1}', 'null')), null, 'null without erased')
})

t.test('a test of an event without valid example data is rejected, and its example is null', async (t) => {
  const { call, receiver, webhook } = await startValidating(t)
  const message = 'must be an event type with an example that fits its schema'
  for (const type of ['offer.coded', 'offer.wrong']) {
    const answer = await call('POST', `/webhooks/${webhook.id}/dispatch_test`, { event_type: type })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, rejection(answer, { field: 'event_type', message }))
  }
  const { body } = await call<{ data: Array<{ example: object | null }> }>('GET', '/event_types')
  t.same(body.data.map(({ example }) => example === null), [false, true, false, true])
  t.equal(receiver.requests.length, 0)
})
