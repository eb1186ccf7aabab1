import t from 'tap'
import { Type } from '@sinclair/typebox'
import { createRecruiting, type EventFilters } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { buildWebhookApi, webhookInput } from '../fixtures/api/webhook-api.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { checkError } from '../fixtures/api/answers.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'

interface Shown { data: { id: number, filters: EventFilters | null } }

const filters: EventFilters = { 'data.stage': ['offer', 'hired', null], 'data.job_id': [7, 1.5, true] }

t.test('only events that match the filters are sent; tests ignore the filters', async (t) => {
  const { call, receiver, webhook, drain, emit, log } = await startDelivering(t)
  t.equal((await call<Shown>('PATCH', `/webhooks/${webhook.id}`, { filters: { 'data.job_id': [7] } })).status, 200)
  t.strictSame((await emit({ job_id: 8 })).deliveries, 0)
  t.strictSame((await emit({ job_id: '7' })).deliveries, 0)
  t.strictSame((await emit({})).deliveries, 0)
  const { id, deliveries } = await emit({ job_id: 7 })
  t.equal(deliveries, 1)
  await drain()
  t.strictSame(receiver.requests.map(({ headers }) => headers['webhook-id']), [id])
  t.strictSame((await log()).map(({ event_id: eventId }) => eventId), [id], 'the others are not in the log, not even as skipped')

  t.match((await call('POST', `/webhooks/${webhook.id}/dispatch_test`)).body, { data: { status: 'delivered' } })
  t.equal(receiver.requests.length, 2)
})

t.test('a webhook can select events by the fields that changed, of which emit names only known ones', async (t) => {
  const events = {
    'application.created': Type.Object({}),
    'offer.signed': Type.Object({ id: Type.Integer(), stage_id: Type.Optional(Type.Integer()) }),
    'offer.sent': Type.Object({ id: Type.Integer() }, { additionalProperties: true })
  }
  const { app, call, receiver, drain } = await startDelivering(t, { events } as never)
  const { body: { data: created } } = await call<Shown>('POST', '/webhooks', { name: 'CRM', target_url: receiver.url, event_types: Object.keys(events), changed: ['stage_id'] })
  t.match(created, { changed: ['stage_id'] })
  const emit = (changed: string[] | undefined, type = 'offer.signed') => app.recruiting.emit({ tenantSlug: 'acme', type, data: { id: 1 }, ...changed && { changed } } as never)
  const { id } = await emit(['id', 'stage_id'])
  for (const others of [['id'], [], undefined]) await emit(others)
  await emit(['anything', 'stage_id'], 'offer.sent')
  await drain()
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body))
  t.strictSame(bodies.map(({ changed }) => changed).sort(), [['anything', 'stage_id'], ['id', 'stage_id']])
  t.strictSame((await call<{ data: { changed: string[] } }>('GET', `/events/${id}`)).body.data.changed, ['id', 'stage_id'])

  for (const [changed, field] of [[['stage'], 'changed[0]'], [['id', 'id'], 'changed[1]'], [[7], 'changed[0]'], ['id', 'changed'], [Array(101).fill('id'), 'changed']] as const) {
    await t.rejects(emit(changed as never), { code: 'invalid_event', field })
  }
  for (const changed of [[], 'id', [''], ['x'.repeat(65)], ['a', 'a'], ['a\0'], Array.from({ length: 51 }, (_, n) => `f${n}`), {}]) {
    t.equal((await call('PATCH', `/webhooks/${created.id}`, { changed })).status, 400, JSON.stringify(changed))
  }
  t.strictSame((await call('POST', '/webhooks/preview', { event_types: ['offer.signed'], changed: ['stage_id'] })).body, { data: { events: 4, matching: 1 } })
  t.match((await call('PATCH', `/webhooks/${created.id}`, { changed: null })).body, { data: { changed: null } })
})

const name = 'x'.repeat(64)
const accepted: Array<[title: string, filters: EventFilters]> = [
  ['ten paths', Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`data.f${n}`, [n]]))],
  ['a path of five names of 64 characters', { [`data.${Array(4).fill(name).join('.')}`]: [1] }],
  ['a name of 64 emoji', { [`data.${'\u{1f600}'.repeat(64)}`]: [1] }],
  ['names that are special only in JavaScript', { 'data.__proto__.constructor': ['x'], 'data.0': ['x'] }],
  ['text of 255 characters', { 'data.id': ['\u{1f600}'.repeat(255), '', ' ', '\n', '\uffff'] }],
  ['numbers at their limits', { 'data.id': [2 ** 53 - 1, 1 - 2 ** 53, 5e-324, 0.1] }],
]

t.test('filters up to their limits are accepted and returned unchanged', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  for (const [title, given] of accepted) {
    const { status, body } = await call<Shown>('PATCH', `/webhooks/${id}`, { filters: given })
    t.equal(status, 200, title)
    t.equal(JSON.stringify(body.data.filters), JSON.stringify(given), title)
  }
})

