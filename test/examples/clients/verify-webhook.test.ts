import t from 'tap'
import { Webhook } from 'standardwebhooks'
import { runExample } from '../fixtures/run-example.js'

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const body = '{"id":"evt_1","type":"application.hired","timestamp":"2026-05-04T09:00:00.000Z","tenant_slug":"acme","data":{"id":7}}'

function sign (id: string, sentAt: Date, text = body): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, sentAt, text)
  }
}

t.test('the receiver acts on a signed notification once, and on no other', async (t) => {
  const example = runExample(t, '04-verify-webhook.ts', { PORT: '0', WEBHOOK_SECRET: secret })
  const [, url = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const post = async (headers: Record<string, string>, text = body): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body: text })).status

  t.equal(await post(sign('evt_1', new Date())), 204)
  await example.output(/^evt_1 acme application\.hired \{"id":7\}$/m)

  t.equal(await post(sign('evt_1', new Date())), 204)
  await example.output(/^evt_1 again, nothing to do$/m)

  const tombstone = body.replace('{"id":7}', 'null,"erased":true')
  t.equal(await post(sign('evt_1', new Date(), tombstone), tombstone), 204)
  await example.output(/^evt_1 acme application\.hired erased, delete its data$/m)

  const test = body.replace('{"id":7}', '{},"test":true')
  t.equal(await post(sign('evt_1', new Date(), test), test), 204)
  await example.output(/^evt_1 is a test, nothing to do$/m)

  t.equal(await post(sign('evt_1', new Date()), body.replace('7', '8')), 401)
  await example.output(/^refused: No matching signature found$/m)

  t.equal(await post(sign('evt_1', new Date(Date.now() - 3_600_000))), 401)
  await example.output(/^refused: Message timestamp too old$/m)

  t.equal(await post({}), 401)
  await example.output(/^refused: Missing required headers$/m)

  t.equal(await post({}, 'x'.repeat(2_000_000)), 401)
  await example.output(/^refused: The body is too long$/m)

  t.equal(await example.end('SIGTERM'), 0)
})

t.test('the receiver does not start without a secret', async (t) => {
  const example = runExample(t, '04-verify-webhook.ts', { PORT: '0' })

  await example.output(/Secret can't be empty/)
  t.equal(await example.exit(), 1)
})
