import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { buildWebhookApi, notFound, refusal, timeOf, type WebhookApi } from '../fixtures/api/webhook-api.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { hang } from '../fixtures/receivers/receiver.js'

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

const day = 86_400_000

/** A webhook that has missed one event at each of these times before now, in milliseconds; returns the event ids. */
async function missEvents (api: WebhookApi, ...ages: number[]): Promise<{ id: number, events: string[] }> {
  const { app, call, clock, create } = api
  const { id } = await create({ status: 'inactive', event_types: ['application.created', 'job.created'] })
  const events: string[] = []
  for (const [index, age] of ages.entries()) {
    const { id: eventId } = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
    events.push(eventId)
    await clock.advance(age - (ages[index + 1] ?? 0))
  }
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })
  return { id, events }
}

/** What a replay queues, by the ids of the events. */
async function replayed ({ call }: WebhookApi, id: number, body: object): Promise<string[]> {
  const { status, body: { data } } = await call<{ data: { queued: number } }>('POST', `/webhooks/${id}/replay`, body)
  if (status !== 202) throw new Error(`replay answered ${status}`)
  const log = await call<{ data: Array<{ event_id: string }> }>('GET', `/webhooks/${id}/deliveries?filter[status]=pending&sort=id`)
  const ids = log.body.data.map(({ event_id: eventId }) => eventId)
  return data.queued === ids.length ? ids : ['the log does not have what was queued']
}

t.test('a replay reaches back 24 hours, the first of these milliseconds included', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events } = await missEvents(api, day + 1, day, 1000)
  t.same(await replayed(api, id, {}), events.slice(1))
})

t.test('since and until are included', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events } = await missEvents(api, 5 * day, 4 * day, 3 * day, 2 * day)
  const window = { since: timeOf(api.clock, -4 * day), until: timeOf(api.clock, -3 * day) }
  t.same(await replayed(api, id, window), events.slice(1, 3))
})

t.test('since without until reaches to now', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events } = await missEvents(api, 5 * day, 4 * day, 0)
  t.same(await replayed(api, id, { since: timeOf(api.clock, -4 * day) }), events.slice(1))
})

t.test('until without since reaches back 24 hours', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events } = await missEvents(api, 2 * day, 3000, 2000, 1000)
  t.same(await replayed(api, id, { until: timeOf(api.clock, -2000) }), events.slice(1, 3))
})

t.test('a replay to now brings what a storage whose clock is ahead has recorded', async (t) => {
  const clock = createManualClock()
  const api = await buildWebhookApi(t, { clock, storage: memoryStorage({ clock: { now: () => clock.now() + 60_000 } }) })
  const { id, events } = await missEvents(api, 0)
  t.same(await replayed(api, id, {}), events)
})

t.test('since and until may be the same instant', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events } = await missEvents(api, 3000, 2000, 1000)
  const instant = timeOf(api.clock, -2000)
  t.same(await replayed(api, id, { since: instant, until: instant }), events.slice(1, 2))
})

t.test('the answer shows the window in UTC with milliseconds', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  const window = { since: '2026-01-02T01:00:00+02:00', until: '2026-01-02t12:00:00.5z' }
  const { body } = await call('POST', `/webhooks/${id}/replay`, window)
  t.strictSame(body, {
    data: {
      webhook_id: id,
      include: 'undelivered',
      since: '2026-01-01T23:00:00.000Z',
      until: '2026-01-02T12:00:00.500Z',
      queued: 0,
      truncated: false
    }
  })
})

t.test('event_ids select events of any age, and the answer has no window', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events: [old = '', , recent = ''] } = await missEvents(api, 20 * day, 2 * day, 1000)
  const { status, body } = await api.call('POST', `/webhooks/${id}/replay`, { event_ids: [recent, old, 'evt_unknown'] })
  t.equal(status, 202)
  t.strictSame(body, {
    data: { webhook_id: id, include: 'undelivered', since: null, until: null, queued: 2, truncated: false }
  })
})

