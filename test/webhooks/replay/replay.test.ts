import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { timeOf } from '../../fixtures/api/webhook-api.js'

/** One attempt, so that a failure is final. */
const once = { delivery: { retrySchedule: [0] } }

t.test('a replay answers 202 with what was queued, over the last 24 hours', async (t) => {
  const { call, clock, webhook } = await startDelivering(t)
  for (const body of [undefined, {}]) {
    const answer = await call('POST', `/webhooks/${webhook.id}/replay`, body)
    t.equal(answer.status, 202)
    t.strictSame(answer.body, {
      data: {
        webhook_id: webhook.id,
        include: 'undelivered',
        since: timeOf(clock, -86_400_000),
        until: timeOf(clock),
        queued: 0,
        truncated: false
      }
    })
  }
})

t.test('a replay brings what was given up and what was skipped, under the same event id', async (t) => {
  const { call, drain, emit, log, receiver, webhook } = await startDelivering(t, once)
  receiver.answer(204, 500, 204)
  const delivered = await emit()
  await drain()
  const failed = await emit()
  await drain()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'inactive' })
  const skipped = await emit()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' })
  const { body } = await call('POST', `/webhooks/${webhook.id}/replay`)
  t.match(body, { data: { include: 'undelivered', queued: 2, truncated: false } })
  await drain()
  t.same((await log()).map(({ id, event_id: eventId, status }) => [id, eventId, status]), [
    [1, delivered.id, 'delivered'],
    [2, failed.id, 'failed'],
    [3, skipped.id, 'skipped'],
    [4, failed.id, 'delivered'],
    [5, skipped.id, 'delivered']
  ])
  const sent = receiver.requests.map(({ headers }) => headers['webhook-id'])
  t.same(sent.slice(0, 2), [delivered.id, failed.id])
  t.same(sent.slice(2).sort(), [failed.id, skipped.id].sort())
})

t.test('with include all a replay brings what was delivered as well', async (t) => {
  const { call, drain, emit, receiver, webhook } = await startDelivering(t)
  const { id } = await emit()
  await drain()
  t.match((await call('POST', `/webhooks/${webhook.id}/replay`)).body, { data: { queued: 0 } })
  const { body } = await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
  t.match(body, { data: { include: 'all', queued: 1, truncated: false } })
  await drain()
  t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [id, id])
})

t.test('events delivered by a replay no longer count as undelivered', async (t) => {
  const { call, drain, emit, receiver, webhook } = await startDelivering(t, once)
  receiver.answer(500, 204)
  await emit()
  await drain()
  t.match((await call('POST', `/webhooks/${webhook.id}/replay`)).body, { data: { queued: 1 } })
  await drain()
  t.match((await call('POST', `/webhooks/${webhook.id}/replay`)).body, { data: { queued: 0 } })
})

t.test('events that a replay failed to deliver can be replayed again', async (t) => {
  const { call, drain, emit, receiver, webhook } = await startDelivering(t, once)
  receiver.answer(500, 500, 204)
  await emit()
  await drain()
  for (const queued of [1, 1, 0]) {
    t.match((await call('POST', `/webhooks/${webhook.id}/replay`)).body, { data: { queued } })
    await drain()
  }
})

t.test('pending events are not queued again', async (t) => {
  const { call, drain, emit, log, receiver, webhook } = await startDelivering(t)
  receiver.answer(500)
  await emit()
  await drain()
  for (const include of ['undelivered', 'all']) {
    const { body } = await call('POST', `/webhooks/${webhook.id}/replay`, { include })
    t.match(body, { data: { queued: 0, truncated: false } })
  }
  t.equal((await log()).length, 1)
})

t.test('two replays at once queue each event once', async (t) => {
  const { call, emit, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'inactive' })
  for (let count = 0; count < 5; count++) await emit()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' })
  const answers = await Promise.all([1, 2].map(() => call<{ data: { queued: number } }>('POST', `/webhooks/${webhook.id}/replay`)))
  t.same(answers.map(({ body }) => body.data.queued).sort(), [0, 5])
})

t.test('a replay goes only to its webhook', async (t) => {
  const { call, create, drain, emit, receiver, webhook } = await startDelivering(t, once)
  await create({ target_url: `${receiver.url}/other` })
  receiver.answer(500, 500, 204)
  await emit()
  await drain()
  await call('POST', `/webhooks/${webhook.id}/replay`)
  await drain()
  t.same(receiver.requests.slice(2).map(({ path }) => path), ['/hook'])
})

t.test('a replay that fails is retried like any delivery', async (t) => {
  const { call, drain, emit, lastDelivery, receiver, retry, webhook } = await startDelivering(t)
  await emit()
  await drain()
  receiver.answer(500, 204)
  await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
  await drain()
  t.match(await lastDelivery(), { status: 'pending', attempt_count: 1 })
  await retry()
  t.match(await lastDelivery(), { status: 'delivered', attempt_count: 2 })
})
