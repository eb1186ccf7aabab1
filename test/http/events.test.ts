import type { FastifyInstance } from 'fastify'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { EventCatalogue } from '../../src/index.js'
import { createEvent } from '../../src/tools/testing/support/samples.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { type Answer, checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { recordEvents, storeWebhook } from '../fixtures/api/webhooks.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

interface EventPage {
  data: Array<{ id: string, type: string, sequence: string, data: object | null }>
  meta: { next_token: string, has_more: boolean }
}

interface Query { token?: string, per_page?: number, types?: string, since?: string, data?: string }

function request (app: FastifyInstance, { types, data, ...query }: Query = {}): Promise<Answer> {
  const search = new URLSearchParams({ ...query, per_page: String(query.per_page ?? 100) })
  if (types !== undefined) search.set('filter[event_type]', types)
  if (data !== undefined) search.set('filter[data]', data)
  return app.inject({ url: `/api/v1/public/acme/events?${search}`, headers: bearer(keys.full) })
}

async function read (app: FastifyInstance, query?: Query): Promise<EventPage> {
  const answer = await request(app, query)
  if (answer.statusCode !== 200) throw new Error(`the feed got ${answer.statusCode}`)
  return JSON.parse(answer.body) as EventPage
}

/** Reads the feed to its end. */
async function follow (app: FastifyInstance, query: Query = {}): Promise<{ ids: string[], token: string }> {
  const { data, meta } = await read(app, query)
  const ids = data.map(({ id }) => id)
  if (!meta.has_more) return { ids, token: meta.next_token }
  const rest = await follow(app, { ...query, token: meta.next_token })
  return { ids: [...ids, ...rest.ids], token: rest.token }
}

/** Emits events of these types for `acme`, and returns their ids. */
async function emitAll (app: FastifyInstance, types: Array<'application.created' | 'job.closed'>, tenantSlug = 'acme'): Promise<string[]> {
  const ids: string[] = []
  for (const type of types) ids.push((await app.recruiting.emit({ tenantSlug, type, data: { id: ids.length } })).id)
  return ids
}

t.test('the feed contains every event as webhooks receive it, oldest first, without any webhook', async (t) => {
  const app = await buildApp(t)
  const { id } = await app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.created', data: { id: 7, name: 'Ada "é" 漢' }, occurredAt: '2026-03-01T09:30:00Z' })
  const [other] = await emitAll(app, ['job.closed'])
  await emitAll(app, ['job.closed'], 'globex')
  const { body } = await request(app)
  const { data, meta } = JSON.parse(body)
  const text = `{"id":"${id}","type":"candidate.created","timestamp":"2026-03-01T09:30:00.000Z","sequence":"${data[0]?.sequence}","tenant_slug":"acme","data":{"id":7,"name":"Ada \\"é\\" 漢"}}`
  t.ok(body.startsWith(`{"data":[${text},{"id":"${other}","type":"job.closed",`))
  t.equal(data.length, 2)
  t.strictSame(Object.keys(meta), ['next_token', 'has_more'])
  t.equal(meta.has_more, false)
})

t.test('events are sent as they are stored, and HEAD reads only one', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage, openapi: false })
  const bodies = ['{ "id": "evt_1", "data": 1.50 }', '{"id":"evt_2","data":[]}']
  for (const [index, body] of bodies.entries()) {
    await storage.deliveries.record('acme', { ...createEvent(`evt_${index + 1}`), body })
  }
  const get = (path: string, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: `/api/v1/public/acme/events${path}`, headers: bearer(keys.full) })
  t.ok((await get('?per_page=100')).body.startsWith(`{"data":[${bodies.join()}],"meta":{"next_token":`))
  t.equal((await get('/evt_1')).body, `{"data":${bodies[0]}}`)
  const head = await get('?per_page=100', 'HEAD')
  t.strictSame([head.statusCode, head.body, head.headers['content-length']], [200, '', undefined])
  const limits = calls.filter(({ method }) => method === 'feed.list').map(({ args }) => Reflect.get(Object(args[1]), 'limit'))
  t.strictSame(limits, [100, 1])
})

