import t from 'tap'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { buildWebhookApi, notFound, onlyById, refusal, timeOf, webhookInput } from '../fixtures/api/webhook-api.js'

const changes: Array<[field: string, sent: unknown, stored: unknown]> = [
  ['name', '  Data lake ', 'Data lake'],
  ['target_url', 'HTTPS://Example.com:443', 'https://example.com/'],
  ['event_types', ['job.closed', 'job.created'], ['job.closed', 'job.created']],
  ['status', 'inactive', 'inactive']
]

for (const [field, sent, stored] of changes) {
  t.test(`a PATCH of ${field} changes it and updated_at, and nothing else`, async (t) => {
    const { call, clock, create } = await buildWebhookApi(t)
    const { id } = await create()
    const createdAt = timeOf(clock)
    await clock.advance(5000)
    const { status, body } = await call('PATCH', `/webhooks/${id}`, { [field]: sent })
    t.equal(status, 200)
    const data = { id, ...webhookInput, status: 'active', headers: null, filters: null, [field]: stored, created_at: createdAt, updated_at: timeOf(clock) }
    t.strictSame(body, { data })
    t.strictSame((await call('GET', `/webhooks/${id}`)).body, { data: { ...data, ...onlyById } })
  })
}

t.test('a PATCH may change all fields at once', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const fields = { name: 'Data lake', target_url: 'https://example.org/', event_types: ['job.created'], status: 'inactive' }
  const { status, body } = await call('PATCH', `/webhooks/${id}`, fields)
  t.equal(status, 200)
  t.strictSame(body, { data: { id, ...fields, headers: null, filters: null, created_at: timeOf(clock), updated_at: timeOf(clock) } })
})

t.test('a PATCH does not change other webhooks', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const other = await create()
  const before = await call('GET', `/webhooks/${other.id}`)
  await clock.advance(1000)
  await call('PATCH', `/webhooks/${id}`, { name: 'Data lake' })
  t.strictSame((await call('GET', `/webhooks/${other.id}`)).body, before.body)
})

t.test('a PATCH leaves the secret as it is', async (t) => {
  const { call, create, storage } = await buildWebhookApi(t)
  const { id, secret } = await create()
  await call('PATCH', `/webhooks/${id}`, { name: 'Data lake', status: 'active' })
  t.same(await storage.webhooks.findSecrets('acme', id), [secret])
})

t.test('a retry goes to the current address of the webhook', async (t) => {
  const { call, drain, emit, receiver, retry, webhook } = await startDelivering(t)
  receiver.answer(500, 204)
  await emit()
  await drain()
  await call('PATCH', `/webhooks/${webhook.id}`, { target_url: `${receiver.url}/moved` })
  await retry()
  t.same(receiver.requests.map(({ path }) => path), ['/hook', '/hook/moved'])
})

t.test('an event is delivered by the event types that the webhook has when it is emitted', async (t) => {
  const { app, call, drain, emit, log, webhook } = await startDelivering(t)
  await emit()
  await call('PATCH', `/webhooks/${webhook.id}`, { event_types: ['job.created'] })
  await emit()
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  await drain()
  t.same((await log()).map(({ event_type: type, status }) => [type, status]), [
    ['application.created', 'delivered'], ['job.created', 'delivered']
  ])
})

const { call, create } = await buildWebhookApi(t)
const { id } = await create()
const before = await call('GET', `/webhooks/${id}`)