t.test('event_types narrow what the webhook subscribes to, and do not widen it', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events } = await missEvents(api, 2000)
  await api.app.recruiting.emit({ tenantSlug: 'acme', type: 'job.closed', data: {} })
  t.same(await replayed(api, id, { event_types: ['job.created'], include: 'all' }), [])
  t.same(await replayed(api, id, { event_types: ['job.closed'], include: 'all' }), [])
  t.same(await replayed(api, id, { event_types: ['application.created', 'job.closed'], include: 'all' }), events)
})

t.test('an event whose type the webhook no longer subscribes to is not replayed, not by its id either', async (t) => {
  const api = await buildWebhookApi(t)
  const { id, events } = await missEvents(api, 2000)
  await api.call('PATCH', `/webhooks/${id}`, { event_types: ['job.created'] })
  t.same(await replayed(api, id, { event_ids: events, include: 'all' }), [])
  t.same(await replayed(api, id, { include: 'all' }), [])
})

t.test('events of another tenant are never replayed', async (t) => {
  const api = await buildWebhookApi(t)
  const { id } = await api.create()
  const foreign = await api.app.recruiting.emit({ tenantSlug: 'globex', type: 'application.created', data: {} })
  t.same(await replayed(api, id, { include: 'all' }), [])
  t.same(await replayed(api, id, { include: 'all', event_ids: [foreign.id] }), [])
})

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

const api = await buildWebhookApi(t)
const { call, clock, create } = api
const { id } = await create()

const date = 'must match format "date-time"'
const excludes = ['event_ids', 'must not be combined with since or until'] as const
const year = 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z'
const include = 'must be one of undelivered, all'
const catalogue = 'must be an event type of the catalogue'
const few = 'must NOT have fewer than 1 items'
const now = timeOf(clock)

const refused: Array<[title: string, body: unknown, ...faults: Array<readonly [field: string, message: string]>]> = [
  ['since after until', { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }, ['since', 'must not be after until']],
  ['since after until by an offset', { since: '2026-01-01T00:00:00Z', until: '2026-01-01T00:30:00+01:00' }, ['since', 'must not be after until']],
  ['since in the future', { since: timeOf(clock, 1) }, ['since', 'must not be after until']],
  ['until before 24 hours ago and no since', { until: timeOf(clock, -86_400_001) }, ['since', 'must not be after until']],
  ['a since that is a date alone', { since: '2026-01-01' }, ['since', date]],
  ['a since without an offset', { since: '2026-01-01T00:00:00' }, ['since', date]],
  ['a since that is no day', { since: '2026-02-30T00:00:00Z' }, ['since', date]],
  ['a since that is a number', { since: 1767225600 }, ['since', 'must be string']],
  ['a since that is null', { since: null }, ['since', 'must be string']],
  ['a since that is empty', { since: '' }, ['since', date]],
  ['a since before the year 1', { since: '0001-01-01T00:00:00+01:00' }, ['since', year]],
  ['an until after the year 9999', { until: '9999-12-31T23:59:59-01:00' }, ['until', year]],
  ['an until that is no time', { until: '2026-01-01T25:00:00Z' }, ['until', date]],
  ['an include outside the set', { include: 'failed' }, ['include', include]],
  ['an include of null', { include: null }, ['include', 'must be string'], ['include', include]],
  ['no event types', { event_types: [] }, ['event_types', few]],
  ['an event type outside the catalogue', { event_types: ['application.created', 'job.lost'] }, ['event_types[1]', catalogue]],
  ['event types of null', { event_types: null }, ['event_types', 'must be array']],
  ['no event ids', { event_ids: [] }, ['event_ids', few]],
  ['101 event ids', { event_ids: Array.from({ length: 101 }, (_, index) => `evt_${index}`) }, ['event_ids', 'must NOT have more than 100 items']],
  ['an event id that is a number', { event_ids: [17] }, ['event_ids[0]', 'must be string']],
  ['event ids with since', { event_ids: ['evt_1'], since: now }, excludes],
  ['event ids with until', { event_ids: ['evt_1'], until: now }, excludes],
  ['event ids with since and until', { event_ids: ['evt_1'], since: now, until: now }, excludes],
  ['a field that is not known', { limit: 10 }, ['limit', 'is not known']],
  ['an array', [], ['', 'must be object']],
  ['null', null, ['', 'must be object']],
  ['text', 'all', ['', 'must be object']]
]

