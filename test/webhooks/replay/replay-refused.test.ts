import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { buildWebhookApi, notFound, refusal, timeOf } from '../../fixtures/api/webhook-api.js'

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
