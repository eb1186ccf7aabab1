import t from 'tap'
import { buildWebhookApi } from '../../fixtures/api/webhook-api.js'

t.test('a replay queues 10,000 events at most, the oldest first, and says that there are more', async (t) => {
  const { app, call, clock, create, storage } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  const emit = () => app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  for (let count = 0; count < 10_000; count++) await emit()
  await clock.advance(1)
  const newest = [await emit(), await emit()].map(({ id: eventId }) => eventId)
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })

  t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 10_000, truncated: true } })
  t.match(await storage.deliveries.stats(), { pending: 10_000 })
  t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 2, truncated: false } })
  const log = await call<{ data: Array<{ event_id: string }> }>('GET', `/webhooks/${id}/deliveries?per_page=2&sort=-id`)
  t.same(log.body.data.map(({ event_id: eventId }) => eventId), newest.toReversed())
})

t.test('a replay of exactly 10,000 events is not truncated', async (t) => {
  const { app, call, create } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  for (let count = 0; count < 10_000; count++) {
    await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  }
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })
  t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 10_000, truncated: false } })
})
