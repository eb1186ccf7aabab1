import t from 'tap'
import { buildWebhookApi, refusal, toLoopback, webhookInput } from '../../fixtures/api/webhook-api.js'

/** Hosts that no webhook may have, each in an address that is right otherwise. */
const refused: Record<string, string[]> = {
  'a name of a single label': ['intranet', 'intranet.', 'INTRANET', 'com'],
  localhost: ['localhost', 'localhost.', 'LocalHost', 'api.localhost', 'api.localhost.'],
  'a name under .local': ['printer.local', 'printer.LOCAL', 'a.b.local.'],
  'a name under .internal': ['metadata.google.internal', 'db.internal.'],
  'an IPv4 address that is not public': [
    '127.0.0.1', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '0.0.0.0', '100.64.0.1',
    '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '168.63.129.16'
  ],
  'an IPv4 address in disguise': [
    '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '127.1', '127.0.0.1.', '１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', '10.1'
  ],
  'an IPv6 address that is not public': [
    '[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[fc00::1]', '[ff02::1]', '[2001:db8::1]', '[2002:7f00:1::]', '[64:ff9b::7f00:1]',
    '[::ffff:127.0.0.1]', '[::ffff:a00:1]', '[::127.0.0.1]', '[fd00:ec2::254]'
  ],
  'what is no proper name': [
    'a..example.com', '.example.com', 'example.com..', '-a.example.com', 'a-.example.com', '*.example.com', 'a!b.example.com',
    `${'l'.repeat(64)}.example.com`, `${'l.'.repeat(124)}example.com`
  ]
}

for (const [title, hosts] of Object.entries(refused)) {
  t.test(`${title} is refused as the host of a webhook`, async (t) => {
    const { call } = await buildWebhookApi(t)
    for (const host of hosts) {
      const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: `https://${host}/hooks` })
      t.equal(answer.status, 400, host)
      t.strictSame(answer.body, refusal(answer, { field: 'target_url', message: 'must point to a public host' }), host)
    }
  })
}

t.test('names that only look private are public', async (t) => {
  const { create } = await buildWebhookApi(t)
  for (const host of ['localhost.example.com', 'local.example.com', 'mylocalhost.com', 'notinternal.com', '10.0.0.1.example.com']) {
    const { target_url: target } = await create({ target_url: `https://${host}/` })
    t.equal(target, `https://${host}/`)
  }
})

t.test('http and the networks that the host has opened are accepted, and no others', async (t) => {
  const { call, create } = await buildWebhookApi(t, { delivery: toLoopback })
  for (const target of ['http://127.0.0.1:3000/', 'https://127.0.0.1/', 'http://localhost/', 'https://example.com/']) {
    t.equal((await create({ target_url: target })).target_url, target)
  }
  for (const target of ['http://127.0.0.2/', 'http://10.0.0.1/', 'http://169.254.169.254/', 'http://[::1]/']) {
    t.equal((await call('POST', '/webhooks', { ...webhookInput, target_url: target })).status, 400, target)
  }
})

t.test('a network of the host does not make http acceptable', async (t) => {
  const { call, create } = await buildWebhookApi(t, { delivery: { allowNetworks: ['10.0.0.0/8'] } })
  t.equal((await create({ target_url: 'https://10.1.2.3/' })).target_url, 'https://10.1.2.3/')
  const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: 'http://10.1.2.3/' })
  t.strictSame(answer.body, refusal(answer, { field: 'target_url', message: 'must be an https URL' }))
})
