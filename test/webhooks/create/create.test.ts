import t from 'tap'
import { type Created, buildWebhookApi, onlyById, timeOf, webhookInput } from '../../fixtures/api/webhook-api.js'

t.test('a create answers 201 with the six fields of a webhook, its secret among them', async (t) => {
  const { call } = await buildWebhookApi(t)
  const { status, headers, body } = await call<{ data: Created }>('POST', '/webhooks', webhookInput)
  t.equal(status, 201)
  t.strictSame(body, { data: { id: body.data.id, ...webhookInput, status: 'active', secret: body.data.secret } })
  t.same(Object.keys(body.data), ['id', 'name', 'status', 'target_url', 'event_types', 'secret'])
  t.ok(Number.isSafeInteger(body.data.id) && body.data.id > 0)
  t.equal(headers.location, `/api/v1/public/acme/webhooks/${body.data.id}`)
})

t.test('Location leads to the webhook', async (t) => {
  const { app, call, clock } = await buildWebhookApi(t)
  const { headers, body: { data } } = await call<{ data: Created }>('POST', '/webhooks', webhookInput)
  const answer = await app.inject({ url: String(headers.location), headers: { authorization: 'Bearer acme-full-key' } })
  t.strictSame(answer.json(), {
    data: { id: data.id, ...webhookInput, status: 'active', headers: null, filters: null, created_at: timeOf(clock), updated_at: timeOf(clock), ...onlyById }
  })
})

t.test('Location has the prefix that the host has chosen', async (t) => {
  const { app } = await buildWebhookApi(t, { prefix: '/ats' })
  const { statusCode, headers } = await app.inject({
    method: 'POST', url: '/ats/acme/webhooks', headers: { authorization: 'Bearer acme-full-key' }, payload: webhookInput
  })
  t.equal(statusCode, 201)
  t.equal(headers.location, '/ats/acme/webhooks/1')
})

t.test('a webhook is created inactive if the client says so', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id, status } = await create({ status: 'inactive' })
  t.equal(status, 'inactive')
  const { body } = await call<{ data: { status: string } }>('GET', `/webhooks/${id}`)
  t.equal(body.data.status, 'inactive')
})

t.test('a secret is whsec_ and base64 of 32 bytes, another one for every webhook', async (t) => {
  const { create } = await buildWebhookApi(t)
  const secrets = [await create(), await create(), await create()].map(({ secret }) => secret)
  for (const secret of secrets) {
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    t.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32)
  }
  t.equal(new Set(secrets).size, 3)
})

t.test('ids are never given twice, not even after a delete and not to another tenant', async (t) => {
  const { call, callAsGlobex, create } = await buildWebhookApi(t)
  const first = await create()
  await call('DELETE', `/webhooks/${first.id}`)
  const second = await create()
  const { body: { data: third } } = await callAsGlobex<{ data: Created }>('POST', '/webhooks', webhookInput)
  t.equal(new Set([first.id, second.id, third.id]).size, 3)
})

t.test('two webhooks may be the same in everything but id and secret', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const [one, two] = [await create(), await create()]
  t.strictSame({ ...one, id: 0, secret: '' }, { ...two, id: 0, secret: '' })
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 2)
})
