import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { buildWebhookApi, onlyById, timeOf, webhookInput } from '../../fixtures/api/webhook-api.js'

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
