import t from 'tap'
import { buildWebhookApi, notFound, onlyById, timeOf, webhookInput } from '../fixtures/api/webhook-api.js'

t.test('a webhook is shown without its secret', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const { status, headers, body } = await call('GET', `/webhooks/${id}`)
  t.equal(status, 200)
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  t.strictSame(body, {
    data: { id, ...webhookInput, status: 'active', headers: null, filters: null, created_at: timeOf(clock), updated_at: timeOf(clock), ...onlyById }
  })
})

t.test('HEAD answers like GET without a body', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  const { headers } = await call('GET', `/webhooks/${id}`)
  const head = await call('HEAD', `/webhooks/${id}`)
  t.equal(head.status, 200)
  t.equal(head.body, null)
  t.equal(head.headers['content-length'], headers['content-length'])
})

t.test('a webhook that was deleted is not found', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create()
  await call('DELETE', `/webhooks/${id}`)
  const answer = await call('GET', `/webhooks/${id}`)
  t.equal(answer.status, 404)
  t.strictSame(answer.body, notFound(answer))
})