const enumerated = 'must be one of active, inactive'
const refused: Array<[title: string, body: unknown, ...faults: Array<[field: string, message: string]>]> = [
  ['an empty object', {}, ['', 'must NOT have fewer than 1 properties']],
  ['no body', undefined, ['', 'must NOT have fewer than 1 properties']],
  ['null as the body', null, ['', 'must be object']],
  ['an array', [{ name: 'New name' }], ['', 'must be object']],
  ['a name of null', { name: null }, ['name', 'must be string']],
  ['an address of null', { target_url: null }, ['target_url', 'must be string']],
  ['event types of null', { event_types: null }, ['event_types', 'must be array']],
  ['a status of null', { status: null }, ['status', 'must be string'], ['status', enumerated]],
  ['the status disabled', { status: 'disabled' }, ['status', enumerated]],
  ['a blank name', { name: '   ' }, ['name', 'must be 1 to 255 characters']],
  ['a name with a control character', { name: 'a\u0007b' }, ['name', 'must not contain control characters']],
  ['an http address', { target_url: 'http://example.com/' }, ['target_url', 'must be an https URL']],
  ['a private address', { target_url: 'https://192.168.0.1/' }, ['target_url', 'must point to a public host']],
  ['no event types', { event_types: [] }, ['event_types', 'must NOT have fewer than 1 items']],
  ['an event type outside the catalogue', { event_types: ['job.lost'] }, ['event_types[0]', 'must be an event type of the catalogue']],
  ['a secret', { secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }, ['secret', 'is not known']],
  ['an id', { id: 17, name: 'New name' }, ['id', 'is not known']],
  ['a field that is not known', { name: 'New name', colour: 'red' }, ['colour', 'is not known']],
  ['a good name with a bad address', { name: 'New name', target_url: 'https://localhost/' }, ['target_url', 'must point to a public host']],
  ['a good status with bad event types', { status: 'inactive', event_types: ['x'] }, ['event_types[0]', 'must be an event type of the catalogue']]
]

for (const [title, body, ...faults] of refused) {
  t.test(`a PATCH with ${title} is refused and changes nothing`, async (t) => {
    const answer = await call('PATCH', `/webhooks/${id}`, body)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, ...faults.map(([field, message]) => ({ field, message }))))
    t.strictSame((await call('GET', `/webhooks/${id}`)).body, before.body)
  })
}

t.test('a bad PATCH of a webhook that does not exist is a 400, for bodies are judged before resources', async (t) => {
  for (const body of [{}, { name: '' }, { target_url: 'http://example.com/' }, { ...webhookInput, event_types: ['x'] }]) {
    t.equal((await call('PATCH', '/webhooks/17', body)).status, 400)
  }
})

t.test('made inactive, a webhook gets nothing more, and what was pending is skipped', async (t) => {
  const { call, clock, drain, emit, lastDelivery, log, receiver, webhook } = await startDelivering(t)
  receiver.answer(500, 204)
  await emit()
  await drain()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'inactive' })
  const skipped = await lastDelivery()
  t.match(skipped, { status: 'skipped', attempt_count: 1, response_status: 500, next_attempt_at: null, delivered_at: null })
  t.same(await emit(), { id: (await lastDelivery()).event_id, deliveries: 0 })
  await clock.skip(24 * 60 * 60 * 1000)
  await drain()
  t.same((await log()).map(({ status, attempt_count: count }) => [status, count]), [['skipped', 1], ['skipped', 0]])
  t.equal(receiver.requests.length, 1)
})

t.test('made active again, a webhook gets new events, and the skipped ones only by a replay', async (t) => {
  const { call, clock, drain, emit, log, receiver, webhook } = await startDelivering(t)
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'inactive' })
  const missed = await emit()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' })
  const next = await emit()
  await drain()
  await clock.advance(60_000)
  await drain()
  t.same((await log()).map(({ event_id: id, status }) => [id, status]), [[missed.id, 'skipped'], [next.id, 'delivered']])
  await call('POST', `/webhooks/${webhook.id}/replay`)
  await drain()
  t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [next.id, missed.id])
})

t.test('an attempt in flight when its webhook is made inactive counts if it succeeds', async (t) => {
  const { app, call, emit, lastDelivery, receiver, storage, webhook } = await startDelivering(t)
  let release = () => {}
  receiver.answer((response) => { release = () => response.writeHead(204).end() })
  await emit()
  await receiver.received(1)
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'inactive' })
  const { id, ...skipped } = await lastDelivery()
  t.match(skipped, { status: 'skipped', attempt_count: 0, delivered_at: null })
  release()
  await app.close()
  t.match(await storage.deliveries.find('acme', webhook.id, id), { status: 'delivered', attempt_count: 1, response_status: 204 })
})

