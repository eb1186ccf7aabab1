import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { type TargetRules, createAddressRule, parseTargetUrl } from '../../../src/core/webhooks/ssrf/addresses.js'
import { parseCidr } from '../../../src/core/shared/networks.js'
import { InputError } from '../../../src/core/shared/errors.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'
import { hostileAddresses, toUrlHost } from '../../fixtures/hostile/hostile-addresses.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi, webhookInput } from '../../fixtures/api/webhook-api.js'
import { loopbackSpellings } from '../../fixtures/hostile/hostile-loopback.js'
import { metadataAddresses as metadata, publicNeighbours } from '../../fixtures/hostile/hostile-blocks.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'

const addresses = hostileAddresses()

const isAllowedAddress = createAddressRule([])

t.test('700 addresses are not public, in any form', async (t) => {
  t.ok(new Set(addresses).size >= 700, `${addresses.length} addresses`)
  t.same(addresses.filter(isAllowedAddress), [])
  t.same(['fe80::1%eth0', '::1%lo', 'fd00::1%25eth0', 'ff02::1%1'].filter(isAllowedAddress), [], 'with a zone')
  const rules = { allowHttp: false, allowPrivateNames: false, isAllowedAddress }
  for (const address of addresses) {
    t.throws(
      () => parseTargetUrl(`https://${toUrlHost(address)}/hooks`, rules),
      { message: 'must point to a public host' },
      address
    )
  }
})

t.test('the sender blocks non-public addresses and all spellings of the loopback without a connection', async (t) => {
  const { port, url, requests } = await startReceiver(t)
  const sender = await startSender(t, { allowNetworks: [] })
  const connects = countConnects(t)
  const passed: string[] = []
  const hosts = [...addresses.filter((_, index) => index % 7 === 0).map(toUrlHost), ...loopbackSpellings]
  for (const target of hosts.flatMap((host) => ['http', 'https'].map((scheme) => `${scheme}://${host}:${port}/`))) {
    const { responseStatus, error } = await sender.post(target)
    if (responseStatus !== null || error !== 'blocked') passed.push(target)
  }
  t.same(passed, [])
  t.same(outcomeOf(await sender.post(url)), blocked, 'even where something listens')
  t.equal(connects.count, 0)
  t.same(requests, [])
})

t.test('no webhook is created or changed with one of 120 spellings of the loopback', async (t) => {
  t.ok(new Set(loopbackSpellings).size >= 120, `${loopbackSpellings.length} spellings`)
  const { call, create } = await buildWebhookApi(t)
  const { id, target_url: target } = await create()
  for (const host of loopbackSpellings) {
    const created = await call('POST', '/webhooks', { ...webhookInput, target_url: `https://${host}/hooks` })
    const changed = await call('PATCH', `/webhooks/${id}`, { target_url: `HTTPS:\\\\${host}:8443\\hooks` })
    t.same([created.status, changed.status], [400, 400], host)
  }
  const { body } = await call<{ data: Array<{ target_url: string }> }>('GET', '/webhooks')
  t.same(body.data.map(({ target_url: stored }) => stored), [target])
})

t.test('addresses next to non-public ones are public', async (t) => {
  t.ok(publicNeighbours.length >= 30, `${publicNeighbours.length} addresses`)
  t.same(publicNeighbours.filter((address) => !isAllowedAddress(address)), [])
})

/** Link-local addresses, and metadata services embedded in IPv6. */
const sensitive = [
  ...metadata, '169.254.0.0', '169.254.1.1', '169.254.255.255', 'fe80::', 'fe80::1', 'fe80::1%eth0', 'febf:ffff::1', 'fd00:ec2::', 'fd00:ec2:0:1::',
  '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::169.254.169.254', '::ffff:0:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a9fe:a9fe',
  '2002:a9fe:a9fe::1', '2001:0:a9fe:a9fe::', '64:ff9b::a83f:8110', '::ffff:100.100.100.200', '64:ff9b::192.0.0.192'
]

const everything = ['0.0.0.0/0', '::/0']

