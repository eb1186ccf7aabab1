import t from 'tap'
import { notFound, refusal, timeOf } from '../../fixtures/api/webhook-api.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { hang } from '../../fixtures/receivers/receiver.js'

t.test('a delivery that was given up is sent again, as a new delivery of the same event', async (t) => {
  const { call, clock, drain, emit, log, receiver, retry, webhook } = await startDelivering(t, { delivery: { retrySchedule: [0, 5] } })
  receiver.answer(500, 500, 500, 204)
  const { id: eventId } = await emit()
  await drain()
  await retry()
  const [before] = await log()
  t.match(before, { id: 1, status: 'failed', attempt_count: 2 })
  const { status, body } = await call('POST', `/webhooks/${webhook.id}/deliveries/1/retry`)
  t.equal(status, 202)
  t.strictSame(body, {
    data: {
      id: 2,
      event_id: eventId,
      event_type: 'application.created',
      status: 'pending',
      attempt_count: 0,
      response_status: null,
      error: null,
      next_attempt_at: timeOf(clock),
      created_at: timeOf(clock),
      delivered_at: null
    }
  })
  await drain()
  t.match((await log())[1], { status: 'pending', attempt_count: 1 }, 'it has a schedule of its own')
  await retry()
  t.match(await log(), [before, { id: 2, event_id: eventId, status: 'delivered', attempt_count: 2 }])
  t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [eventId, eventId, eventId, eventId])
})

t.test('a delivery that waits for its next attempt gets it at once, which uses up an attempt of its schedule', async (t) => {
  const { call, clock, drain, emit, log, receiver, webhook } = await startDelivering(t, { delivery: { retrySchedule: [0, 3600] } })
  receiver.answer(500, 500)
  await emit()
  await drain()
  t.match(await log(), [{ id: 1, status: 'pending', attempt_count: 1 }])
  const { status, body } = await call('POST', `/webhooks/${webhook.id}/deliveries/1/retry`)
  t.equal(status, 202)
  t.match(body, { data: { id: 1, status: 'pending', attempt_count: 1, response_status: 500, next_attempt_at: timeOf(clock) } })
  await drain()
  t.match(await log(), [{ id: 1, status: 'failed', attempt_count: 2 }])
})

t.test('a delivery under way stays as it is', async (t) => {
  const { call, emit, log, receiver, webhook } = await startDelivering(t, { delivery: { closeGraceMs: 0 } })
  receiver.answer(hang)
  await emit()
  await receiver.received(1)
  const [before] = await log()
  const { status, body } = await call('POST', `/webhooks/${webhook.id}/deliveries/1/retry`)
  t.equal(status, 202)
  t.strictSame(body, { data: before })
  t.strictSame(await log(), [before])
  t.equal(receiver.requests.length, 1)
})

t.test('a webhook that is not active refuses a retry', async (t) => {
  const { call, emit, log, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'inactive' })
  const answer = await call('POST', `/webhooks/${webhook.id}/deliveries/1/retry`)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: '', message: 'the webhook is not active' }))
  t.equal((await log()).length, 1)
})

t.test('a retry of what is not there, or of another tenant, is a 404', async (t) => {
  const { call, callAsGlobex, create, emit, log, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  const other = await create({ status: 'inactive' })
  const paths = [
    `/webhooks/${webhook.id}/deliveries/99/retry`, `/webhooks/${webhook.id}/deliveries/0/retry`, '/webhooks/99/deliveries/1/retry',
    `/webhooks/${other.id}/deliveries/1/retry`, `/webhooks/${webhook.id}/deliveries/9007199254740993/retry`
  ]
  for (const path of paths) {
    const answer = await call('POST', path)
    t.equal(answer.status, 404, path)
    t.strictSame(answer.body, notFound(answer))
  }
  const answer = await callAsGlobex('POST', `/webhooks/${webhook.id}/deliveries/1/retry`)
  t.equal(answer.status, 404)
  t.strictSame(answer.body, notFound(answer))
  t.equal((await log()).length, 1)
})

t.test('a retry takes no fields', async (t) => {
  const { call, emit, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  const path = `/webhooks/${webhook.id}/deliveries/1/retry`
  t.equal((await call('POST', path, {})).status, 202)
  const answer = await call('POST', path, { include: 'all' })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'include', message: 'is not known' }))
})
