import t from 'tap'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { generateSecret, signHeaders } from '../../../src/webhooks/sending/signature.js'

t.test('a secret is whsec_ and 32 random bytes in base64', async (t) => {
  const secrets = Array.from({ length: 100 }, generateSecret)
  for (const secret of secrets) t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(new Set(secrets).size, 100)
})

t.test('the signature is HMAC-SHA256 over id, timestamp and body, as the specification has it', async (t) => {
  // The example of Standard Webhooks 1.0.
  const body = '{"test": 2432232314}'
  const headers = signHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, 1614265330_999)
  t.strictSame(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  })
})

t.test('it is the signature that the libraries make', async (t) => {
  const now = Math.floor(Date.now() / 1000) * 1000
  for (const body of ['{}', '{"a":"é🦊\\u0000"}', ' ', 'x'.repeat(100_000)]) {
    const secret = generateSecret()
    const { 'webhook-signature': signature } = signHeaders([secret], 'evt_1', body, now)
    t.equal(signature, new StandardWebhook(secret).sign('evt_1', new Date(now), body))
    t.equal(signature, new SvixWebhook(secret).sign('evt_1', new Date(now), body))
  }
})

t.test('several secrets give several signatures in their order, separated by spaces', async (t) => {
  const secrets = [generateSecret(), generateSecret()]
  const { 'webhook-signature': both } = signHeaders(secrets, 'evt_1', '{}', 0)
  const single = secrets.map((secret) => signHeaders([secret], 'evt_1', '{}', 0)['webhook-signature'])
  t.equal(both, single.join(' '))
})