t.test('HEAD of an event or a delivery does not read its body', async (t) => {
  const { storage, calls } = spyStorage()
  const webhook = await storeWebhook(storage, 'acme')
  const app = await buildApp(t, { storage, openapi: false })
  await recordEvents(storage, 'acme', 1)
  const { data: [sent] } = (await app.inject({
    url: `/api/v1/public/acme/webhooks/${webhook.id}/deliveries`, headers: bearer(keys.full)
  })).json()
  const [event, delivery] = [`/events/${sent.event_id}`, `/webhooks/${webhook.id}/deliveries/${sent.id}`]
  for (const path of [event, delivery]) {
    for (const method of ['GET', 'HEAD'] as const) {
      const answer = await app.inject({ method, url: `/api/v1/public/acme${path}`, headers: bearer(keys.full) })
      t.equal(answer.statusCode, 200, `${method} ${path}`)
      t.equal(answer.headers['content-length'] === undefined, method === 'HEAD', `${method} ${path}`)
    }
  }
  const read = calls.filter(({ method }) => method === 'feed.find' || method === 'deliveries.find')
  t.strictSame(read.map(({ method, args }) => [method, args.at(-1)]), [
    ['feed.find', { omitBody: false }], ['feed.find', { omitBody: true }],
    ['deliveries.find', { omitBody: false }], ['deliveries.find', { omitBody: true }]
  ])
})

t.test('token=now begins with the next event', async (t) => {
  const app = await buildApp(t)
  await emitAll(app, ['job.closed'])
  const { data, meta } = await read(app, { token: 'now' })
  t.strictSame([data, meta.has_more], [[], false])
  const later = await emitAll(app, ['job.closed'])
  t.strictSame((await follow(app, { token: meta.next_token })).ids, later)
})

t.test('since begins with the first event of that time, and an event can be read by its id', async (t) => {
  const clock = { now: () => now }
  let now = Date.parse('2030-01-01T00:00:00Z')
  const app = await buildApp(t, { storage: memoryStorage({ tenants, clock }) })
  const [first] = await emitAll(app, ['job.closed'])
  now += 60_000
  const [second, third] = await emitAll(app, ['job.closed', 'application.created'])
  const [foreign] = await emitAll(app, ['job.closed'], 'globex')
  for (const [since, ids] of [
    ['2029-12-31T23:00:00Z', [first, second, third]], ['2030-01-01T01:00:00.001+01:00', [second, third]],
    ['2030-01-01T00:01:00Z', [second, third]], ['2030-01-01T00:01:00.001Z', []]
  ] as const) {
    const { data, meta } = await read(app, { since, per_page: 1 })
    const rest = meta.has_more ? (await follow(app, { token: meta.next_token })).ids : []
    t.strictSame([...data.map(({ id }) => id), ...rest], ids, since)
  }
  const { body } = await request(app, { since: '2030-01-01T00:01:00Z', per_page: 1 })
  const find = (id?: string, key = keys.full): Promise<Answer> =>
    app.inject({ url: `/api/v1/public/acme/events/${id}`, headers: bearer(key) })
  t.equal(`{"data":[${(await find(second)).body.slice('{"data":'.length, -1)}]`, body.slice(0, body.indexOf(',"meta"')))
  for (const id of [foreign, 'evt_0', '%00', '1']) checkError(t, await find(id), 404, id)
  checkError(t, await find(second, keys.jobsRead), 403)
})

t.test('filter[event_type] selects types, and its tokens are only valid for the same types; those of all types for any', async (t) => {
  const app = await buildApp(t)
  const [first, second, third] = await emitAll(app, ['application.created', 'job.closed', 'application.created'])
  t.strictSame((await follow(app, { types: 'job.closed' })).ids, [second])
  t.strictSame((await follow(app, { types: 'job.closed,application.created', per_page: 1 })).ids, [first, second, third])
  const { token } = await follow(app, { types: 'job.closed,application.created' })
  t.equal((await request(app, { token, types: 'application.created,job.closed,job.closed' })).statusCode, 200, 'the same types in another order')
  for (const types of ['job.closed', undefined]) checkError(t, await request(app, { token, ...types === undefined ? {} : { types } }), 410, `the token with ${types}`)
  const { meta } = await read(app, { per_page: 1 })
  t.strictSame((await follow(app, { token: meta.next_token, types: 'application.created' })).ids, [third], 'the token of all types')
})

