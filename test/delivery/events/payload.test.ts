import t from 'tap'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import { timeOf } from '../../fixtures/api/webhook-api.js'

t.test('an event is posted to the target as id, type, timestamp, tenant_slug and data, in this order', async (t) => {
  const { app, clock, receiver, webhook, drain } = await startDelivering(t)
  const data = { id: 7, candidate: { full_name: 'Zoë 🦊' }, tags: [], note: null }
  const emitted = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data })
  await drain()
  const { method, path, headers, body } = first(receiver.requests)
  t.same(emitted, { id: emitted.id, deliveries: 1 })
  t.match(emitted.id, /^evt_[0-9a-f]{32}$/)
  t.equal(`${method} ${path}`, 'POST /hook')
  t.equal(body, JSON.stringify({ id: emitted.id, type: 'application.created', timestamp: timeOf(clock), tenant_slug: 'acme', data }))
  t.equal(headers['content-type'], 'application/json')
  t.equal(headers['content-length'], String(Buffer.byteLength(body)))
  t.equal(headers['webhook-id'], emitted.id)
  t.notOk(JSON.stringify([headers, body]).includes(webhook.secret), 'the secret is not sent')
})

t.test('the timestamp of the payload is when the event occurred, in UTC with milliseconds', async (t) => {
  const { app, receiver, drain } = await startDelivering(t)
  const event = { tenantSlug: 'acme', type: 'application.created', data: {} } as const
  await app.recruiting.emit({ ...event, occurredAt: '2026-03-01T10:30:00+01:00' })
  await app.recruiting.emit({ ...event, occurredAt: new Date('2026-03-02T00:00:00.123Z') })
  await drain()
  const timestamps = receiver.requests.map(({ body }) => JSON.parse(body).timestamp)
  t.same(timestamps.sort(), ['2026-03-01T09:30:00.000Z', '2026-03-02T00:00:00.123Z'])
})

t.test('an event goes to the path and the query of the target as they are stored', async (t) => {
  const { create, drain, emit, receiver } = await startDelivering(t)
  await create({ target_url: receiver.url.replace('/hook', '/ü/../é%20b?q=ü&r=a%2Fb+c') })
  await emit()
  await drain()
  t.same(receiver.requests.map(({ path }) => path).sort(), ['/%C3%A9%20b?q=%C3%BC&r=a%2Fb+c', '/hook'])
})

t.test('changes by the host after emit are not sent', async (t) => {
  const { receiver, emit, drain } = await startDelivering(t)
  const data = { id: 1, list: [1] }
  const emitting = emit(data)
  data.list.push(2)
  await emitting
  data.id = 2
  await drain()
  t.same(JSON.parse(first(receiver.requests).body).data, { id: 1, list: [1] })
})

t.test('subject and idempotency key are not sent', async (t) => {
  const { app, receiver, drain } = await startDelivering(t)
  await app.recruiting.emit({
    tenantSlug: 'acme', type: 'application.created', data: {}, subject: 'candidate:42', idempotencyKey: 'key-17'
  })
  await drain()
  const sent = JSON.stringify(receiver.requests)
  t.notOk(sent.includes('candidate:42'))
  t.notOk(sent.includes('key-17'))
})

t.test('every attempt and every replay sends the same bytes under the same webhook-id', async (t) => {
  const { call, receiver, webhook, emit, drain, retry } = await startDelivering(t)
  receiver.answer(500, 500, 204)
  const { id } = await emit({ id: 1, at: 0.1 })
  await drain()
  await retry()
  await retry()
  await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
  await drain()
  t.equal(receiver.requests.length, 4)
  t.same(new Set(receiver.requests.map(({ body }) => body)).size, 1)
  t.same(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])), new Set([id]))
})
