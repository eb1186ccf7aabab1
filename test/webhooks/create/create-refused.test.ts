import t, { type Test } from 'tap'
import { type WebhookApi, buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'

const status = 'must be one of active, inactive'
const refused: Array<[title: string, fields: Record<string, unknown>, field: string, message: string]> = [
  ['the status disabled, which the service alone sets', { status: 'disabled' }, 'status', status],
  ['a status outside the set', { status: 'paused' }, 'status', status],
  ['a status in capitals', { status: 'Active' }, 'status', status],
  ['an empty status', { status: '' }, 'status', status],
  ['a secret of the client\'s own', { secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }, 'secret', 'is not known'],
  ['an id of the client\'s own', { id: 17 }, 'id', 'is not known'],
  ['a field that is not known', { colour: 'red' }, 'colour', 'is not known'],
  ['a field that only an answer has', { created_at: '2026-01-01T00:00:00.000Z' }, 'created_at', 'is not known']
]

for (const [title, fields, field, message] of refused) {
  t.test(`${title} is refused, and nothing is stored`, async (t) => {
    const api = await buildWebhookApi(t)
    const answer = await api.call('POST', '/webhooks', { ...webhookInput, ...fields })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field, message }))
    await assertNothingStored(t, api)
  })
}

t.test('a status of null is refused, and nothing is stored', async (t) => {
  const api = await buildWebhookApi(t)
  const answer = await api.call('POST', '/webhooks', { ...webhookInput, status: null })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'status', message: 'must be string' }, { field: 'status', message: status }))
  await assertNothingStored(t, api)
})

t.test('every field at fault is named', async (t) => {
  const api = await buildWebhookApi(t)
  const answer = await api.call('POST', '/webhooks', { name: '', event_types: [] })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer,
    { field: 'target_url', message: 'is required' },
    { field: 'name', message: 'must NOT have fewer than 1 characters' },
    { field: 'event_types', message: 'must NOT have fewer than 1 items' }
  ))
  await assertNothingStored(t, api)
})

for (const body of [[], [webhookInput], 'text', 17, true, null]) {
  t.test(`a body that is ${JSON.stringify(body)} is refused, and nothing is stored`, async (t) => {
    const api = await buildWebhookApi(t)
    const answer = await api.call('POST', '/webhooks', body)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field: '', message: 'must be object' }))
    await assertNothingStored(t, api)
  })
}

t.test('a create without a body is refused', async (t) => {
  const api = await buildWebhookApi(t)
  const answer = await api.call('POST', '/webhooks')
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer,
    { field: 'name', message: 'is required' },
    { field: 'target_url', message: 'is required' },
    { field: 'event_types', message: 'is required' }
  ))
  await assertNothingStored(t, api)
})

async function assertNothingStored (t: Test, { call }: WebhookApi): Promise<void> {
  const { body } = await call('GET', '/webhooks')
  t.strictSame(body, { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
}
