import t from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { buildWebhookApi, notFound, rejection, timeOf } from '../fixtures/api/webhook-api.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

t.test('a replay returns 202 with the number of queued events of the last 24 hours', async (t) => {
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

t.test('a replay until now includes events of a storage whose clock is ahead', async (t) => {
  const clock = createManualClock()
  const storage = memoryStorage({ clock: { now: () => clock.now() + 60_000 } })
  const { app, call, create } = await buildWebhookApi(t, { clock, storage })
  const { id } = await create({ status: 'inactive' })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })
  t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 1 } })
})

t.test('the response shows the period in UTC with milliseconds, and none with event_ids', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const path = `/webhooks/${(await create()).id}/replay`
  const window = { since: '2026-01-02T01:00:00+02:00', until: '2026-01-02t12:00:00.5z' }
  t.match((await call('POST', path, window)).body, {
    data: { include: 'undelivered', since: '2026-01-01T23:00:00.000Z', until: '2026-01-02T12:00:00.500Z', queued: 0 }
  })
  t.match((await call('POST', path, { event_ids: ['evt_unknown'] })).body, {
    data: { include: 'undelivered', since: null, until: null, queued: 0 }
  })
})

t.test('a replay queues at most 10,000 events', async (t) => {
  const { call, create, storage } = await buildWebhookApi(t)
  const { id } = await create()
  storage.deliveries.replay = async (_tenant, _webhook, { limit }) => ({ queued: limit, truncated: true })
  t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 10_000, truncated: true } })
})

t.test('a dry run returns 200 with the number that the replay would queue, and queues nothing', async (t) => {
  const { app, call, create } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  const emit = () => app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  const [, second] = [await emit(), await emit()]
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })

  for (const body of [{ event_ids: [second.id] }, {}, {}]) {
    const counted = await call('POST', `/webhooks/${id}/replay`, { ...body, dry_run: true })
    const replayed = await call('POST', `/webhooks/${id}/replay`, { ...body, dry_run: false })
    t.strictSame([counted.status, replayed.status], [200, 202])
    t.strictSame(counted.body, replayed.body)
  }
})

t.test('a dry run is rejected like the replay', async (t) => {
  const { call, callAsGlobex, create } = await buildWebhookApi(t)
  const { id } = await create()
  const inactive = await create({ status: 'inactive' })
  const rejected = await call('POST', `/webhooks/${inactive.id}/replay`, { dry_run: true })
  t.strictSame([rejected.status, rejected.body], [400, rejection(rejected, { field: '', message: 'the webhook is not active' })])
  for (const answer of [await call('POST', '/webhooks/17/replay', { dry_run: true }), await callAsGlobex('POST', `/webhooks/${id}/replay`, { dry_run: true })]) {
    t.strictSame([answer.status, answer.body], [404, notFound(answer)])
  }
})

t.test('a retry returns the pending delivery, and accepts no fields', async (t) => {
  const { call, emit, log, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  const path = `/webhooks/${webhook.id}/deliveries/1/retry`
  const accepted = await call('POST', path, {})
  t.equal(accepted.status, 202)
  t.strictSame(accepted.body, { data: (await log())[0] })
  const answer = await call('POST', path, { include: 'all' })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, rejection(answer, { field: 'include', message: 'is not known' }))
})
