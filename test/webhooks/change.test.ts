import t from 'tap'
import { buildWebhookApi, onlyById, timeOf, webhookInput } from '../fixtures/api/webhook-api.js'

t.test('a PATCH changes only the given field and updated_at', async (t) => {
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
    const none = { headers: null, filters: null, changed: null, contact: null, created_by: { type: 'key', id: 'key_1' } }
    const data = {
      id, ...webhookInput, status: 'active', ...none, [field]: stored, created_at: createdAt, updated_at: timeOf(clock)
    }
    t.strictSame(body, { data })
    t.strictSame((await call('GET', `/webhooks/${id}`)).body, { data: { ...data, ...onlyById } })
    t.same(await storage.webhooks.findSecrets('acme', id), [secret])
  }
})

t.test('a DELETE returns 204 without a body', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { status, headers, body } = await call('DELETE', `/webhooks/${(await create()).id}`)
  t.strictSame([status, body, headers['content-type']], [204, null, undefined])
})