for (const [title, body, ...faults] of refused) {
  t.test(`a replay with ${title} is refused`, async (t) => {
    const answer = await call('POST', `/webhooks/${id}/replay`, body)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, ...faults.map(([field, message]) => ({ field, message }))))
  })
}

t.test('100 event ids are accepted', async (t) => {
  const ids = Array.from({ length: 100 }, (_, index) => `evt_${index}`)
  t.match(await call('POST', `/webhooks/${id}/replay`, { event_ids: ids }), { status: 202, body: { data: { queued: 0 } } })
})

t.test('an inactive webhook takes no replay', async (t) => {
  const inactive = await create({ status: 'inactive' })
  const answer = await call('POST', `/webhooks/${inactive.id}/replay`)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: '', message: 'the webhook is not active' }))
})

t.test('a disabled webhook takes no replay', async (t) => {
  const { call, drain, emit, log, receiver, webhook } = await startDelivering(t)
  receiver.answer(410)
  await emit()
  await drain()
  const answer = await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: '', message: 'the webhook is not active' }))
  t.equal((await log()).length, 1)
})

t.test('an inactive webhook of another tenant is not found', async (t) => {
  const inactive = await create({ status: 'inactive' })
  const answer = await api.callAsGlobex('POST', `/webhooks/${inactive.id}/replay`)
  t.equal(answer.status, 404)
  t.strictSame(answer.body, notFound(answer))
})

t.test('a bad replay of a webhook that does not exist is a 400', async (t) => {
  for (const body of [{ include: 'x' }, { event_types: ['x'] }, { event_ids: ['a'], since: now }, { since: timeOf(clock, 1) }]) {
    t.equal((await call('POST', '/webhooks/17/replay', body)).status, 400)
  }
})

t.test('a dry run answers 200 with what the replay then queues, and queues nothing', async (t) => {
  const { app, call, create, storage } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  const emit = () => app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  const [first, second] = [await emit(), await emit()]
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })

  for (const [body, queued] of [[{}, 2], [{ include: 'all' }, 2], [{ event_types: ['application.hired'] }, 0], [{ event_ids: [first.id] }, 1]] as const) {
    const counted = await call<{ data: object }>('POST', `/webhooks/${id}/replay`, { ...body, dry_run: true })
    t.equal(counted.status, 200)
    t.match(counted.body, { data: { webhook_id: id, queued, truncated: false } })
    t.match(await storage.deliveries.stats(), { pending: 0 })
    t.equal((await call<{ data: object[] }>('GET', `/webhooks/${id}/deliveries`)).body.data.length, 2)
  }

  for (const body of [{ event_ids: [second.id] }, {}, {}]) {
    const counted = await call('POST', `/webhooks/${id}/replay`, { ...body, dry_run: true })
    const replayed = await call('POST', `/webhooks/${id}/replay`, { ...body, dry_run: false })
    t.strictSame([counted.status, replayed.status], [200, 202])
    t.strictSame(counted.body, replayed.body)
  }
})

t.test('a dry run counts 10,000 events at most, and says that there are more', async (t) => {
  const { app, call, create } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  for (let count = 0; count < 10_001; count++) await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })
  t.match(await call('POST', `/webhooks/${id}/replay`, { dry_run: true }), { status: 200, body: { data: { queued: 10_000, truncated: true } } })
})

t.test('a dry run is refused where the replay would be', async (t) => {
  const { call, callAsGlobex, create } = await buildWebhookApi(t)
  const { id } = await create()
  const inactive = await create({ status: 'inactive' })
  const refused = await call('POST', `/webhooks/${inactive.id}/replay`, { dry_run: true })
  t.strictSame([refused.status, refused.body], [400, refusal(refused, { field: '', message: 'the webhook is not active' })])
  for (const answer of [await call('POST', '/webhooks/17/replay', { dry_run: true }), await callAsGlobex('POST', `/webhooks/${id}/replay`, { dry_run: true })]) {
    t.strictSame([answer.status, answer.body], [404, notFound(answer)])
  }
  for (const value of [1, 'true', null]) {
    const answer = await call('POST', `/webhooks/${id}/replay`, { dry_run: value })
    t.strictSame([answer.status, answer.body], [400, refusal(answer, { field: 'dry_run', message: 'must be boolean' })])
  }
})

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