/** Allowed and denied networks, with addresses inside and outside of them. */
const rules: Array<[title: string, allow: string[], deny: string[], open: string[], shut: string[]]> = [
  [
    'a CIDR allows only its own addresses',
    ['10.20.0.0/16', 'fd12:3456::/32', '192.168.7.9/32', '172.16.5.5/12'], [],
    [
      '10.20.0.0', '10.20.255.255', '::ffff:10.20.1.1', 'fd12:3456::', 'fd12:3456:ffff::1', '192.168.7.9',
      '172.31.255.255', '8.8.8.8'
    ],
    [
      '10.19.255.255', '10.21.0.0', '::ffff:10.21.0.0', '::10.20.1.1', 'fd12:3455:ffff::', 'fd12:3457::', '192.168.7.8',
      '192.168.7.10', '127.0.0.1'
    ]
  ],
  [
    'allowing every network allows private addresses and the loopback', everything, [],
    [
      '127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '240.0.0.1', '::1', 'fd00::1',
      '64:ff9b::a00:1', '8.8.8.8'
    ], []
  ],
  [
    'a denied network is blocked, but its neighbours are not', [], ['8.8.8.0/24', '2606:4700::/32', '1.1.1.1/32'],
    ['8.8.7.255', '8.8.9.0', '2606:46ff::1', '2606:4701::1', '1.1.1.2'],
    ['8.8.8.0', '8.8.8.255', '2606:4700::', '2606:4700:ffff::1', '1.1.1.1', '127.0.0.1', '::1']
  ],
  [
    'a denied address stays denied, even if its network or the address itself is allowed',
    [...everything, '10.1.2.3/32', '169.254.169.254/32'], ['10.1.0.0/16', '169.254.169.254/32', 'fd00::/16'],
    ['10.2.0.0', 'fd01::1', '127.0.0.1'], ['10.1.0.0', '10.1.2.3', '169.254.169.254', 'fd00::1']
  ]
]

for (const [title, allow, deny, open, shut] of rules) {
  t.test(title, async (t) => {
    const isAllowed = createAddressRule(allow, deny)
    t.same([open.filter((address) => !isAllowed(address)), shut.filter(isAllowed)], [[], []])
  })
}

t.test('no network, however wide, allows link-local addresses and metadata services', async (t) => {
  const networks = [
    ['0.0.0.0/0'], ['::/0'], ['0.0.0.0/0', '::/0'], ['169.254.0.0/16', 'fe80::/10'], ['169.254.169.254/31', 'fd00:ec2::254/127'],
    ['100.64.0.0/10', '192.0.0.0/24', '168.63.129.0/24'], ['fd00::/8', 'fc00::/7'], ['::ffff:0:0/96', '64:ff9b::/96', '2002::/16', '2001::/32'],
    ['169.254.169.253/32', 'fd00:ec2::253/128', 'fd00:ec2::/32']
  ]
  for (const network of networks) {
    const named = network.map((cidr) => cidr.replace(/\/(32|128)$/, ''))
    const isAllowed = createAddressRule(network)
    t.same(sensitive.filter((address) => !named.includes(address)).filter(isAllowed), [], network.join(' '))
  }
})

t.test('link-local addresses and metadata services are allowed as single addresses', async (t) => {
  for (const address of metadata) {
    const isAllowed = createAddressRule([`${address}/${address.includes(':') ? 128 : 32}`])
    t.ok(isAllowed(address), address)
    t.same(metadata.filter((other) => other !== address && isAllowed(other)), [], `nothing but ${address}`)
  }
})

interface Tested {
  data: { id: string, duration_ms: number }
}

t.test('a denied IPv4 network is also denied in its IPv6 forms, and vice versa', async (t) => {
  const isAllowed = createAddressRule(everything, ['8.8.8.0/24'])
  const forms = ['::8.8.8.8', '::ffff:8.8.8.8', '::ffff:808:808', '::ffff:0:808:808', '64:ff9b::808:808', '64:ff9b:1::808:808']
  t.same(forms.filter(isAllowed), [])
  t.same(forms.map((form) => form.replace('8.8.8.8', '8.8.9.8').replace('808:808', '808:908')).filter((form) => !isAllowed(form)), [])
  const isAllowedMapped = createAddressRule(everything, ['::ffff:8.8.8.0/120'])
  t.same(['8.8.8.8', '::ffff:8.8.8.8'].filter(isAllowedMapped), [])
  t.ok(isAllowedMapped('8.8.9.8'))
})

