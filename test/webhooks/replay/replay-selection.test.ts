import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { type WebhookApi, buildWebhookApi, timeOf } from '../../fixtures/api/webhook-api.js'

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
