import t from 'tap'
import type { HealthNotice } from '../../../src/index.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { timeOf } from '../../fixtures/api/webhook-api.js'

t.test('a 410 ends the delivery and disables the webhook at once, and the host is notified', async (t) => {
  const { app, call, clock, drain, emit, lastDelivery, receiver, webhook } = await startDelivering(t)
  const notices: HealthNotice[] = []
  app.recruiting.on('webhookDisabled', (notice) => notices.push(notice))
  const createdAt = timeOf(clock)
  await clock.advance(1000)
  receiver.answer(410)
  await emit()
  await drain()
  t.match(await lastDelivery(), { status: 'failed', attempt_count: 1, response_status: 410, error: 'http_status', next_attempt_at: null })
  t.match((await call('GET', `/webhooks/${webhook.id}`)).body, {
    data: { status: 'disabled', created_at: createdAt, updated_at: timeOf(clock) }
  })
  t.strictSame(notices, [{
    kind: 'gone',
    tenantId: 'acme',
    tenantSlug: 'acme',
    webhookId: webhook.id,
    failingSince: timeOf(clock),
    failedDeliveries: 1,
    lastError: 'http_status',
    lastResponseStatus: 410
  }])
})

t.test('other pending deliveries of a webhook that is gone are skipped', async (t) => {
  const { drain, emit, log, receiver } = await startDelivering(t)
  receiver.answer(500, 410)
  await emit()
  await drain()
  await emit()
  await drain()
  t.match(await log(), [{ status: 'skipped', attempt_count: 1 }, { status: 'failed', attempt_count: 1 }])
})

t.test('a webhook that is gone gets nothing more until the client makes it active', async (t) => {
  const { call, drain, emit, log, receiver, webhook } = await startDelivering(t)
  receiver.answer(410, 204)
  await emit()
  await drain()
  t.match(await emit(), { deliveries: 0 })
  await drain()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' })
  t.match(await emit(), { deliveries: 1 })
  await drain()
  t.match(await log(), [{ status: 'failed' }, { status: 'skipped' }, { status: 'delivered' }])
  t.match((await call('POST', `/webhooks/${webhook.id}/replay`)).body, { data: { queued: 2 } })
  await drain()
  t.equal(receiver.requests.length, 4)
})

t.test('a webhook that is gone is the only one that is disabled', async (t) => {
  const { call, create, drain, emit, log, receiver } = await startDelivering(t)
  const other = await create({ target_url: `${receiver.url}/other` })
  receiver.answer((response, { path }) => response.writeHead(path === '/hook' ? 410 : 204).end())
  await emit()
  await drain()
  t.match((await call('GET', `/webhooks/${other.id}`)).body, { data: { status: 'active' } })
  t.match(await log(other.id), [{ status: 'delivered' }])
})

t.test('a 410 on a retry disables the webhook too', async (t) => {
  const { drain, emit, lastDelivery, receiver, retry, status } = await startDelivering(t)
  receiver.answer(500, 410)
  await emit()
  await drain()
  await retry()
  t.equal(await status(), 'disabled')
  t.match(await lastDelivery(), { status: 'failed', attempt_count: 2, response_status: 410 })
})

t.test('a listener that throws or has been taken off changes nothing', async (t) => {
  const { app, drain, emit, receiver, status } = await startDelivering(t)
  const told: string[] = []
  const off = () => told.push('off')
  app.recruiting.on('webhookDisabled', off)
  app.recruiting.off('webhookDisabled', off)
  app.recruiting.on('webhookDisabled', () => {
    told.push('on')
    throw new Error('a fault of the host')
  })
  receiver.answer(410)
  await emit()
  await drain()
  t.equal(await status(), 'disabled')
  t.same(told, ['on'])
})
