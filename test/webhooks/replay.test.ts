import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { buildWebhookApi, notFound, refusal, timeOf } from '../fixtures/api/webhook-api.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

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

t.test('a replay to now brings what a storage whose clock is ahead has recorded', async (t) => {
  const clock = createManualClock()
  const storage = memoryStorage({ clock: { now: () => clock.now() + 60_000 } })
  const { app, call, create } = await buildWebhookApi(t, { clock, storage })
  const { id } = await create({ status: 'inactive' })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })
  t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 1 } })
})

t.test('the answer shows the window in UTC with milliseconds, and none with event_ids', async (t) => {
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

t.test('a replay queues 10,000 events at most', async (t) => {
  const { call, create, storage } = await buildWebhookApi(t)
  const { id } = await create()
  storage.deliveries.replay = async (_tenant, _webhook, { limit }) => ({ queued: limit, truncated: true })
  t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 10_000, truncated: true } })
})

const api = await buildWebhookApi(t)
const { call, clock, create } = api
const { id } = await create()

const date = 'must match format "date-time"'
const year = 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z'

const refused: Array<[body: unknown, field: string, message: string]> = [
  [{ since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }, 'since', 'must not be after until'],
  [{ since: timeOf(clock, 1) }, 'since', 'must not be after until'],
  [{ since: '2026-02-30T00:00:00Z' }, 'since', date],
  [{ since: '0001-01-01T00:00:00+01:00' }, 'since', year],
  [{ until: '9999-12-31T23:59:59-01:00' }, 'until', year],
  [{ include: 'failed' }, 'include', 'must be one of undelivered, all'],
  [{ event_types: ['application.created', 'job.lost'] }, 'event_types[1]', 'must be an event type of the catalogue'],
  [{ event_ids: Array.from({ length: 101 }, (_, n) => `evt_${n}`) }, 'event_ids', 'must NOT have more than 100 items'],
  [{ event_ids: ['evt_1'], until: timeOf(clock) }, 'event_ids', 'must not be combined with since or until'],
  [null, '', 'must be object']
]

t.test('a bad replay gets a 400 that names the field, and 100 event ids are accepted', async (t) => {
  for (const [body, field, message] of refused) {
    const answer = await call('POST', `/webhooks/${id}/replay`, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.strictSame(answer.body, refusal(answer, { field, message }), JSON.stringify(body))
  }
  const ids = Array.from({ length: 100 }, (_, index) => `evt_${index}`)
  t.match(await call('POST', `/webhooks/${id}/replay`, { event_ids: ids }), { status: 202, body: { data: { queued: 0 } } })
})

t.test('a dry run answers 200 with what the replay then queues, and queues nothing', async (t) => {
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

t.test('a dry run is rejected where the replay would be', async (t) => {
  const { call, callAsGlobex, create } = await buildWebhookApi(t)
  const { id } = await create()
  const inactive = await create({ status: 'inactive' })
  const refused = await call('POST', `/webhooks/${inactive.id}/replay`, { dry_run: true })
  t.strictSame([refused.status, refused.body], [400, refusal(refused, { field: '', message: 'the webhook is not active' })])
  for (const answer of [await call('POST', '/webhooks/17/replay', { dry_run: true }), await callAsGlobex('POST', `/webhooks/${id}/replay`, { dry_run: true })]) {
    t.strictSame([answer.status, answer.body], [404, notFound(answer)])
  }
})

t.test('a retry returns the pending delivery, and takes no fields', async (t) => {
  const { call, emit, log, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  const path = `/webhooks/${webhook.id}/deliveries/1/retry`
  const accepted = await call('POST', path, {})
  t.equal(accepted.status, 202)
  t.strictSame(accepted.body, { data: (await log())[0] })
  const answer = await call('POST', path, { include: 'all' })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'include', message: 'is not known' }))
})