const path = 'must be data and 1 to 4 names joined by dots, such as data.job_id'
const rejected: Array<[title: string, filters: unknown, field: string, message: string | RegExp]> = [
  ...['job_id', 'data', '', 'data.', 'data..id', '.data.id', 'data.id.', 'Data.id', 'id.data', 'data.a.b.c.d.e', `data.${name}x`, 'data.a\nb', 'data.a\u0085', 'data.\u007f', 'database.id', 'data[0]']
    .map((key): [string, unknown, string, string] => [`the path ${JSON.stringify(key)}`, { [key]: [1] }, 'filters', path]),
  ['eleven paths', Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`data.f${n}`, [1]])), 'filters', /more than 10/],
  ['no value', { 'data.id': [] }, 'filters.data.id', /fewer than 1/],
  ['fifty-one values', { 'data.id': Array(51).fill(1) }, 'filters.data.id', /more than 50/],
  ['null without a list', { 'data.id': null }, 'filters.data.id', 'must be array'],
  ['an object as a value', { 'data.id': [1, { a: 1 }] }, 'filters.data.id[1]', /must be string,number,boolean,null/],
  ['text of 256 characters', { 'data.id': ['x'.repeat(256)] }, 'filters.data.id[0]', /255/],
  ['text with NUL', { 'data.id': ['a\0'] }, 'filters.data.id[0]', /NUL/],
  ['a path with NUL', { 'data.a\0': [1] }, 'filters', /NUL/],
  ['an integer that JSON readers round', { 'data.id': [2 ** 53] }, 'filters.data.id[0]', /<= 9007199254740991/],
  ['a list', ['data.id'], 'filters', 'must be object,null'],
]

t.test('bad filters get a 400 with the field and the reason, and nothing is stored', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create({ filters })
  for (const [title, given, field, message] of rejected) {
    const answer = await call<{ error: { details: Array<{ field: string }> } }>('PATCH', `/webhooks/${id}`, { filters: given })
    t.equal(answer.status, 400, title)
    t.match(answer.body.error.details[0], { in: 'body', field, message }, title)
    t.equal((await call('POST', '/webhooks', { ...webhookInput, filters: given })).status, 400, title)
  }
  t.equal(JSON.stringify((await call<Shown>('GET', `/webhooks/${id}`)).body.data.filters), JSON.stringify(filters))
  t.equal((await call<{ data: unknown[] }>('GET', '/webhooks')).body.data.length, 1)
})

t.test('numbers that no storage can store and names that replace prototypes are rejected', async (t) => {
  const { app, create } = await buildWebhookApi(t)
  const { id } = await create()
  for (const json of ['{"data.id":[1e400]}', '{"data.id":[-1e400]}', '{"__proto__":[1]}', '{"data.id":[NaN]}']) {
    const { statusCode } = await app.inject({
      method: 'PATCH',
      url: `/api/v1/public/acme/webhooks/${id}`,
      payload: `{"filters":${json}}`,
      headers: { ...bearer(keys.full), 'content-type': 'application/json' }
    })
    t.equal(statusCode, 400, json)
  }
})

const url = '/api/v1/public/acme/webhooks/preview'
const headers = bearer(keys.full)

t.test('a preview counts the latest 100 events of the types, and how many match the filters', async (t) => {
  const app = await buildApp(t)
  const preview = async (payload: object) => (await app.inject({ method: 'POST', url, headers, payload })).json()
  t.strictSame(await preview({ event_types: ['job.closed'] }), { data: { events: 0, matching: 0 } })
  for (let id = 1; id <= 110; id++) {
    await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id, stage: id % 4 === 0 ? 'offer' : null } })
  }
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.closed', data: { stage: 'offer' } })
  await app.recruiting.emit({ tenantSlug: 'globex', type: 'application.created', data: { stage: 'offer' } })
  const types = { event_types: ['application.created'] }
  t.strictSame(await preview(types), { data: { events: 100, matching: 100 } })
  t.strictSame(await preview({ ...types, filters: null }), { data: { events: 100, matching: 100 } })
  t.strictSame(await preview({ ...types, filters: { 'data.stage': ['offer'] } }), { data: { events: 100, matching: 25 } })
  t.strictSame(await preview({ ...types, filters: { 'data.stage': [null], 'data.id': [11, 12, 1] } }), { data: { events: 100, matching: 1 } })
  t.strictSame(await preview({ event_types: ['job.closed', 'job.created'], filters: { 'data.stage': ['offer'] } }), { data: { events: 1, matching: 1 } })
  t.strictSame((await app.inject({ url: '/api/v1/public/acme/webhooks', headers })).json().data, [], 'it creates nothing')
})

t.test('a preview follows the same rules as a webhook', async (t) => {
  const app = await buildApp(t)
  for (const payload of [
    {}, { event_types: [] }, { event_types: ['job.lost'] }, { event_types: ['job.closed'], filters: { id: ['x'] } },
    { event_types: ['job.closed'], name: 'CRM' }
  ]) {
    checkError(t, await app.inject({ method: 'POST', url, headers, payload }), 400, JSON.stringify(payload))
  }
  checkError(t, await app.inject({ method: 'POST', url, headers: bearer(keys.webhooksRead), payload: { event_types: ['job.closed'] } }), 403)
})

t.test('without a feed there is no preview', async (t) => {
  const { feed, ...storage } = memoryStorage()
  const app = await buildApp(t, { storage })
  checkError(t, await app.inject({ method: 'POST', url, headers, payload: { event_types: ['job.closed'] } }), 404)
  const recruiting = createRecruiting({ storage, delivery: false, logger: silentLogger })
  t.teardown(() => recruiting.close())
  await t.rejects(recruiting.webhooks.preview('acme', { event_types: ['job.closed'] }), { code: 'invalid_option', message: /storage\.feed: expected a storage with a feed/ })
})
