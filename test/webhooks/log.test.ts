import t from 'tap'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { hang } from '../fixtures/receivers/receiver.js'
import { buildWebhookApi, notFound, refusal, type Reply, timeOf } from '../fixtures/api/webhook-api.js'

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

t.test('one delivery is shown as in the log, with what was sent and its attempts in the order they were made', async (t) => {
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
  const expected = [[null, 'connection'], [503, 'http_status'], [204, null]] as const
  t.strictSame(attempts, expected.map(([responseStatus, error], index) => {
    const durationMs = attempts[index]?.duration_ms ?? -1
    return {
      started_at: new Date((ends[index] ?? 0) - durationMs).toISOString(),
      duration_ms: durationMs,
      response_status: responseStatus,
      error,
      response_excerpt: null
    }
  }))
  for (const { duration_ms: durationMs } of attempts) t.ok(Number.isInteger(durationMs) && durationMs >= 0)
})

t.test('a delivery that was never attempted has no attempts', async (t) => {
  const { call, clock, emit, log, webhook } = await startDelivering(t, { delivery: { worker: false } })
  const { id } = await emit({ text: '"é\u2028' })
  const [logged] = await log()
  const sent = `{"id":"${id}","type":"application.created","timestamp":"${timeOf(clock)}","tenant_slug":"acme","data":{"text":"\\"é\u2028"}}`
  t.strictSame((await call('GET', `/webhooks/${webhook.id}/deliveries/1`)).body, { data: { ...logged, body: sent, attempts: [] } })
})

t.test('the body of an erased event is its tombstone', async (t) => {
  const { app: { recruiting }, clock, lastDelivery } = await startDelivering(t)
  const { id } = await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { name: 'Ada' }, subject: 'candidate:1' })
  t.match((await lastDelivery()).body, /Ada/)
  await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' })
  t.equal((await lastDelivery()).body,
    `{"id":"${id}","type":"application.created","timestamp":"${timeOf(clock)}","tenant_slug":"acme","data":null,"erased":true}`)
})

t.test('the response body of the receiver is nowhere in the log unless the vendor keeps it', async (t) => {
  const { call, drain, emit, receiver, webhook } = await startDelivering(t)
  receiver.answer({ status: 500, headers: { 'x-hint': 'inner header' }, body: 'inner text' })
  await emit()
  await drain()
  const answers = [
    await call('GET', `/webhooks/${webhook.id}/deliveries`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/1`)
  ]
  for (const { headers, body } of answers) t.notMatch(JSON.stringify([headers, body]), /inner/)
})

t.test('a delivery is found only under its own webhook', async (t) => {
  const { call, callAsGlobex, create, emit, webhook } = await startDelivering(t)
  const other = await create({ event_types: ['job.created'] })
  await emit()
  t.equal((await call('GET', `/webhooks/${webhook.id}/deliveries/1`)).status, 200)
  const answers = [
    await call('GET', `/webhooks/${other.id}/deliveries/1`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/2`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/0`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/99999999999999999999`),
    await callAsGlobex('GET', `/webhooks/${webhook.id}/deliveries/1`)
  ]
  for (const answer of answers) {
    t.equal(answer.status, 404)
    t.strictSame(answer.body, notFound(answer))
  }
})

t.test('a delivery id that is not an integer is refused', async (t) => {
  const { call, webhook } = await startDelivering(t)
  for (const id of ['abc', '1.5', '1e1', '%201']) {
    const answer = await call('GET', `/webhooks/${webhook.id}/deliveries/${id}`)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { in: 'path', field: 'delivery_id', message: 'must be integer' }))
  }
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

const ids = ({ body }: Reply<Page>) => body.data.map(({ id }) => id)

t.test('the newest delivery comes first unless the client says otherwise', async (t) => {
  t.same(ids(await call<Page>('GET', path)), [4, 3, 2, 1])
  for (const [sort, order] of [['id', [1, 2, 3, 4]], ['-id', [4, 3, 2, 1]], ['created_at', [1, 2, 3, 4]], ['-created_at', [4, 3, 2, 1]]] as const) {
    t.same(ids(await call<Page>('GET', `${path}?sort=${sort}`)), order)
  }
})

t.test('the log is paged', async (t) => {
  const { body } = await call<Page>('GET', `${path}?per_page=3&page=2`)
  t.same(body.data.map(({ id }) => id), [1])
  t.same(body.meta, { page: 2, per_page: 3, total: 4, total_pages: 2 })
})

t.test('filter[status] keeps deliveries of one status', async (t) => {
  const expected = { pending: [4, 3], skipped: [2, 1], delivered: [], failed: [], cancelled: [] }
  for (const [status, found] of Object.entries(expected)) {
    const answer = await call<Page>('GET', `${path}?filter[status]=${status}`)
    t.same(ids(answer), found)
    t.equal(answer.body.meta.total, found.length)
  }
})

t.test('filter[event_type] and filter[event_id] keep deliveries of one type and of one event', async (t) => {
  t.same(ids(await call<Page>('GET', `${path}?filter[event_type]=job.created`)), [4, 2])
  t.same(ids(await call<Page>('GET', `${path}?filter[event_type]=job.closed`)), [])
  t.same(ids(await call<Page>('GET', `${path}?filter[event_type]=nobody.knows`)), [])
  t.same(ids(await call<Page>('GET', `${path}?filter[event_id]=${eventIds[2]}`)), [3])
  t.same(ids(await call<Page>('GET', `${path}?filter[event_id]=evt_unknown`)), [])
})

t.test('several filters must all hold', async (t) => {
  t.same(ids(await call<Page>('GET', `${path}?filter[status]=pending&filter[event_type]=job.created`)), [4])
  t.same(ids(await call<Page>('GET', `${path}?filter[status]=skipped&filter[event_id]=${eventIds[2]}`)), [])
})

t.test('the log of another webhook has its own deliveries', async (t) => {
  const other = await create()
  t.same(ids(await call<Page>('GET', `/webhooks/${other.id}/deliveries`)), [])
})

const statuses = 'must be one of pending, delivered, failed, skipped, cancelled'
const sort = 'must be up to 3 of id, created_at, separated by commas; a leading minus sign sorts descending'
const refused: Array<[query: string, field: string, message: string]> = [
  ['filter[status]=lost', 'filter[status]', statuses],
  ['filter[status]=', 'filter[status]', statuses],
  ['filter[event_type]=', 'filter[event_type]', 'must NOT have fewer than 1 characters'],
  ['filter[event_id]=', 'filter[event_id]', 'must NOT have fewer than 1 characters'],
  ['filter[q]=x', 'filter[q]', 'is not known'],
  ['sort=status', 'sort', sort],
  ['sort=next_attempt_at', 'sort', sort],
  ['sort=id,id', 'sort', 'names id more than once']
]

for (const [query, field, message] of refused) {
  t.test(`?${query} is refused`, async (t) => {
    const answer = await call('GET', `${path}?${query}`)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { in: 'query', field, message }))
  })
}

t.test('created_at is when the delivery was made', async (t) => {
  const { body } = await call<Page>('GET', path)
  t.same(body.data.map(({ created_at: at }) => at), [1, 2, 3, 4].map((seconds) => timeOf(clock, -1000 * seconds)))
})
