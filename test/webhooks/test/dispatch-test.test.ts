import t from 'tap'
import { Type } from '@sinclair/typebox'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import { buildWebhookApi, refusal, timeOf } from '../../fixtures/api/webhook-api.js'

interface Tested {
  data: { id: string, event_type: string, duration_ms: number }
}

t.test('a test sends one event that says so, and tells how that went', async (t) => {
  const { call, clock, receiver, webhook } = await startDelivering(t)
  const { status, body } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`)
  const { id, duration_ms: durationMs } = body.data
  t.equal(status, 200)
  t.strictSame(body, {
    data: {
      id, event_type: 'application.created', status: 'delivered', response_status: 204, duration_ms: durationMs, error: null
    }
  })
  t.same(Object.keys(body.data), ['id', 'event_type', 'status', 'response_status', 'duration_ms', 'error'])
  t.ok(Number.isInteger(durationMs) && durationMs >= 0)
  t.equal(receiver.requests.length, 1)
  const sent = first(receiver.requests)
  t.equal(sent.body, JSON.stringify({
    id, type: 'application.created', timestamp: timeOf(clock), tenant_slug: 'acme', data: { id: 1 }, test: true
  }))
  t.equal(`${sent.method} ${sent.path}`, 'POST /hook')
  t.equal(sent.headers['webhook-id'], id)
  t.equal(sent.headers['content-type'], 'application/json')
})

t.test('the event type of a test is the first one subscribed to', async (t) => {
  const { call, create, receiver } = await startDelivering(t)
  const { id } = await create({ target_url: receiver.url, event_types: ['job.closed', 'application.created'] })
  for (const body of [undefined, {}]) {
    const answer = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`, body)
    t.equal(answer.body.data.event_type, 'job.closed')
  }
  t.same(receiver.requests.map(({ body }) => JSON.parse(body).type), ['job.closed', 'job.closed'])
})

t.test('the client may choose any event type of the catalogue', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t)
  const { body } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`, { event_type: 'candidate.merged' })
  t.equal(body.data.event_type, 'candidate.merged')
  t.equal(JSON.parse(first(receiver.requests).body).type, 'candidate.merged')
})

t.test('a test sends the first example of its event, and no data without one', async (t) => {
  const events = {
    'application.created': Type.Object({ to: Type.String() }, { examples: [{ to: 'Ada' }, { to: 'Grace' }] }),
    'offer.signed': Type.Object({ amount: Type.Integer() })
  }
  const { call, receiver, webhook } = await startDelivering(t, { events })
  for (const body of [{}, { event_type: 'offer.signed' }]) await call('POST', `/webhooks/${webhook.id}/dispatch_test`, body)
  t.same(receiver.requests.map(({ body }) => JSON.parse(body).data), [{ to: 'Ada' }, {}])
})

t.test('every test is an event of its own', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t)
  const ids = new Set<string>()
  for (let count = 0; count < 3; count++) {
    const { body } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`)
    ids.add(body.data.id)
  }
  t.equal(ids.size, 3)
  t.same(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])), ids)
})

t.test('a test goes only to its webhook', async (t) => {
  const { call, create, receiver, webhook } = await startDelivering(t)
  await create({ target_url: `${receiver.url}/other` })
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.same(receiver.requests.map(({ path }) => path), ['/hook'])
})

const catalogue = 'must be an event type of the catalogue'
const refused: Array<[body: unknown, field: string, message: string]> = [
  [{ event_type: 'job.lost' }, 'event_type', catalogue],
  [{ event_type: '' }, 'event_type', catalogue],
  [{ event_type: 'constructor' }, 'event_type', catalogue],
  [{ event_type: null }, 'event_type', 'must be string'],
  [{ event_type: ['job.created'] }, 'event_type', 'must be string'],
  [{ data: {} }, 'data', 'is not known'],
  [[], '', 'must be object'],
  [null, '', 'must be object'],
  ['job.created', '', 'must be object']
]

for (const [body, field, message] of refused) {
  t.test(`a test with ${JSON.stringify(body)} is refused, and nothing is sent`, async (t) => {
    const { call, receiver, webhook } = await startDelivering(t)
    const answer = await call('POST', `/webhooks/${webhook.id}/dispatch_test`, body)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field, message }))
    t.equal(receiver.requests.length, 0)
  })
}

t.test('an event type outside the catalogue is a 400 for a webhook that does not exist', async (t) => {
  const { call } = await buildWebhookApi(t)
  t.equal((await call('POST', '/webhooks/17/dispatch_test', { event_type: 'job.lost' })).status, 400)
})
