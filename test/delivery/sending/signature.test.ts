import t from 'tap'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import type { ReceivedRequest } from '../../fixtures/receivers/receiver.js'

const libraries = { standardwebhooks: StandardWebhook, svix: SvixWebhook }

for (const [name, Webhook] of Object.entries(libraries)) {
  t.test(`${name} verifies a delivery with the secret as the API gave it`, async (t) => {
    const { drain, emit, receiver, webhook } = await startDelivering(t)
    await emit({ id: 1, full_name: 'Zoë 🦊', note: 'a "quoted"\nline' })
    await drain()
    const { body, headers } = first(receiver.requests)
    t.strictSame(new Webhook(webhook.secret).verify(body, textHeaders(headers)), JSON.parse(body))
  })

  t.test(`${name} verifies a test`, async (t) => {
    const { call, receiver, webhook } = await startDelivering(t)
    await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
    const { body, headers } = first(receiver.requests)
    t.match(new Webhook(webhook.secret).verify(body, textHeaders(headers)), { test: true })
  })

  t.test(`${name} verifies retries and replays`, async (t) => {
    const { call, drain, emit, receiver, retry, webhook } = await startDelivering(t)
    receiver.answer(500, 204)
    await emit()
    await drain()
    await retry()
    await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
    await drain()
    t.equal(receiver.requests.length, 3)
    for (const { body, headers } of receiver.requests) {
      t.ok(new Webhook(webhook.secret).verify(body, textHeaders(headers)))
    }
  })

  t.test(`${name} refuses a delivery that was changed, or signed with another secret`, async (t) => {
    const { create, drain, emit, receiver, webhook } = await startDelivering(t)
    const other = await create()
    await emit()
    await drain()
    const { body, headers } = first(receiver.requests)
    t.throws(() => new Webhook(webhook.secret).verify(body.replace('"id":1', '"id":2'), textHeaders(headers)))
    t.throws(() => new Webhook(webhook.secret).verify(body, { ...textHeaders(headers), 'webhook-id': 'evt_other' }))
    t.throws(() => new Webhook(other.secret).verify(body, textHeaders(headers)))
  })
}

t.test('webhook-timestamp is the time of the attempt in seconds, and the signature covers it', async (t) => {
  const { clock, drain, emit, receiver, retry } = await startDelivering(t)
  receiver.answer(500, 204)
  const times: number[] = []
  await emit()
  times.push(clock.now())
  await drain()
  await retry()
  times.push(clock.now())
  t.same(receiver.requests.map(({ headers }) => headers['webhook-timestamp']), times.map((ms) => String(Math.floor(ms / 1000))))
  const signatures = receiver.requests.map(({ headers }) => headers['webhook-signature'])
  t.equal(new Set(signatures).size, 2)
})

t.test('a delivery carries one v1 signature and the three headers of the specification', async (t) => {
  const { drain, emit, receiver } = await startDelivering(t)
  await emit()
  await drain()
  const { headers } = first(receiver.requests)
  t.match(headers['webhook-signature'], /^v1,[A-Za-z0-9+/]{43}=$/)
  t.match(headers['webhook-timestamp'], /^\d{10}$/)
  t.same(Object.keys(headers).filter((name) => name.startsWith('webhook-')).sort(), [
    'webhook-id', 'webhook-signature', 'webhook-timestamp'
  ])
})

function textHeaders (headers: ReceivedRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
