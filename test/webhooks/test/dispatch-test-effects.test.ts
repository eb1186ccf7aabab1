import t from 'tap'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { buildApp, bearer, keys } from '../../fixtures/api/app.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi, toLoopback } from '../../fixtures/api/webhook-api.js'

t.test('a test works on an inactive webhook', async (t) => {
  const { call, create, receiver } = await startDelivering(t)
  const { id } = await create({ target_url: receiver.url, status: 'inactive' })
  t.match((await call('POST', `/webhooks/${id}/dispatch_test`)).body, { data: { status: 'delivered' } })
  t.match((await call('GET', `/webhooks/${id}`)).body, { data: { status: 'inactive' } })
  t.equal(receiver.requests.length, 1)
})

t.test('a test works on a disabled webhook, which it does not enable', async (t) => {
  const { call, drain, emit, receiver, status, webhook } = await startDelivering(t)
  receiver.answer(410, 204)
  await emit()
  await drain()
  t.match((await call('POST', `/webhooks/${webhook.id}/dispatch_test`)).body, { data: { status: 'delivered' } })
  t.equal(await status(), 'disabled')
})

t.test('a test is not in the log', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t)
  receiver.answer(204, 500)
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.strictSame((await call('GET', `/webhooks/${webhook.id}/deliveries`)).body, {
    data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 }
  })
})

t.test('a test cannot be replayed', async (t) => {
  const { call, webhook } = await startDelivering(t)
  const tested = await call<{ data: { id: string } }>('POST', `/webhooks/${webhook.id}/dispatch_test`)
  const { id } = tested.body.data
  const { body } = await call('POST', `/webhooks/${webhook.id}/replay`, { event_ids: [id], include: 'all' })
  t.match(body, { data: { queued: 0 } })
})

t.test('tests that fail do not disable the webhook, not even by 410', async (t) => {
  const { call, emit, drain, receiver, status, webhook } = await startDelivering(t, {
    delivery: { retrySchedule: [0], disableAfter: { failingForSeconds: 0, failedDeliveries: 2 } }
  })
  receiver.answer(410, 500, 500, 500)
  for (let count = 0; count < 4; count++) await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.equal(await status(), 'active')
  await emit()
  await drain()
  t.equal(await status(), 'active', 'one delivery alone has failed')
})

t.test('tests that succeed do not clear the failures of a webhook', async (t) => {
  const { call, emit, drain, receiver, status, webhook } = await startDelivering(t, {
    delivery: { retrySchedule: [0], disableAfter: { failingForSeconds: 0, failedDeliveries: 2 } }
  })
  receiver.answer(500, 204, 500)
  await emit()
  await drain()
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  await emit()
  await drain()
  t.equal(await status(), 'disabled')
})

t.test('a test is sent at once, also while the webhook is paused', async (t) => {
  const { call, drain, emit, receiver, webhook } = await startDelivering(t)
  receiver.answer(503, 204)
  await emit()
  await drain()
  t.match((await call('POST', `/webhooks/${webhook.id}/dispatch_test`)).body, { data: { status: 'delivered' } })
})

t.test('a test works in a process that does not deliver', async (t) => {
  const receiver = await startReceiver(t)
  const { call, create } = await buildWebhookApi(t, { delivery: { ...toLoopback, worker: false } })
  const { id } = await create({ target_url: receiver.url })
  t.match((await call('POST', `/webhooks/${id}/dispatch_test`)).body, { data: { status: 'delivered' } })
})

t.test('the target rules hold in a process with delivery: false', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { create } = await buildWebhookApi(t, { storage, delivery: toLoopback })
  const { id } = await create({ target_url: receiver.url })
  const app = await buildApp(t, { storage, delivery: false })
  const url = `/api/v1/public/acme/webhooks/${id}/dispatch_test`
  const answer = await app.inject({ method: 'POST', url, headers: bearer(keys.full) })
  t.equal(answer.statusCode, 200)
  t.match(answer.json(), { data: { status: 'failed', error: 'blocked' } })
  t.equal(receiver.requests.length, 0)
})

t.test('during a grace a test carries both signatures', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t)
  await call('POST', `/webhooks/${webhook.id}/rotate_secret`)
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.match(first(receiver.requests).headers['webhook-signature'], /^v1,\S+ v1,\S+$/)
})
