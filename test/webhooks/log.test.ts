import t from 'tap'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { buildWebhookApi, timeOf } from '../fixtures/api/webhook-api.js'

t.test('the log contains a delivered event with its time', async (t) => {
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
      detail: null,
      next_attempt_at: null,
      created_at: timeOf(clock),
      delivered_at: timeOf(clock)
    }],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })
})

t.test('a delivery is shown as in the log, with its body and its attempts, oldest first', async (t) => {
  const { call, clock, drain, emit, lastDelivery, log, receiver, retry, webhook } = await startDelivering(t)
  receiver.answer((response) => response.destroy(), { status: 503, body: 'inner text' }, 204)
  const ends: number[] = []
  await emit()
  await drain()
  ends.push(clock.now())
  for (let count = 0; count < 2; count++) {
    await retry()
    ends.push(clock.now())
  }
  const { attempts } = await lastDelivery()
  const { status, body } = await call('GET', `/webhooks/${webhook.id}/deliveries/1`)
  const [logged] = await log()
  t.equal(status, 200)
  t.strictSame(body, { data: { ...logged, body: receiver.requests[0]?.body, attempts } })
  const expected = [[null, 'connection', 'reset'], [503, 'http_status', null], [204, null, null]] as const
  t.strictSame(attempts, expected.map(([responseStatus, error, detail], index) => {
    const durationMs = attempts[index]?.duration_ms ?? -1
    return {
      started_at: new Date((ends[index] ?? 0) - durationMs).toISOString(),
      duration_ms: durationMs,
      response_status: responseStatus,
      error,
      detail,
      response_excerpt: null
    }
  }))
  for (const { duration_ms: durationMs } of attempts) t.ok(Number.isInteger(durationMs) && durationMs >= 0)
})

interface Page {
  data: Array<{ id: number, event_id: string, event_type: string, status: string, created_at: string }>
  meta: { total: number }
}

const { app, call, clock, create } = await buildWebhookApi(t)
const types = ['application.created', 'job.created'] as const
const { id: webhookId } = await create({ event_types: types, status: 'inactive' })
const path = `/webhooks/${webhookId}/deliveries`
const eventIds: string[] = []

// Deliveries 1 to 4: two of each type, the first two skipped, the others pending.
for (const status of ['inactive', 'active']) {
  await call('PATCH', `/webhooks/${webhookId}`, { status })
  for (const type of types) {
    eventIds.push((await app.recruiting.emit({ tenantSlug: 'acme', type, data: {} })).id)
    await clock.advance(1000)
  }
}

t.test('the log can be sorted and filtered, and lists the newest delivery first by default', async (t) => {
  for (const [query, found] of [
    ['', [4, 3, 2, 1]], ['sort=id', [1, 2, 3, 4]], ['sort=-id', [4, 3, 2, 1]], ['sort=created_at', [1, 2, 3, 4]],
    ['sort=-created_at', [4, 3, 2, 1]], ['filter[status]=pending', [4, 3]], ['filter[status]=skipped', [2, 1]],
    ['filter[status]=delivered', []], ['filter[status]=failed', []], ['filter[status]=cancelled', []],
    ['filter[event_type]=job.created', [4, 2]], ['filter[event_type]=job.closed', []],
    ['filter[event_type]=nobody.knows', []], [`filter[event_id]=${eventIds[2]}`, [3]],
    ['filter[event_id]=evt_unknown', []]
  ] as const) {
    const { body } = await call<Page>('GET', `${path}?${query}`)
    t.same([body.data.map(({ id }) => id), body.meta.total], [found, found.length], query)
  }
})
