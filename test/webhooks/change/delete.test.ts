import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { buildWebhookApi, notFound } from '../../fixtures/api/webhook-api.js'

t.test('a DELETE answers 204 without a body', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  const { status, headers, body } = await call('DELETE', `/webhooks/${id}`)
  t.equal(status, 204)
  t.equal(body, null)
  t.match(headers, { 'x-request-id': /^req_/, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  t.notOk('content-type' in headers)
})

t.test('of two deletes at once, one finds the webhook', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  const answers = await Promise.all([call('DELETE', `/webhooks/${id}`), call('DELETE', `/webhooks/${id}`)])
  t.same(answers.map(({ status }) => status).sort(), [204, 404])
})

t.test('nothing is left of a deleted webhook', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  await call('DELETE', `/webhooks/${id}`)
  const answers = [
    await call('GET', `/webhooks/${id}`),
    await call('PATCH', `/webhooks/${id}`, { name: 'New name' }),
    await call('DELETE', `/webhooks/${id}`),
    await call('POST', `/webhooks/${id}/rotate_secret`),
    await call('POST', `/webhooks/${id}/dispatch_test`),
    await call('POST', `/webhooks/${id}/replay`),
    await call('GET', `/webhooks/${id}/deliveries`),
    await call('GET', `/webhooks/${id}/deliveries/1`)
  ]
  for (const answer of answers) {
    t.equal(answer.status, 404)
    t.strictSame(answer.body, notFound(answer))
  }
  t.match((await call('GET', '/webhooks')).body, { data: [], meta: { total: 0 } })
})

t.test('pending deliveries of a deleted webhook are cancelled, and those of others are not', async (t) => {
  const { call, clock, create, drain, emit, receiver, storage, webhook } = await startDelivering(t, { delivery: { retrySchedule: [0, 60] } })
  await create({ target_url: `${receiver.url}/other` })
  receiver.answer(500, 500, 204)
  await emit()
  await drain()
  t.match(await storage.deliveries.stats(), { pending: 2 })
  await call('DELETE', `/webhooks/${webhook.id}`)
  t.match(await storage.deliveries.stats(), { pending: 1 })
  await clock.advance(72_010)
  await drain()
  t.same(receiver.requests.map(({ path }) => path).sort(), ['/hook', '/hook/other', '/hook/other'])
})

t.test('a webhook can be deleted during an attempt, which is then not repeated', async (t) => {
  const { app, call, emit, receiver, storage, webhook } = await startDelivering(t)
  let release = () => {}
  receiver.answer((response) => { release = () => response.writeHead(500).end() })
  await emit()
  await receiver.received(1)
  t.equal((await call('DELETE', `/webhooks/${webhook.id}`)).status, 204)
  release()
  await app.close()
  t.match(await storage.deliveries.stats(), { pending: 0, due: 0, leased: 0, oldestDueMs: 0 })
})
