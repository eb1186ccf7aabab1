import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'

interface Explained { data: { reason: string, delivery: { id: number } | null } }

t.test('explain returns why a webhook got an event or not', async (t) => {
  const { app, call, clock, create, drain, emit, receiver, webhook } = await startDelivering(t)
  const { id } = webhook
  const explain = async (eventId: string, webhookId = id) => {
    const { status, body } = await call<Explained>('GET', `/webhooks/${webhookId}/explain?event_id=${eventId}`)
    t.equal(status, 200)
    const { delivery, ...others } = body.data
    return { ...others, delivery: delivery?.id ?? null }
  }
  const nothing = { event_type: 'application.created', filter: null, until: null, delivery: null }
  const change = (body: object) => call('PATCH', `/webhooks/${id}`, body)

  const first = await emit({ id: 7 })
  await drain()
  t.same(await explain(first.id), { ...nothing, event_id: first.id, reason: 'delivered', delivery: 1 })
  t.same(await explain('evt_1'), { ...nothing, event_id: 'evt_1', event_type: null, reason: 'unknown_event' })
  await call('POST', `/webhooks/${id}/deliveries/1/retry`)
  t.match(await explain(first.id), { reason: 'delivered', delivery: 1 }, 'a delivery that succeeded decides')

  await clock.advance(1000)
  const later = await create({ target_url: receiver.url })
  t.match(await explain(first.id, later.id), { reason: 'before_webhook', delivery: null })
  await change({ event_types: ['job.closed'] })
  const other = await emit({ id: 8 })
  t.match(await explain(other.id), { reason: 'not_subscribed' })
  const early = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 8 }, occurredAt: new Date(0) })
  t.match(await explain(early.id), { reason: 'not_subscribed' }, 'an event that happened before the webhook, but was emitted later')
  await clock.advance(1000)
  await change({ event_types: ['application.created'] })
  t.match(await explain(other.id), { reason: 'changed_since' })

  await change({ filters: { 'data.id': [9, 10], 'data.stage': ['offer'] } })
  for (const [data, path, value, valueType] of [
    [{ id: 8 }, 'data.id', 8, 'number'], [{ id: 9 }, 'data.stage', null, 'missing'], [{ id: 9, stage: [] }, 'data.stage', null, 'array'],
    [{ id: 9, stage: 'x'.repeat(300) }, 'data.stage', 'x'.repeat(255), 'string'], [{ id: null }, 'data.id', null, 'null']
  ] as const) {
    const { id: eventId } = await emit(data)
    const expected = path === 'data.id' ? [9, 10] : ['offer']
    t.same(await explain(eventId), { ...nothing, event_id: eventId, reason: 'filtered', filter: { path, expected, value, value_type: valueType } })
  }
  await change({ filters: null, changed: ['stage'] })
  const unnamed = await emit({ id: 9 })
  t.match(await explain(unnamed.id), { reason: 'filtered', filter: { path: 'changed', expected: ['stage'], value: null, value_type: 'missing' } })
  await change({ changed: null })
  const about = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 }, subject: 'candidate:1' })
  await app.recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' })
  t.match(await explain(about.id), { reason: 'erased' })

  await change({ filters: null, status: 'inactive' })
  t.match(await explain((await emit()).id), { reason: 'inactive' })
  await change({ status: 'active' })
  receiver.answer(500)
  const failing = await emit()
  await drain()
  const waiting = await call<{ data: { next_attempt_at: string }[] }>('GET', `/webhooks/${id}/deliveries?filter[event_id]=${failing.id}`)
  t.match(await explain(failing.id), { reason: 'pending', until: waiting.body.data[0]?.next_attempt_at })
  receiver.answer({ status: 503, headers: { 'retry-after': '60' } })
  await emit()
  await drain()
  const paused = await emit()
  const { body } = await call<{ data: { health: { paused_until: string } } }>('GET', `/webhooks/${id}`)
  t.match(await explain(paused.id), { reason: 'paused', until: body.data.health.paused_until })
  await app.recruiting.suspendTenant('acme')
  t.match(await app.recruiting.webhooks.explain('acme', id, { event_id: paused.id }), { reason: 'suspended', until: null })
})

t.test('a process that has served no request explains that the tenant is suspended, also by its id', async (t) => {
  const storage = memoryStorage()
  const options = { storage, logger: silentLogger, tenantId: () => 41, delivery: { worker: false } }
  const [one, other] = [createRecruiting(options), createRecruiting(options)]
  t.teardown(() => Promise.all([one.close(), other.close()]))
  const tenantId = 41
  const { id } = await one.webhooks.create({ tenantId }, { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.closed'] })
  const emitted = await one.emit({ tenantId, type: 'job.closed', data: {} })
  const explain = () => one.webhooks.explain({ tenantId }, id, { event_id: emitted.id })
  t.match(await explain(), { reason: 'pending' })
  await other.suspendTenant({ tenantId })
  t.match(await explain(), { reason: 'suspended' })
})

t.test('explain needs an event id, and a webhook of the tenant', async (t) => {
  const { app, call, emit, webhook } = await startDelivering(t)
  const { id: eventId } = await emit()
  for (const query of ['', '?event_id=', `?event_id=${'x'.repeat(65)}`, `?event_id=${eventId}&other=1`, '?event_id=a%00']) {
    t.match(await call('GET', `/webhooks/${webhook.id}/explain${query}`), { status: 400, body: { error: { code: 'bad_request' } } }, query)
  }
  t.match(await call('GET', `/webhooks/999/explain?event_id=${eventId}`), { status: 404 })
  t.equal(await app.recruiting.webhooks.explain('globex', webhook.id, { event_id: eventId }), null)
})

t.test('without a feed, only deliveries are explained', async (t) => {
  const { feed, ...storage } = memoryStorage()
  t.ok(feed)
  const recruiting = createRecruiting({ storage, logger: silentLogger, delivery: { worker: false } })
  t.teardown(() => recruiting.close())
  const { id } = await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.closed'] })
  const emitted = await recruiting.emit({ tenantSlug: 'acme', type: 'job.closed', data: {} })
  t.match(await recruiting.webhooks.explain('acme', id, { event_id: emitted.id }), { event_type: 'job.closed', reason: 'pending' })
  t.match(await recruiting.webhooks.explain('acme', id, { event_id: 'evt_1' }), { event_type: null, reason: 'unknown' })
})