t.test('a name that resolves to a denied address is blocked without a connection', async (t) => {
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
      id: eventId, event_type: 'application.created', status: 'failed', response_status: null, duration_ms: durationMs, error: 'blocked', detail: null
    })
  }
  t.equal(connects.count, 0)
})

const failed = { responseStatus: null, error: 'connection' } as const

t.test('connections come from the local address', async (t) => {
  const { port, sources } = await startSourceReceiver(t)
  for (const localAddress of ['127.0.0.7', '127.0.0.8', undefined]) {
    const sender = await startSender(t, localAddress === undefined ? {} : { localAddress })
    t.same(outcomeOf(await sender.post(`http://127.0.0.1:${port}/`)), delivered)
  }
  t.same(sources, ['127.0.0.7', '127.0.0.8', '127.0.0.1'])
})

t.test('only addresses of the same IP version as the local address are used, but all are checked', async (t) => {
  const dns = await startDnsServer(t)
  const { port, sources } = await startSourceReceiver(t)
  dns.set('both.example', { a: ['127.0.0.1'], aaaa: ['::1'] })
  dns.set('four.example', { a: ['127.0.0.1'] })
  dns.set('mixed.example', { a: ['10.0.0.1'], aaaa: ['::1'] })
  for (const localAddress of ['127.0.0.7', '::1']) {
    const sender = await startSender(t, { dns, localAddress })
    t.same(outcomeOf(await sender.post(`http://both.example:${port}/`)), delivered)
    t.equal((await sender.post(`http://mixed.example:${port}/`)).error, 'blocked')
  }
  t.same(sources, ['127.0.0.7', '::1'])
  const sender = await startSender(t, { dns, localAddress: '::1' })
  t.same(outcomeOf(await sender.post(`http://four.example:${port}/`)), failed)
  t.same(outcomeOf(await sender.post(`http://127.0.0.1:${port}/`)), failed)
})

t.test('a local address that the machine lacks is a fault of the process', async (t) => {
  const receiver = await startReceiver(t)
  const sender = await startSender(t, { localAddress: '203.0.113.7' })
  const ownFault = { cause: 'network', reason: 'localAddress: EADDRNOTAVAIL' }
  t.same(outcomeOf(await sender.post(receiver.url)), { ...failed, ownFault })
  t.same(receiver.requests, [])
})

t.test('the connection to a proxy comes from the local address', async (t) => {
  const receiver = await startReceiver(t)
  const { port, sources } = await startSourceReceiver(t)
  const proxy = await startConnectProxy(t)
  const named = proxy.url.replace('127.0.0.1', 'localhost')
  t.same(outcomeOf(await (await startSender(t, { proxy: named, localAddress: '127.0.0.7' })).post(receiver.url)), delivered)
  const through = await startSender(t, { proxy: `http://localhost:${port}`, localAddress: '127.0.0.7' })
  t.equal((await through.post(receiver.url)).error, 'connection')
  t.same(sources, ['127.0.0.7'])
})

/** A receiver on all addresses of the machine that records where connections come from. */
async function startSourceReceiver (
  t: Parameters<typeof startReceiver>[0]
): Promise<{ port: number, sources: unknown[] }> {
  const sources: unknown[] = []
  const note = (address: string | undefined): void => { sources.push(address?.replace('::ffff:', '')) }
  const server = createServer((request, response) => {
    note(request.socket.remoteAddress)
    response.writeHead(204).end()
  })
  server.on('connect', (request, socket) => {
    note(request.socket.remoteAddress)
    socket.end('HTTP/1.1 503 No\r\n\r\n')
  })
  server.listen(0, '::')
  await once(server, 'listening')
  t.teardown(() => new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  }))
  return { port: (server.address() as AddressInfo).port, sources }
}

t.test('a CIDR is parsed as an address and a prefix', async (t) => {
  for (const [address, prefix] of [['10.0.0.0', 8], ['0.0.0.0', 0], ['127.0.0.1', 32], ['::1', 128]] as const) {
    t.strictSame(parseCidr(`${address}/${prefix}`), { address, prefix })
  }
  for (const text of [
    '', '/', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0/8', '10.0.0.0/ 8',
    '10.0.0.0/8 ', '10.0.0.0/+8', '10.0.0.0/0x8', '10.0.0.0/8.0', '10/8', '::/129', 'fe80::1%eth0/128', '[::1]/128',
    'localhost/8', '010.0.0.0/8', '*', '10.*'
  ]) t.equal(parseCidr(text), null, text)
})

