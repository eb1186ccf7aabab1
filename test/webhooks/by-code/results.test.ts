import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'
import { buildWebhookApi, onlyById, toLoopback, webhookInput } from '../../fixtures/api/webhook-api.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('lists and single items by code are those of the API', async (t) => {
  const { app: { recruiting: { webhooks } }, call, create, drain, emit, receiver, webhook } = await startDelivering(t)
  await create({ name: 'Second', status: 'inactive' })
  receiver.answer(503, 204)
  await emit()
  await drain()
  await emit()
  await drain()
  const path = `/webhooks/${webhook.id}`
  t.strictSame(await webhooks.list('acme'), (await call('GET', '/webhooks')).body)
  t.strictSame(
    await webhooks.list('acme', { page: 2, per_page: 1, sort: '-name', 'filter[status]': 'active' }),
    (await call('GET', '/webhooks?page=2&per_page=1&sort=-name&filter[status]=active')).body
  )
  t.strictSame({ data: await webhooks.find('acme', webhook.id) }, (await call('GET', path)).body)
  t.strictSame(await webhooks.listDeliveries('acme', webhook.id), (await call('GET', `${path}/deliveries`)).body)
  t.strictSame(
    await webhooks.listDeliveries('acme', webhook.id, { sort: 'created_at', 'filter[status]': 'pending' }),
    (await call('GET', `${path}/deliveries?sort=created_at&filter[status]=pending`)).body
  )
  t.strictSame({ data: await webhooks.findDelivery('acme', webhook.id, 1) }, (await call('GET', `${path}/deliveries/1`)).body)
})

t.test('changes by code have the fields of the API, and the API shows them', async (t) => {
  const { app: { recruiting: { webhooks } }, call } = await buildWebhookApi(t)
  const { secret, ...created } = await webhooks.create('acme', { ...webhookInput, name: ' CRM sync ' })
  t.strictSame(created, { id: 1, ...webhookInput, status: 'active' })
  t.match(secret, /^whsec_.{44}$/)
  const updated = await webhooks.update('acme', 1, { status: 'inactive', target_url: 'https://hooks.example.com/a/../b' })
  t.strictSame((await call('GET', '/webhooks/1')).body, { data: { ...updated, ...onlyById } })
  t.match(updated, { status: 'inactive', target_url: 'https://hooks.example.com/b' })
  const { secret: rotated, previous_secret_expires_at: until, ...rest } = await webhooks.rotateSecret('acme', 1, { grace_period_seconds: 0 })
  t.strictSame([rest, until, rotated === secret], [{ ...created, status: 'inactive', target_url: updated.target_url }, null, false])
  t.type((await webhooks.rotateSecret('acme', 1)).previous_secret_expires_at, 'string', 'a day by default')
  t.equal(await webhooks.delete('acme', 1), undefined)
  t.equal(await webhooks.find('acme', 1), null)
})

t.test('a process without a server and without deliveries tests, replays and retries', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { emit, webhooks, close } = createRecruiting({ storage, logger: silentLogger, delivery: { ...toLoopback, worker: false } })
  t.teardown(close)
  const { id } = await webhooks.create('acme', { ...webhookInput, target_url: receiver.url, status: 'inactive' })
  const { id: eventId } = await emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await webhooks.update('acme', id, { status: 'active' })
  const { id: testId, duration_ms: durationMs, ...tested } = await webhooks.sendTest('acme', id, { event_type: 'job.closed' })
  t.strictSame(tested, { event_type: 'job.closed', status: 'delivered', response_status: 204, error: null })
  t.match([testId, durationMs], [/^evt_/, Number])
  t.match(await webhooks.sendTest('acme', id), { event_type: 'application.created' })
  t.match(await webhooks.replay('acme', id, { dry_run: true }), { webhook_id: id, include: 'undelivered', queued: 1, truncated: false })
  const { since, until, ...replayed } = await webhooks.replay('acme', id)
  t.strictSame(replayed, { webhook_id: id, include: 'undelivered', queued: 1, truncated: false })
  t.strictSame(await webhooks.replay('acme', id, { include: 'all', event_ids: ['evt_none'] }),
    { webhook_id: id, include: 'all', since: null, until: null, queued: 0, truncated: false })
  t.match(await webhooks.retryDelivery('acme', id, 1), { id: 2, event_id: eventId, status: 'pending' }, 'the replay is pending already')
  t.equal(receiver.requests.length, 2, 'only the tests were sent')
})

t.test('results have the fields of the API, whatever the storage returns, and changing them changes nothing', async (t) => {
  const storage = memoryStorage()
  const { find } = storage.webhooks
  storage.webhooks.find = async (tenantSlug, id) => {
    const webhook = await find(tenantSlug, id)
    return webhook && Object.assign(webhook, { secret: 'whsec_AAAA' })
  }
  const { app: { recruiting: { webhooks } } } = await buildWebhookApi(t, { storage })
  const { id } = await webhooks.create('acme', webhookInput)
  const found = await webhooks.find('acme', id)
  t.strictSame(Object.keys(found ?? {}), ['id', 'name', 'status', 'target_url', 'event_types', 'headers', 'filters', 'created_at', 'updated_at', 'health', 'previous_secret_expires_at'])
  found?.event_types.push('job.closed')
  t.strictSame((await webhooks.find('acme', id))?.event_types, webhookInput.event_types)
})

t.test('input by code stays as it was', async (t) => {
  const { app: { recruiting: { webhooks } } } = await buildWebhookApi(t)
  const input = Object.freeze({ ...webhookInput, name: ' CRM ', event_types: Object.freeze(['job.closed']) as string[] })
  t.match(await webhooks.create('acme', input), { name: 'CRM', status: 'active' })
  t.strictSame(input, { ...webhookInput, name: ' CRM ', event_types: ['job.closed'] })
})