t.test('PATCH makes a webhook that the service has disabled active or inactive', async (t) => {
  for (const chosen of ['active', 'inactive']) {
    const { call, drain, emit, receiver, status, webhook } = await startDelivering(t)
    receiver.answer(410)
    await emit()
    await drain()
    t.equal(await status(), 'disabled')
    const answer = await call<{ data: { status: string } }>('PATCH', `/webhooks/${webhook.id}`, { status: chosen })
    t.equal(answer.status, 200)
    t.equal(answer.body.data.status, chosen)
    t.equal(await status(), chosen)
  }
})

t.test('a PATCH of another field leaves a disabled webhook disabled', async (t) => {
  const { call, drain, emit, receiver, status, webhook } = await startDelivering(t)
  receiver.answer(410)
  await emit()
  await drain()
  await call('PATCH', `/webhooks/${webhook.id}`, { name: 'Data lake', target_url: 'https://example.com/' })
  t.equal(await status(), 'disabled')
})

t.test('a DELETE answers 204 without a body', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  const { status, headers, body } = await call('DELETE', `/webhooks/${id}`)
  t.equal(status, 204)
  t.equal(body, null)
  t.match(headers, { 'x-request-id': /^req_/, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  t.notOk('content-type' in headers)
})

t.test('of two deletes at once, one finds the webhook', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  const answers = await Promise.all([call('DELETE', `/webhooks/${id}`), call('DELETE', `/webhooks/${id}`)])
  t.same(answers.map(({ status }) => status).sort(), [204, 404])
})

t.test('nothing is left of a deleted webhook', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  await call('DELETE', `/webhooks/${id}`)
  const answers = [
    await call('GET', `/webhooks/${id}`),
    await call('PATCH', `/webhooks/${id}`, { name: 'New name' }),
    await call('DELETE', `/webhooks/${id}`),
    await call('POST', `/webhooks/${id}/rotate_secret`),
    await call('POST', `/webhooks/${id}/dispatch_test`),
    await call('POST', `/webhooks/${id}/replay`),
    await call('GET', `/webhooks/${id}/deliveries`),
    await call('GET', `/webhooks/${id}/deliveries/1`)
  ]
  for (const answer of answers) {
    t.equal(answer.status, 404)
    t.strictSame(answer.body, notFound(answer))
  }
  t.match((await call('GET', '/webhooks')).body, { data: [], meta: { total: 0 } })
})

t.test('pending deliveries of a deleted webhook are cancelled, and those of others are not', async (t) => {
  const { call, clock, create, drain, emit, receiver, storage, webhook } = await startDelivering(t, { delivery: { retrySchedule: [0, 60] } })
  await create({ target_url: `${receiver.url}/other` })
  receiver.answer(500, 500, 204)
  await emit()
  await drain()
  t.match(await storage.deliveries.stats(), { pending: 2 })
  await call('DELETE', `/webhooks/${webhook.id}`)
  t.match(await storage.deliveries.stats(), { pending: 1 })
  await clock.advance(72_010)
  await drain()
  t.same(receiver.requests.map(({ path }) => path).sort(), ['/hook', '/hook/other', '/hook/other'])
})

t.test('a webhook can be deleted during an attempt, which is then not repeated', async (t) => {
  const { app, call, emit, receiver, storage, webhook } = await startDelivering(t)
  let release = () => {}
  receiver.answer((response) => { release = () => response.writeHead(500).end() })
  await emit()
  await receiver.received(1)
  t.equal((await call('DELETE', `/webhooks/${webhook.id}`)).status, 204)
  release()
  await app.close()
  t.match(await storage.deliveries.stats(), { pending: 0, due: 0, leased: 0, oldestDueMs: 0 })
})
