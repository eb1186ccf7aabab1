import t from 'tap'
import { type WebhookApi, buildWebhookApi, notFound, refusal } from '../fixtures/api/webhook-api.js'

type Call = WebhookApi['call']

/** Every operation on one webhook, with a body that is right where one is needed. */
const operations: Record<string, (call: Call, id: number | string) => ReturnType<Call>> = {
  'GET :id': (call, id) => call('GET', `/webhooks/${id}`),
  'PATCH :id': (call, id) => call('PATCH', `/webhooks/${id}`, { name: 'New name' }),
  'DELETE :id': (call, id) => call('DELETE', `/webhooks/${id}`),
  'POST :id/rotate_secret': (call, id) => call('POST', `/webhooks/${id}/rotate_secret`),
  'POST :id/dispatch_test': (call, id) => call('POST', `/webhooks/${id}/dispatch_test`),
  'POST :id/replay': (call, id) => call('POST', `/webhooks/${id}/replay`),
  'GET :id/deliveries': (call, id) => call('GET', `/webhooks/${id}/deliveries`),
  'GET :id/deliveries/:delivery_id': (call, id) => call('GET', `/webhooks/${id}/deliveries/1`)
}

const malformed = ['abc', '1.5', '1.0', '1e1', '0x1', '+1', '%201', '1%20', '1abc', 'NaN', 'null', '١']
const unknown = ['2', '0', '-1', '2147483648', '9007199254740991', '9007199254740992', '99999999999999999999']

const { call, create } = await buildWebhookApi(t)
await create()

for (const [title, operation] of Object.entries(operations)) {
  t.test(`${title} refuses an id that is not an integer`, async (t) => {
    for (const id of malformed) {
      const answer = await operation(call, id)
      t.equal(answer.status, 400, id)
      t.strictSame(answer.body, refusal(answer, { in: 'path', field: 'id', message: 'must be integer' }), id)
    }
  })

  t.test(`${title} does not find an id that was never given out`, async (t) => {
    for (const id of unknown) {
      const answer = await operation(call, id)
      t.equal(answer.status, 404, id)
      t.strictSame(answer.body, notFound(answer), id)
    }
  })

  t.test(`${title} treats a webhook of another tenant as one that does not exist`, async (t) => {
    const { app, call, callAsGlobex, create } = await buildWebhookApi(t)
    const { id } = await create()
    await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
    const before = await call('GET', `/webhooks/${id}`)
    const foreign = await operation(callAsGlobex, id)
    const missing = await operation(callAsGlobex, 17)
    t.equal(foreign.status, 404)
    t.strictSame(foreign.body, notFound(foreign))
    t.strictSame(withoutRequestId(foreign.headers), withoutRequestId(missing.headers))
    t.strictSame((await call('GET', `/webhooks/${id}`)).body, before.body, 'nothing has changed')
  })
}

function withoutRequestId (headers: object): object {
  return { ...headers, 'x-request-id': '', date: '' }
}
