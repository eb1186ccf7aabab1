import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { hang } from '../../fixtures/receivers/receiver.js'
import { timeOf } from '../../fixtures/api/webhook-api.js'

t.test('the log of a webhook without deliveries is empty', async (t) => {
  const { call, webhook } = await startDelivering(t)
  const { status, body } = await call('GET', `/webhooks/${webhook.id}/deliveries`)
  t.equal(status, 200)
  t.strictSame(body, { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
})

t.test('a delivered event is in the log with its time', async (t) => {
  const { call, clock, drain, emit, webhook } = await startDelivering(t)
  const { id: eventId } = await emit()
  await drain()
  const { status, body } = await call('GET', `/webhooks/${webhook.id}/deliveries`)
  t.equal(status, 200)
  t.strictSame(body, {
    data: [{
      id: 1,
      event_id: eventId,
      event_type: 'application.created',
      status: 'delivered',
      attempt_count: 1,
      response_status: 204,
      error: null,
      next_attempt_at: null,
      created_at: timeOf(clock),
      delivered_at: timeOf(clock)
    }],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })
})

t.test('a delivery is pending from the time of recording', async (t) => {
  const { clock, emit, log } = await startDelivering(t, { delivery: { worker: false } })
  const { id: eventId } = await emit()
  t.strictSame(await log(), [{
    id: 1,
    event_id: eventId,
    event_type: 'application.created',
    status: 'pending',
    attempt_count: 0,
    response_status: null,
    error: null,
    next_attempt_at: timeOf(clock),
    created_at: timeOf(clock),
    delivered_at: null
  }])
})

t.test('a delivery that waits for a retry shows the last attempt and when the next one is due', async (t) => {
  const { clock, drain, emit, log, receiver } = await startDelivering(t)
  receiver.answer(500)
  const { id: eventId } = await emit()
  await drain()
  const [{ next_attempt_at: next, ...rest } = { next_attempt_at: null }] = await log()
  t.strictSame(rest, {
    id: 1,
    event_id: eventId,
    event_type: 'application.created',
    status: 'pending',
    attempt_count: 1,
    response_status: 500,
    error: 'http_status',
    created_at: timeOf(clock),
    delivered_at: null
  })
  t.ok(next !== null && next >= timeOf(clock, 5000) && next <= timeOf(clock, 6000))
})

t.test('a failed delivery has no next attempt', async (t) => {
  const { clock, drain, emit, log, receiver } = await startDelivering(t, { delivery: { retrySchedule: [0] } })
  receiver.answer((response) => response.destroy())
  const { id: eventId } = await emit()
  await drain()
  t.strictSame(await log(), [{
    id: 1,
    event_id: eventId,
    event_type: 'application.created',
    status: 'failed',
    attempt_count: 1,
    response_status: null,
    error: 'connection',
    next_attempt_at: null,
    created_at: timeOf(clock),
    delivered_at: null
  }])
})

t.test('events recorded while the webhook was inactive are skipped', async (t) => {
  const { app, clock, create, log } = await startDelivering(t)
  const { id } = await create({ status: 'inactive', event_types: ['job.created'] })
  const emitted = await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  t.equal(emitted.deliveries, 0)
  t.strictSame(await log(id), [{
    id: 1,
    event_id: emitted.id,
    event_type: 'job.created',
    status: 'skipped',
    attempt_count: 0,
    response_status: null,
    error: null,
    next_attempt_at: null,
    created_at: timeOf(clock),
    delivered_at: null
  }])
})

t.test('each way to fail has its name', async (t) => {
  const { create, drain, emit, log, receiver } = await startDelivering(t, { delivery: { timeoutMs: 150 } })
  const tls = await create({ target_url: receiver.url.replace('http:', 'https:') })
  receiver.answer(hang)
  await emit()
  await drain()
  t.match(await log(), [{ error: 'timeout', response_status: null }])
  t.match(await log(tls.id), [{ error: 'tls', response_status: null }])
})
