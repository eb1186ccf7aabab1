import t from 'tap'
import { createAddressRule } from '../../src/webhooks/ssrf/addresses.js'
import { startDnsServer } from '../fixtures/receivers/dns-server.js'
import { countConnects } from '../fixtures/hostile/hostile-connections.js'
import { buildWebhookApi, refusal, webhookInput } from '../fixtures/api/webhook-api.js'

interface Tested {
  data: { id: string, duration_ms: number }
}

t.test('a network that is denied is out of reach, and nothing around it', async (t) => {
  const isAllowed = createAddressRule([], ['8.8.8.0/24', '2606:4700::/32', '1.1.1.1/32'])
  const shut = ['8.8.8.0', '8.8.8.255', '2606:4700::', '2606:4700:ffff::1', '1.1.1.1', '127.0.0.1', '::1']
  const open = ['8.8.7.255', '8.8.9.0', '2606:46ff::1', '2606:4701::1', '1.1.1.2']
  t.same(shut.filter(isAllowed), [])
  t.same(open.filter((address) => !isAllowed(address)), [])
})

t.test('a denied address stays denied even if its network or the address itself is allowed', async (t) => {
  const isAllowed = createAddressRule(['0.0.0.0/0', '::/0', '10.1.2.3/32', '169.254.169.254/32'], ['10.1.0.0/16', '169.254.169.254/32', 'fd00::/16'])
  t.same(['10.1.0.0', '10.1.2.3', '169.254.169.254', 'fd00::1'].filter(isAllowed), [])
  t.same(['10.2.0.0', 'fd01::1', '127.0.0.1'].filter((address) => !isAllowed(address)), [])
})

t.test('a denied IPv4 network is denied in the forms of IPv6 that carry it, and the other way round', async (t) => {
  const everything = ['0.0.0.0/0', '::/0']
  const isAllowed = createAddressRule(everything, ['8.8.8.0/24'])
  const forms = ['::8.8.8.8', '::ffff:8.8.8.8', '::ffff:808:808', '::ffff:0:808:808', '64:ff9b::808:808', '64:ff9b:1::808:808']
  t.same(forms.filter(isAllowed), [])
  t.same(forms.map((form) => form.replace('8.8.8.8', '8.8.9.8').replace('808:808', '808:908')).filter((form) => !isAllowed(form)), [])
  const isAllowedMapped = createAddressRule(everything, ['::ffff:8.8.8.0/120'])
  t.same(['8.8.8.8', '::ffff:8.8.8.8'].filter(isAllowedMapped), [])
  t.ok(isAllowedMapped('8.8.9.8'))
})

t.test('a webhook to a denied address is refused as one to a private address is', async (t) => {
  const { call, create } = await buildWebhookApi(t, { delivery: { denyNetworks: ['8.8.8.0/24', '2606:4700::/32'] } })
  for (const url of ['https://8.8.8.8/', 'https://0x08080808/', 'https://[2606:4700::1111]/', 'https://10.0.0.1/']) {
    const reply = await call('POST', '/webhooks', { ...webhookInput, target_url: url })
    t.equal(reply.status, 400)
    t.strictSame(reply.body, refusal(reply, { field: 'target_url', message: 'must point to a public host' }))
  }
  await create({ target_url: 'https://8.8.9.8/' })
})

t.test('a name that leads to a denied address is blocked, and no connection is made', async (t) => {
  const dns = await startDnsServer(t)
  dns.set('denied.example', { a: ['8.8.8.8'] })
  dns.set('both.example', { a: ['1.1.1.1'], aaaa: ['2606:4700::1111'] })
  const { call, create } = await dns.serve(() => buildWebhookApi(t, { delivery: { denyNetworks: ['8.8.8.0/24', '2606:4700::/32'] } }))
  const connects = countConnects(t)
  for (const host of ['denied.example', 'both.example']) {
    const { id } = await create({ target_url: `https://${host}/` })
    const { status, body } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
    t.equal(status, 200)
    const { id: eventId, duration_ms: durationMs } = body.data
    t.strictSame(body.data, {
      id: eventId, event_type: 'application.created', status: 'failed', response_status: null, duration_ms: durationMs, error: 'blocked'
    })
  }
  t.equal(connects.count, 0)
})
