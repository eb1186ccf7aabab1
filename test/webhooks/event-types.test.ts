import { Type } from '@sinclair/typebox'
import t from 'tap'
import { defaultEvents } from '../../src/index.js'
import { languages } from '../../src/portal/messages/index.js'
import { buildWebhookApi, refusal } from '../fixtures/api/webhook-api.js'

interface Listed {
  data: Array<{ name: string, description: string | null, descriptions?: Record<string, string>, schema: object, example: object | null }>
  meta: object
}

const events = {
  'invoice.paid': Type.Object({ amount: Type.Integer({ minimum: 1 }), items: Type.Optional(Type.Array(Type.Object({ sku: Type.String() }))) }, {
    description: 'An invoice was paid: "é"', examples: [{ amount: 5, note: null }, { amount: 6 }]
  }),
  'invoice.paid_late': Type.Object({}),
  'invoice_item.added': Type.Object({ id: Type.Union([Type.Integer(), Type.Null()]) }, { additionalProperties: true, examples: [] })
}

t.test('the events of the host are listed with description, schema and first example', async (t) => {
  const { call } = await buildWebhookApi(t, { events })
  const { status, headers, body } = await call('GET', '/event_types')
  t.equal(status, 200)
  t.strictSame(body, {
    data: [{
      name: 'invoice.paid',
      description: 'An invoice was paid: "é"',
      schema: JSON.parse(JSON.stringify(events['invoice.paid'])),
      example: { amount: 5, note: null }
    }, {
      name: 'invoice.paid_late',
      description: null,
      schema: { type: 'object', properties: {} },
      example: null
    }, {
      name: 'invoice_item.added',
      description: null,
      schema: JSON.parse(JSON.stringify(events['invoice_item.added'])),
      example: null
    }],
    meta: { page: 1, per_page: 25, total: 3, total_pages: 1 }
  })
  const path = '/api/v1/public/acme/event_types?page=1&per_page=25&sort=name'
  t.equal(headers.link, `<${path}>; rel="first", <${path}>; rel="last"`)
})

t.test('a deprecated event says since when, until when and what to use instead; its schema says true, as in JSON Schema', async (t) => {
  const deprecated = { since: '2026-03-01', sunset: '2026-09-01T12:00:00+02:00', link: 'https://example.com/changes' }
  const { call } = await buildWebhookApi(t, {
    events: {
      'a.old': Type.Object({}, { deprecated }), 'b.older': Type.Object({}, { deprecated: { since: '2026-03-01' } }), 'c.plain': Type.Object({}, { deprecated: true }), 'd.new': Type.Object({})
    }
  })
  const { body: { data } } = await call<Listed>('GET', '/event_types')
  const schema = { type: 'object', properties: {} }
  t.strictSame(data, [
    { name: 'a.old', description: null, schema: { ...schema, deprecated: true }, example: null, deprecated: { since: '2026-03-01T00:00:00.000Z', sunset: '2026-09-01T10:00:00.000Z', link: 'https://example.com/changes' } },
    { name: 'b.older', description: null, schema: { ...schema, deprecated: true }, example: null, deprecated: { since: '2026-03-01T00:00:00.000Z', sunset: null, link: null } },
    { name: 'c.plain', description: null, schema: { ...schema, deprecated: true }, example: null },
    { name: 'd.new', description: null, schema, example: null }
  ])
})

t.test('an event has its description by language if the host gives them, apart from its schema', async (t) => {
  const descriptions = { de: 'Eine Rechnung wurde bezahlt', 'pt-BR': 'Uma fatura foi paga' }
  const { call } = await buildWebhookApi(t, { events: { 'invoice.paid': Type.Object({}, { description: 'An invoice was paid', descriptions }) } })
  const { body: { data } } = await call<Listed>('GET', '/event_types')
  t.strictSame(data, [{
    name: 'invoice.paid', description: 'An invoice was paid', descriptions, schema: { type: 'object', properties: {}, description: 'An invoice was paid' }, example: null
  }])
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

t.test('an unknown parameter, another field to sort by or a page out of range is refused', async (t) => {
  const { call } = await buildWebhookApi(t)
  const rule = 'must be name; a leading minus sign sorts descending'
  for (const [query, field, message] of [
    ['sort=id', 'sort', rule],
    ['sort=name,-name', 'sort', 'names name more than once'],
    ['per_page=201', 'per_page', 'must be <= 200'],
    ['filter[name]=job.closed', 'filter[name]', 'is not known']
  ] as const) {
    const answer = await call('GET', `/event_types?${query}`)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { in: 'query', field, message }))
  }
})

t.test('each event of the default catalogue has a description and an example', async (t) => {
  const { call } = await buildWebhookApi(t)
  const { body: { data } } = await call<Listed>('GET', '/event_types?per_page=200')
  t.strictSame(data.map(({ name }) => name), Object.keys(defaultEvents).sort())
  for (const { name, description, schema, example } of data) {
    t.match([description, schema, example], [/^An? .*[a-z]$|^The personal data .*[a-z]$/, { type: 'object' }, { id: 1 }], name)
  }
})

t.test('the default events are described in each language of the portal', async (t) => {
  const { call } = await buildWebhookApi(t)
  const { body: { data } } = await call<Listed>('GET', '/event_types')
  const expected = Object.keys(languages).filter((locale) => locale !== 'en').sort()
  for (const { name, description, descriptions = {} } of data) {
    t.strictSame(Object.keys(descriptions).sort(), expected, name)
    t.equal(new Set([description, ...Object.values(descriptions)]).size, expected.length + 1, `${name}: all differ`)
  }
  t.equal(data.length, 18)
})
