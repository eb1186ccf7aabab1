import t from 'tap'
import { type Reply, buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'

const tooMany = (limit: number) => ({ field: '', message: `the tenant already has the maximum of ${limit} webhooks` })

t.test('a tenant has 50 webhooks at most, inactive ones counted', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  for (let count = 0; count < 50; count++) await create({ status: count % 2 === 0 ? 'active' : 'inactive' })
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, tooMany(50)))
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 50)
})

t.test('of ten creates at once for the last place, exactly one succeeds', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  for (let count = 0; count < 49; count++) await create()
  const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/webhooks', webhookInput)))
  t.same(countByStatus(answers), { 201: 1, 400: 9 })
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 50)
})

t.test('the limit is the host\'s to set', async (t) => {
  const { call, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  await create()
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, tooMany(1)))
})

t.test('the webhooks of one tenant take no place from another\'s', async (t) => {
  const { callAsGlobex, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  await create()
  t.equal((await callAsGlobex('POST', '/webhooks', webhookInput)).status, 201)
})

t.test('a delete makes room', async (t) => {
  const { call, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  const { id } = await create()
  await call('DELETE', `/webhooks/${id}`)
  t.equal((await call('POST', '/webhooks', webhookInput)).status, 201)
})

function countByStatus (answers: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
