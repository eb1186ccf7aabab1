import t from 'tap'
import { type Reply, buildWebhookApi, refusal, timeOf } from '../../fixtures/api/webhook-api.js'

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
