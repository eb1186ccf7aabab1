import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { type SignedHeaders, verifySignature } from '../../../examples/demo/receiver/verify.js'

const [current, previous, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string, string]
const body = Buffer.from('{"type":"application.hired"}')

/** Signs the body as the library for Standard Webhooks does. */
function sign (secrets: string[], at = new Date()): SignedHeaders {
  const signature = secrets.map((secret) => new Webhook(secret).sign('evt_1', at, body.toString())).join(' ')
  return { id: 'evt_1', timestamp: String(Math.floor(at.getTime() / 1000)), signature }
}

t.test('the receiver of the demo accepts what the library signs, with any of its secrets', async (t) => {
  t.doesNotThrow(() => verifySignature(body, sign([current]), [previous, current]))
  t.doesNotThrow(() => verifySignature(body, sign([current, previous]), [previous]))
})

t.test('the receiver of the demo says what is wrong', async (t) => {
  const signed = sign([current])
  const notTrusted = { label: 'no trusted secret matches', status: 401, message: /^no secret that the receiver trusts matches the signature\. If the webhook is yours, / }
  t.throws(() => verifySignature(body, signed, []), notTrusted)
  t.throws(() => verifySignature(body, signed, [other]), notTrusted)
  t.throws(() => verifySignature(Buffer.from('{}'), signed, [current]), notTrusted)
  t.throws(() => verifySignature(body, { ...signed, id: 'evt_2' }, [current]), notTrusted)
  t.throws(() => verifySignature(body, { ...signed, signature: 'v1,short' }, [current]), notTrusted)
  for (const name of ['id', 'timestamp', 'signature']) t.throws(() => verifySignature(body, { ...signed, [name]: '' }, [current]), { label: 'not signed', message: /are missing$/ })
  const old = { label: 'old timestamp', message: 'the timestamp is more than 5 minutes off' }
  for (const ageMs of [301_000, -302_000]) t.throws(() => verifySignature(body, sign([current], new Date(Date.now() - ageMs)), [current]), old)
  t.throws(() => verifySignature(body, { ...signed, timestamp: 'now' }, [current]), old)
})
