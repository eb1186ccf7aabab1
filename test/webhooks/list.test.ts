import { Type } from '@sinclair/typebox'
import t from 'tap'
import { defaultEvents } from '../../src/index.js'
import { languages } from '../../src/around/portal/pages.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { buildWebhookApi, healthy, timeOf, webhookInput } from '../fixtures/api/webhook-api.js'

t.test('the list shows each webhook without its secret', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const createdAt = timeOf(clock)
  await clock.advance(1500)
  const changes = { name: 'Data lake', status: 'inactive', event_types: ['job.created', 'job.closed'] }
  const { id: otherId } = await create(changes)
  const shown = { ...webhookInput, status: 'active', headers: null, filters: null, changed: null, contact: null, created_by: { type: 'key', id: 'key_1' } }
  t.strictSame((await call('GET', '/webhooks')).body, {
    data: [
      { id, ...shown, created_at: createdAt, updated_at: createdAt },
      { id: otherId, ...shown, ...changes, created_at: timeOf(clock), updated_at: timeOf(clock) }
    ],
    meta: { page: 1, per_page: 25, total: 2, total_pages: 1 }
  })
})

interface Shown { data: { status: string, health: object } }

t.test('a failing webhook shows when it started failing, its failed deliveries and its pause', async (t) => {
  const delivery = { retrySchedule: [0, 5] }
  const { call, clock, drain, emit, receiver, retry, webhook } = await startDelivering(t, { delivery })
  const readHealth = async (): Promise<object> => (await call<Shown>('GET', `/webhooks/${webhook.id}`)).body.data.health
  t.strictSame(await readHealth(), healthy)
  receiver.answer({ status: 503, headers: { 'retry-after': '3' } }, 500, 204)
  await emit()
  const since = timeOf(clock)
  await drain()
  t.strictSame(await readHealth(), { ...healthy, failing_since: since, paused_until: timeOf(clock, 3000) })
  await retry()
  t.strictSame(await readHealth(), { ...healthy, failing_since: since, failed_deliveries: 1 })
  await emit()
  await drain()
  t.strictSame(await readHealth(), healthy)
})

interface Listed {
  data: Array<{
    name: string,
    description: string | null,
    descriptions?: Record<string, string>,
    schema: object
    example: object | null
  }>
  meta: object
}

const events = {
  'invoice.paid': Type.Object({ amount: Type.Integer({ minimum: 1 }), items: Type.Optional(Type.Array(Type.Object({ sku: Type.String() }))) }, {
    description: 'An invoice was paid: "é"', examples: [{ amount: 5, note: null }, { amount: 6 }]
  }),
  'invoice.paid_late': Type.Object({}),
  'invoice_item.added': Type.Object({ id: Type.Union([Type.Integer(), Type.Null()]) }, { additionalProperties: true, examples: [] })
}

t.test('the host\'s events are listed with description, schema and first example', async (t) => {
  const { call } = await buildWebhookApi(t, { events })
  const { status, headers, body } = await call('GET', '/event_types')
  t.equal(status, 200)
  const schemas = JSON.parse(JSON.stringify(events))
  const example = { amount: 5, note: null }
  t.strictSame(body, {
    data: [
      { name: 'invoice.paid', description: 'An invoice was paid: "é"', schema: schemas['invoice.paid'], example },
      { name: 'invoice.paid_late', description: null, schema: { type: 'object', properties: {} }, example: {} },
      { name: 'invoice_item.added', description: null, schema: schemas['invoice_item.added'], example: { id: 1 } }
    ],
    meta: { page: 1, per_page: 25, total: 3, total_pages: 1 }
  })
  const path = '/api/v1/public/acme/event_types?page=1&per_page=25&sort=name'
  t.equal(headers.link, `<${path}>; rel="first", <${path}>; rel="last"`)
})

t.test('a deprecated event contains since, sunset and link; its schema contains true', async (t) => {
  const link = 'https://example.com/changes'
  const deprecated = { since: '2026-03-01', sunset: '2026-09-01T12:00:00+02:00', link }
  const { call } = await buildWebhookApi(t, {
    events: {
      'a.old': Type.Object({}, { deprecated }),
      'b.older': Type.Object({}, { deprecated: { since: '2026-03-01' } }),
      'c.plain': Type.Object({}, { deprecated: true }),
      'd.new': Type.Object({})
    }
  })
  const since = '2026-03-01T00:00:00.000Z'
  const schema = { type: 'object', properties: {} }
  const old = { description: null, schema: { ...schema, deprecated: true }, example: {} }
  t.strictSame((await call<Listed>('GET', '/event_types')).body.data, [
    { name: 'a.old', ...old, deprecated: { since, sunset: '2026-09-01T10:00:00.000Z', link } },
    { name: 'b.older', ...old, deprecated: { since, sunset: null, link: null } },
    { name: 'c.plain', ...old },
    { name: 'd.new', ...old, schema }
  ])
})

t.test('an event contains its descriptions by language if the host sets them, outside its schema', async (t) => {
  const descriptions = { de: 'Eine Rechnung wurde bezahlt', 'pt-BR': 'Uma fatura foi paga' }
  const description = 'An invoice was paid'
  const events = { 'invoice.paid': Type.Object({}, { description, descriptions }) }
  const { call } = await buildWebhookApi(t, { events })
  const schema = { type: 'object', properties: {}, description }
  const expected = [{ name: 'invoice.paid', description, descriptions, schema, example: {} }]
  t.strictSame((await call<Listed>('GET', '/event_types')).body.data, expected)
})

t.test('the list has pages and is sorted by name', async (t) => {
  const { call } = await buildWebhookApi(t, { events })
  const names = async (query: string): Promise<unknown[]> => {
    const { body: { data, meta } } = await call<Listed>('GET', `/event_types?${query}`)
    return [data.map(({ name }) => name), meta]
  }
  t.strictSame(await names('sort=-name&per_page=2'), [['invoice_item.added', 'invoice.paid_late'], { page: 1, per_page: 2, total: 3, total_pages: 2 }])
  t.strictSame(await names('sort=-name&per_page=2&page=2'), [['invoice.paid'], { page: 2, per_page: 2, total: 3, total_pages: 2 }])
  t.strictSame(await names('page=2147483647'), [[], { page: 2147483647, per_page: 25, total: 3, total_pages: 1 }])
})

t.test('each default event has an example, and a description in each language of the portal', async (t) => {
  const { call } = await buildWebhookApi(t)
  const { body: { data } } = await call<Listed>('GET', '/event_types?per_page=200')
  t.strictSame(data.map(({ name }) => name), Object.keys(defaultEvents).sort())
  const expected = Object.keys(languages).filter((locale) => locale !== 'en').sort()
  for (const { name, description, descriptions = {}, schema, example } of data) {
    t.match(description, /^An? .*[a-z]$|^The personal data .*[a-z]$/, name)
    t.match([schema, example], [{ type: 'object' }, { id: 1 }], name)
    t.strictSame(Object.keys(descriptions).sort(), expected, name)
    t.equal(new Set([description, ...Object.values(descriptions)]).size, expected.length + 1, `${name}: all differ`)
  }
})