t.test('text that is not an address is not allowed', async (t) => {
  const isAllowed = createAddressRule(everything)
  for (const text of [
    '', ' ', 'localhost', 'example.com', '127.1', '8.8.8', '8.8.8.8.8', '8.8.8.256', '010.0.0.1',
    '0x8.8.8.8', '134744072', ' 8.8.8.8', '8.8.8.8:443', '8.8.8.8\0', '8.8.8.8/32', '[::1]',
    '2606:4700::1111::', '2606:4700:1111', '2606:4700::11111', '::ffff:8.8.8.256'
  ]) t.notOk(isAllowed(text), text)
})

const strict: TargetRules = { allowHttp: false, allowPrivateNames: false, isAllowedAddress: createAddressRule([]) }
const open: TargetRules = {
  allowHttp: true, allowPrivateNames: true, isAllowedAddress: createAddressRule(['127.0.0.0/8', '::1/128'])
}

/** Returns why an address is rejected, or `null`. */
function faultOf (text: string, rules = strict): string | null {
  try {
    parseTargetUrl(text, rules)
    return null
  } catch (error) {
    if (!(error instanceof InputError) || error.field !== 'target_url') throw error
    return error.message
  }
}

t.test('the 20,000th address with Latin-1 letters is accepted like the first', async (t) => {
  const addresses = ['https://bücher.example/', 'https://x.example/é', 'https://ß.example/ÿ']
  let rejected = 0
  for (let call = 0; call < 20_000; call++) {
    if (addresses.some((address) => faultOf(address) !== null)) rejected++
  }
  t.equal(rejected, 0)
})

t.test('the first fault of an address is reported', async (t) => {
  t.equal(faultOf('nonsense'), 'must be an absolute URL')
  t.equal(faultOf('http://ada@localhost:0/#x'), 'must be an https URL')
  t.equal(faultOf('https://ada@localhost:0/#x y'), 'must not contain white space or control characters')
  t.equal(faultOf('https://ada@localhost:0/#x'), 'must not contain a user name or password')
  t.equal(faultOf('https://localhost:0/#x'), 'must not contain a fragment')
  t.equal(faultOf('https://localhost:0/'), 'must not use port 0')
  t.equal(faultOf('https://localhost/'), 'must point to a public host')
  t.equal(faultOf('https://example.com/\ud83e'), 'must not contain white space or control characters')
})

t.test('names have up to 253 characters in labels of 1 to 63', async (t) => {
  const name = (length: number) => `${'a.'.repeat(100)}${'b'.repeat(length - 200)}`
  t.equal(faultOf(`https://${name(253)}/`), null)
  t.equal(faultOf(`https://${name(254)}/`), 'must point to a public host')
  t.equal(faultOf(`https://${'l'.repeat(63)}.example/`), null)
  t.equal(faultOf(`https://${'l'.repeat(64)}.example/`), 'must point to a public host')
})

t.test('internal and malformed names are not public, but names that only look like them are', async (t) => {
  for (const host of [
    'intranet', 'INTRANET.', 'localhost', 'api.localhost.', 'printer.LOCAL', 'metadata.google.internal', 'db.internal.',
    '１２７.0.0.1', '%31%32%37.0.0.1', 'a..example.com', '-a.example.com', '*.example.com'
  ]) t.equal(faultOf(`https://${host}/hooks`), 'must point to a public host', host)
  for (const host of [
    'localhost.example.com', 'local.example.com', 'mylocalhost.com', 'notinternal.com', '10.0.0.1.example.com'
  ]) t.equal(faultOf(`https://${host}/`), null, host)
})

t.test('a host that allows networks can use private names and http, but no other private addresses', async (t) => {
  for (const text of ['http://localhost:3000/', 'https://intranet/', 'http://a.internal/', 'http://127.0.0.1/', 'http://[::1]/']) {
    t.equal(faultOf(text, open), null, text)
  }
  for (const text of ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://a..internal/', 'http://-a/']) {
    t.equal(faultOf(text, open), 'must point to a public host', text)
  }
  t.equal(faultOf('ftp://localhost/', open), 'must be an https URL')
})
