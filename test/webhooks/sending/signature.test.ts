import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import t from 'tap'
import { generateSecret, signHeaders } from '../../../src/core/webhooks/sending/signature.js'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import type { ReceivedRequest } from '../../fixtures/receivers/receiver.js'

const libraries = { standardwebhooks: StandardWebhook, svix: SvixWebhook }

for (const [name, Webhook] of Object.entries(libraries)) {
  t.test(`${name} verifies deliveries, retries, replays and tests, and rejects changed ones`, async (t) => {
    const { call, create, drain, emit, receiver, retry, webhook } = await startDelivering(t)
    const other = await create()
    receiver.answer(500, 204)
    await emit({ id: 1, full_name: 'Zoë 🦊', note: 'a "quoted"\nline' })
    await drain()
    await retry()
    await call('POST', `/webhooks/${webhook.id}/replay`, { include: 'all' })
    await drain()
    await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
    t.equal(receiver.requests.length, 4)
    for (const { body, headers } of receiver.requests) {
      t.strictSame(new Webhook(webhook.secret).verify(body, textHeaders(headers)), JSON.parse(body))
    }
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

function textHeaders (headers: ReceivedRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

t.test('a secret is whsec_ and 32 random bytes in base64', async (t) => {
  const secrets = Array.from({ length: 100 }, generateSecret)
  for (const secret of secrets) t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(new Set(secrets).size, 100)
})

t.test('the signature is HMAC-SHA256 over id, timestamp and body, as specified', async (t) => {
  // The example of Standard Webhooks 1.0.
  const body = '{"test": 2432232314}'
  const headers = signHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, 1614265330_999)
  t.strictSame(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  })
})

t.test('several secrets result in several signatures in the same order, separated by spaces', async (t) => {
  const secrets = [generateSecret(), generateSecret()]
  const { 'webhook-signature': both } = signHeaders(secrets, 'evt_1', '{}', 0)
  const single = secrets.map((secret) => signHeaders([secret], 'evt_1', '{}', 0)['webhook-signature'])
  t.equal(both, single.join(' '))
})
