import t from 'tap'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { buildWebhookApi, refusal, timeOf, webhookInput } from '../fixtures/api/webhook-api.js'

interface Page {
  data: Array<{ id: number, name: string, status: string }>
  meta: { total: number }
}

t.test('the list shows each webhook without its secret', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const one = await create()
  const createdAt = timeOf(clock)
  await clock.advance(1500)
  const two = await create({ name: 'Data lake', status: 'inactive', event_types: ['job.created', 'job.closed'] })
  const { status, body } = await call('GET', '/webhooks')
  t.equal(status, 200)
  t.strictSame(body, {
    data: [
      { id: one.id, ...webhookInput, status: 'active', headers: null, filters: null, created_at: createdAt, updated_at: createdAt },
      {
        id: two.id,
        name: 'Data lake',
        status: 'inactive',
        target_url: webhookInput.target_url,
        event_types: ['job.created', 'job.closed'],
        headers: null,
        filters: null,
        created_at: timeOf(clock),
        updated_at: timeOf(clock)
      }
    ],
    meta: { page: 1, per_page: 25, total: 2, total_pages: 1 }
  })
})

t.test('dates are in UTC with milliseconds', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  await create()
  const { body } = await call<{ data: Array<{ created_at: string, updated_at: string }> }>('GET', '/webhooks')
  const dates = body.data.flatMap(({ created_at: created, updated_at: updated }) => [created, updated])
  for (const date of dates) t.match(date, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

t.test('a tenant does not see the webhooks of another', async (t) => {
  const { callAsGlobex, create } = await buildWebhookApi(t)
  await create()
  const { body } = await callAsGlobex('GET', '/webhooks')
  t.strictSame(body, { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
})

t.test('filter[status] keeps only webhooks of this status', async (t) => {
  const { call, create, emit, drain, receiver, webhook } = await startDelivering(t)
  const active = await create()
  const inactive = await create({ status: 'inactive' })
  receiver.answer(410)
  await emit()
  await receiver.received(1)
  await call('PATCH', `/webhooks/${active.id}`, { status: 'inactive' })
  await drain()
  await call('PATCH', `/webhooks/${active.id}`, { status: 'active' })
  for (const [status, id] of [['active', active.id], ['inactive', inactive.id], ['disabled', webhook.id]] as const) {
    const { body } = await call<Page>('GET', `/webhooks?filter[status]=${status}`)
    t.same(body.data.map((item) => [item.id, item.status]), [[id, status]])
    t.equal(body.meta.total, 1)
  }
})

for (const value of ['paused', 'ACTIVE', '', 'active,inactive']) {
  t.test(`filter[status]=${value} is refused`, async (t) => {
    const { call } = await buildWebhookApi(t)
    const answer = await call('GET', `/webhooks?filter[status]=${value}`)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, {
      in: 'query', field: 'filter[status]', message: 'must be one of active, inactive, disabled'
    }))
  })
}

t.test('webhooks can be sorted by id, name, created_at and updated_at', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const names: Record<number, string> = {}
  for (const name of ['b', 'a', 'B', 'a']) {
    const { id } = await create({ name })
    names[id] = `${name}${id}`
    await clock.advance(1000)
  }
  await call('PATCH', '/webhooks/2', { status: 'inactive' })
  const expected = {
    id: 'b1 a2 B3 a4',
    '-id': 'a4 B3 a2 b1',
    name: 'B3 a2 a4 b1',
    '-name': 'b1 a4 a2 B3',
    'name,-id': 'B3 a4 a2 b1',
    created_at: 'b1 a2 B3 a4',
    '-updated_at': 'a2 a4 B3 b1'
  }
  for (const [sort, order] of Object.entries(expected)) {
    const { body } = await call<Page>('GET', `/webhooks?sort=${sort}`)
    t.equal(body.data.map(({ id }) => names[id]).join(' '), order, sort)
  }
  for (const sort of ['status', 'target_url', 'secret']) {
    t.equal((await call('GET', `/webhooks?sort=${sort}`)).status, 400, sort)
  }
})
