import t from 'tap'
import { buildWebhookApi, onlyById, refusal, timeOf, webhookInput } from '../fixtures/api/webhook-api.js'

t.test('a PATCH changes the field it names and updated_at, and nothing else', async (t) => {
  for (const [field, sent, stored] of [
    ['name', '  Data lake ', 'Data lake'],
    ['target_url', 'HTTPS://Example.com:443', 'https://example.com/'],
    ['event_types', ['job.closed', 'job.created'], ['job.closed', 'job.created']],
    ['status', 'inactive', 'inactive']
  ] as const) {
    const { call, clock, create, storage } = await buildWebhookApi(t)
    const { id, secret } = await create()
    const createdAt = timeOf(clock)
    await clock.advance(5000)
    const { status, body } = await call('PATCH', `/webhooks/${id}`, { [field]: sent })
    t.equal(status, 200)
    const none = { headers: null, filters: null }
    const data = {
      id, ...webhookInput, status: 'active', ...none, [field]: stored, created_at: createdAt, updated_at: timeOf(clock)
    }
    t.strictSame(body, { data })
    t.strictSame((await call('GET', `/webhooks/${id}`)).body, { data: { ...data, ...onlyById } })
    t.same(await storage.webhooks.findSecrets('acme', id), [secret])
  }
})

const { call, create } = await buildWebhookApi(t)
const { id } = await create()
const before = await call('GET', `/webhooks/${id}`)

const enumerated = 'must be one of active, inactive'
const refused: Array<[body: unknown, ...faults: Array<[field: string, message: string]>]> = [
  [{}, ['', 'must NOT have fewer than 1 properties']],
  [undefined, ['', 'must NOT have fewer than 1 properties']],
  [null, ['', 'must be object']],
  [{ name: null }, ['name', 'must be string']],
  [{ status: 'disabled' }, ['status', enumerated]],
  [{ id: 17, name: 'New name' }, ['id', 'is not known']],
  [{ name: 'New name', target_url: 'https://localhost/' }, ['target_url', 'must point to a public host']],
  [{ status: 'inactive', event_types: ['x'] }, ['event_types[0]', 'must be an event type of the catalogue']]
]

t.test('a bad PATCH gets a 400 that names the field, and changes nothing', async (t) => {
  for (const [body, ...faults] of refused) {
    const answer = await call('PATCH', `/webhooks/${id}`, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    const details = faults.map(([field, message]) => ({ field, message }))
    t.strictSame(answer.body, refusal(answer, ...details), JSON.stringify(body))
  }
  t.strictSame((await call('GET', `/webhooks/${id}`)).body, before.body)
})

t.test('a DELETE answers 204 without a body', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { status, headers, body } = await call('DELETE', `/webhooks/${(await create()).id}`)
  t.strictSame([status, body, headers['content-type']], [204, null, undefined])
})
