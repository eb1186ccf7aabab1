import { Type } from '@sinclair/typebox'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { buildApp, keys } from '../fixtures/api/app.js'
import { createCli } from '../fixtures/cli/cli.js'
import { type Receiver, startReceiver } from '../fixtures/receivers/receiver.js'

const cli = createCli(undefined)
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const events = {
  'offer.signed': Type.Object({ id: Type.String() }, { examples: [{ id: 'o1' }, { id: 'o2' }] }),
  'offer.declined': Type.Object({ id: Type.Optional(Type.String()) })
}

async function serve (t: Test): Promise<{ options: string[], receiver: Receiver, createWebhook: () => Promise<{ id: number, secret: string }> }> {
  const receiver = await startReceiver(t)
  const app = await buildApp(t, { server: { forceCloseConnections: true }, events, delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] } })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const webhook = { name: 'CRM', target_url: receiver.url, event_types: ['offer.declined'] }
  return {
    receiver,
    options: ['--url', `${origin}/api/v1/public/acme`, '--key', keys.full],
    createWebhook: () => app.recruiting.webhooks.create('acme', webhook as never)
  }
}

function verify ({ requests }: Receiver, key: string): unknown {
  const { body = '', headers = {} } = requests.at(-1) ?? {}
  return new Webhook(key).verify(body, headers as Record<string, string>)
}

t.test('with --webhook the service sends the test', async (t) => {
  const { options, receiver, createWebhook } = await serve(t)
  const webhook = await createWebhook()
  const argv = ['trigger', 'offer.signed', ...options, '--webhook', `${webhook.id}`]
  t.match(await cli(argv), { code: 0, out: /^id +evt_\w+\nevent_type +offer\.signed\nstatus +delivered\nresponse_status +204\nduration_ms +\d+\nerror +-\n$/, err: '' })
  t.match(verify(receiver, webhook.secret), { type: 'offer.signed', data: { id: 'o1' }, test: true })
  receiver.answer(500)
  const failed = await cli([...argv, '--json'])
  t.match([failed.code, JSON.parse(failed.out)], [1, { status: 'failed', response_status: 500, error: 'http_status' }])
  t.strictSame(await cli(['trigger', 'offer.signed', ...options, '--webhook', '99']), {
    code: 1, out: '', err: 'trigger: --webhook: there is no webhook 99\n'
  })
})

t.test('with --forward the command sends the same itself', async (t) => {
  const { options, receiver, createWebhook } = await serve(t)
  await cli(['trigger', 'offer.signed', ...options, '--webhook', String((await createWebhook()).id)])
  const argv = [...options, '--forward', receiver.url, '--secret', secret]
  t.match(await cli(['trigger', 'offer.signed', ...argv]), { code: 0, out: /^id +evt_\w+\nevent_type +offer\.signed\nstatus +delivered\nresponse_status +204\n/ })
  const [theirs, ours] = receiver.requests
  const replaceNew = (text = ''): string => text.replace(/"id":"evt_\w+"/, '"id":"evt"').replace(/"timestamp":"[^"]+"/, '"timestamp":""')
  t.equal(replaceNew(ours?.body), replaceNew(theirs?.body))
  t.strictSame(Object.keys(ours?.headers ?? {}).sort(), Object.keys(theirs?.headers ?? {}).sort())
  t.match(verify(receiver, secret), { type: 'offer.signed', tenant_slug: 'acme', data: { id: 'o1' }, test: true })

  await cli(['trigger', 'offer.declined', ...options, '--forward', receiver.url], { env: { RECRUITING_WEBHOOK_SECRET: secret } })
  t.match(verify(receiver, secret), { type: 'offer.declined', data: {}, test: true }, 'without an example')
  const { code, out } = await cli(['trigger', 'offer.signed', ...options, '--forward', 'http://127.0.0.1:1/', '--secret', secret])
  t.match({ code, out }, { code: 1, out: /^status +failed\nresponse_status +-\nduration_ms +\d+\nerror +connection$/m })
})

t.test('an unknown type names the nearest', async (t) => {
  const { options, receiver } = await serve(t)
  const argv = ['trigger', 'ofer.sined', ...options, '--forward', receiver.url, '--secret', secret]
  t.strictSame(await cli(argv), { code: 2, out: '', err: 'trigger: TYPE: there is no event "ofer.sined", did you mean offer.signed?\n' })
  t.strictSame(receiver.requests, [])
})

t.test('a key without both scopes is refused', async (t) => {
  const { options, receiver } = await serve(t)
  const argv = ['trigger', 'offer.signed', ...options.with(3, keys.webhooksRead), '--forward', receiver.url, '--secret', secret]
  t.match(await cli(argv), { code: 1, out: '', err: /^trigger: API key does not have required scope \(403\): the key needs .* webhooks:write\n$/ })
})
