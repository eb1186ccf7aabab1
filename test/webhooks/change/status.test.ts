import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'

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