t.test('filter[data] selects events by data, as webhooks do, and its tokens are only valid for the same filter', async (t) => {
  const app = await buildApp(t, { errorDetails: true })
  const [first, second, third] = await emitAll(app, ['job.closed', 'job.closed', 'job.closed'])
  for (const [data, ids] of [
    ['{"data.id":[1]}', [second]], [' { "data.id": [2, 0] } ', [first, third]], ['{"data.id":["1"]}', []], ['{}', [first, second, third]],
    ['{"data.id":[1],"data.stage":[null]}', [second]]
  ] as const) t.strictSame((await follow(app, { data, per_page: 1 })).ids, ids, data)
  const { token } = await follow(app, { data: '{"data.id":[1,0],"data.stage":[null]}' })
  t.equal((await request(app, { token, data: '{"data.stage":[null],"data.id":[0,1,1]}' })).statusCode, 200, 'in another order')
  for (const data of ['{"data.id":[1,"0"],"data.stage":[null]}', '{}']) checkError(t, await request(app, { token, data }), 410, data)
  for (const [data, message] of [
    ['', 'must be object'], ['1', 'must be object'], ['[]', 'must be object'], ['{', 'must be object'],
    ['{"data.id":1}', 'must be array'], ['{"data.id":[]}', /fewer than 1/], ['{"job_id":[1]}', /^must be data and 1 to 4 names/],
    ['{"data.id":["\\u0000"]}', 'must be object'], ['{"data.id":[1e400]}', /number|<=/],
    [`{${Array.from({ length: 11 }, (_, index) => `"data.f${index}":[1]`).join()}}`, /more than 10/]
  ] as const) {
    const { statusCode, body } = await request(app, { data })
    t.equal(statusCode, 400, data)
    t.match(JSON.parse(body).error.details[0], { in: 'query', field: /^filter\[data\]/, message }, data)
  }
})

t.test('tests and replays are not in the feed', async (t) => {
  const { app, call, webhook, emit, drain } = await startDelivering(t)
  const { id } = await emit()
  await drain()
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
  await drain()
  t.strictSame((await follow(app)).ids, [id])
})

t.test('a removed event type stays valid for webhooks and readers that use it', async (t) => {
  const storage = memoryStorage()
  const Data = Type.Object({})
  const build = (events: EventCatalogue) => buildApp(t, { storage, events, delivery: false })
  const old = await build({ 'offer.sent': Data, 'offer.signed': Data })
  const hook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['offer.sent', 'offer.signed'] }
  const { id } = await old.recruiting.webhooks.create('acme', hook)
  const ask = async (app: FastifyInstance, method: 'GET' | 'PATCH' | 'POST', path: string, payload?: object) => {
    const answer = await app.inject({
      method, url: `/api/v1/public/acme${path}`, headers: bearer(keys.full), ...payload === undefined ? {} : { payload }
    })
    return { status: answer.statusCode, body: answer.json() }
  }
  const read = '/events?filter[event_type]=offer.sent'
  const { body: { meta: { next_token: token } } } = await ask(old, 'GET', read)
  const app = await build({ 'offer.signed': Data })
  const used = { event_types: ['offer.signed', 'offer.sent'] }
  const kept = { event_types: ['offer.signed'] }
  for (const [status, method, path, payload] of [
    [200, 'GET', read], [200, 'PATCH', `/webhooks/${id}`, used], [400, 'POST', '/webhooks', hook],
    [200, 'POST', '/webhooks/preview', used], [202, 'POST', `/webhooks/${id}/replay`, used],
    [200, 'PATCH', `/webhooks/${id}`, kept], [400, 'PATCH', `/webhooks/${id}`, used],
    [400, 'GET', read], [200, 'GET', `${read}&token=${token}`], [400, 'GET', `${read}&token=${token}x`]
  ] as const) t.equal((await ask(app, method, path, payload)).status, status, `${method} ${path}`)
})

t.test('without a feed in the storage, neither the API nor the document has the route', async (t) => {
  const { feed, ...storage } = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  checkError(t, await request(app), 404)
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json()
  t.notOk(Object.keys(paths).some((path) => path.endsWith('/events')))
})
