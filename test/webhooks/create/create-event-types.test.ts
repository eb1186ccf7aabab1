import t from 'tap'
import { Type } from '@sinclair/typebox'
import { defaultEvents } from '../../../src/index.js'
import { buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'

const { call, create } = await buildWebhookApi(t)

t.test('event types are kept in the order given', async (t) => {
  const eventTypes = ['job.published', 'application.created', 'candidate.merged']
  const { id, event_types: created } = await create({ event_types: eventTypes })
  t.strictSame(created, eventTypes)
  const { body } = await call<{ data: { event_types: string[] } }>('GET', `/webhooks/${id}`)
  t.strictSame(body.data.event_types, eventTypes)
})

t.test('the catalogue is the one of the contract unless the host has its own', async (t) => {
  const catalogue = [
    ...['created', 'updated', 'stage_changed', 'rejected', 'hired', 'withdrawn', 'deleted'].map((name) => `application.${name}`),
    ...['created', 'updated', 'deleted', 'anonymized', 'merged'].map((name) => `candidate.${name}`),
    ...['created', 'updated', 'published', 'closed', 'archived', 'deleted'].map((name) => `job.${name}`)
  ]
  t.same(Object.keys(defaultEvents), catalogue)
  t.strictSame((await create({ event_types: catalogue })).event_types, catalogue)
})

t.test('a catalogue of the host replaces the default', async (t) => {
  const { call, create } = await buildWebhookApi(t, { events: { 'offer.sent': Type.Object({ id: Type.Integer() }) } })
  t.strictSame((await create({ event_types: ['offer.sent'] })).event_types, ['offer.sent'])
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'event_types[0]', message: 'must be an event type of the catalogue' }))
})

t.test('a webhook subscribes to 100 event types at most', async (t) => {
  const names = Array.from({ length: 101 }, (_, index) => `custom.event_${index}`)
  const events = Object.fromEntries(names.map((name) => [name, Type.Object({})]))
  const { call, create } = await buildWebhookApi(t, { events })
  t.strictSame((await create({ event_types: names.slice(0, 100) })).event_types, names.slice(0, 100))
  const answer = await call('POST', '/webhooks', { ...webhookInput, event_types: names })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'event_types', message: 'must NOT have more than 100 items' }))
})

const catalogue = 'must be an event type of the catalogue'
const refused: Array<[title: string, eventTypes: unknown, field: string, message: string]> = [
  ['no event type', [], 'event_types', 'must NOT have fewer than 1 items'],
  ['an event type outside the catalogue', ['application.created', 'application.lost'], 'event_types[1]', catalogue],
  ['an event type in capitals', ['Application.created'], 'event_types[0]', catalogue],
  ['an event type with a space', [' application.created'], 'event_types[0]', catalogue],
  ['a wildcard', ['application.*'], 'event_types[0]', catalogue],
  ['an empty event type', [''], 'event_types[0]', catalogue],
  ['a name that every object inherits', ['toString'], 'event_types[0]', catalogue],
  ['the name of a prototype', ['__proto__'], 'event_types[0]', catalogue],
  ['an event type that is null', [null], 'event_types[0]', 'must be string'],
  ['an event type that is a number', ['application.created', 1], 'event_types[1]', 'must be string'],
  ['event types that are a string', 'application.created', 'event_types', 'must be array'],
  ['event types that are null', null, 'event_types', 'must be array'],
  ['event types that are missing', undefined, 'event_types', 'is required'],
  ['the same event type twice', ['job.created', 'job.created'], 'event_types', 'must NOT have duplicate items (items ## 1 and 0 are identical)']
]

for (const [title, eventTypes, field, message] of refused) {
  t.test(`${title} is refused`, async (t) => {
    const answer = await call('POST', '/webhooks', { ...webhookInput, event_types: eventTypes })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field, message }))
  })
}
