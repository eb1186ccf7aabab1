import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type ConnectProxy, startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { delivered } from '../../fixtures/hostile/hostile-sender.js'
import { type Certificate, createAuthority, createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { startTlsReceiver, type TlsReceiver } from '../../fixtures/receivers/tls-receiver.js'

const rejected = { responseStatus: null, error: 'tls' } as const
const named = (detail: string) => ({ ...rejected, detail })
const dayMs = 24 * 60 * 60 * 1000
const authority = await createAuthority()
const right = await createCertificate(authority, { names: ['hooks.example'], addresses: ['127.0.0.1', '::1'] })
const other = await createCertificate(authority, { names: ['other.example'], addresses: ['127.0.0.2'] })
const yesterday = new Date(Date.now() - dayMs)

const intermediate = await createAuthority(authority)
const leaf = await createCertificate(intermediate, { names: ['hooks.example'], addresses: ['127.0.0.1'] })
const foreign = await createAuthority()
const untrusted = await createCertificate(foreign, { names: ['hooks.example'], addresses: ['127.0.0.1'] })

const asking = { requestCert: true, rejectUnauthorized: false }

const bad: Array<[detail: string, title: string, certificate: Certificate]> = [
  ['certificate_self_signed', 'self-signed', await createCertificate(null, { names: ['hooks.example'], addresses: ['127.0.0.1'] })],
  ['certificate_incomplete', 'without its intermediate', leaf],
  ['certificate_untrusted', 'with the root of an unknown authority', { ...untrusted, cert: `${untrusted.cert}\n${foreign.cert}` }],
  ['certificate_expired', 'expired', await createCertificate(authority, {
    names: ['hooks.example'], addresses: ['127.0.0.1'], notBefore: new Date(Date.now() - 2 * dayMs), notAfter: yesterday
  })],
  ['certificate_not_yet_valid', 'not valid yet', await createCertificate(authority, {
    names: ['hooks.example'], addresses: ['127.0.0.1'], notBefore: new Date(Date.now() + dayMs), notAfter: new Date(Date.now() + 2 * dayMs)
  })],
  ['certificate_wrong_name', 'for another name', await createCertificate(authority, { names: ['other.example', 'example', '*.hooks.example'], addresses: ['127.0.0.2'] })],
  ['certificate_wrong_name', 'without a name', await createCertificate(authority)],
  ['certificate_untrusted', 'for clients', await createCertificate(authority, { names: ['hooks.example'], addresses: ['127.0.0.1'], usage: 'clientAuth' })]
]

t.test('a receiver with a valid certificate gets notifications, by name and by address', async (t) => {
  const receiver = await startTlsReceiver(t, right)
  t.same(await post(t, [receiver]), [[delivered, delivered, delivered, delivered]])
  t.same(receiver.requests, ['/name', '/address', '/name', '/address'])
})

t.test('an invalid certificate is rejected with each TLS version, the second time too', async (t) => {
  const cases = bad.flatMap(([detail, title, certificate]) => [
    { detail, title, options: { ...certificate, maxVersion: 'TLSv1.2' } as const },
    { detail, title, options: { ...certificate, maxVersion: 'TLSv1.3' } as const },
    { detail, title: `${title} that asks for one`, options: { ...certificate, maxVersion: 'TLSv1.3', ...asking } as const }
  ])
  const receivers = await Promise.all(cases.map(({ options }) => startTlsReceiver(t, options)))
  const outcomes = await post(t, receivers)
  for (const [index, { detail, title, options: { maxVersion } }] of cases.entries()) {
    t.same(outcomes[index], Array(4).fill(named(detail)), `a certificate ${title}, over ${maxVersion}`)
    t.same(receivers[index]?.requests, [], 'nothing was sent')
  }
})

t.test('a receiver with TLS 1.1 is rejected, even if the host allows 1.1', async (t) => {
  const versions = ['TLSv1', 'TLSv1.1'] as const
  const ciphers = 'DEFAULT@SECLEVEL=0'
  const receivers = await Promise.all(versions.map((version) => {
    return startTlsReceiver(t, { ...right, ciphers, minVersion: version, maxVersion: version })
  }))
  const outcomes = await post(t, receivers, { NODE_OPTIONS: `--tls-min-v1.0 --tls-cipher-list=${ciphers}` })
  t.same(outcomes, versions.map(() => Array(4).fill(named('tls_version'))))
  t.same(receivers.map(({ requests }) => requests), [[], []])
})

t.test('a receiver that requires a client certificate or HTTP/2 is named, over both TLS versions', async (t) => {
  const chain = { key: leaf.key, cert: `${leaf.cert}\n${intermediate.cert}` }
  const requiring = { ...chain, requestCert: true, ca: authority.cert }
  const receivers = await Promise.all([
    startTlsReceiver(t, { ...requiring, maxVersion: 'TLSv1.2' }),
    startTlsReceiver(t, { ...requiring, maxVersion: 'TLSv1.3' }),
    startTlsReceiver(t, { ...requiring, rejectUnauthorized: false }),
    startTlsReceiver(t, { ...chain, ALPNProtocols: ['h2'] })
  ])
  t.same(await post(t, receivers), [
    Array(4).fill(named('client_certificate_required')), Array(4).fill(named('client_certificate_required')),
    [delivered, delivered, delivered, delivered], Array(4).fill(named('http2_only'))
  ])
  t.same(receivers.map(({ requests }) => requests.length), [0, 0, 4, 0])
})

t.test('a TLS session is not reused for another receiver', async (t) => {
  const good = await startTlsReceiver(t, right)
  const foreign = await startTlsReceiver(t, other)
  const outcomes = await post(t, [good, foreign])
  t.same(outcomes, [[delivered, delivered, delivered, delivered], Array(4).fill(named('certificate_wrong_name'))])
  t.same(foreign.requests, [])
})

type Posting = Omit<Parameters<typeof postFromChild>[0], 'allowNetworks' | 'timeoutMs'>

/** Posts twice to each URL. Trusts the authority, and resolves hooks.example to this machine. */
async function postTwice (t: Test, posting: Posting, env: Record<string, string> = {}) {
  const dns = await startDnsServer(t)
  dns.set('hooks.example', { a: ['127.0.0.1'] })
  const directory = t.testdir({ 'authority.pem': authority.cert })
  const results = await postFromChild(
    { rounds: 2, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000, dnsServer: dns.address, ...posting },
    { NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem'), ...env }
  )
  return results.map(({ durationMs, ...outcome }) => outcome)
}

const urlsOf = (port: number): string[] => [`https://hooks.example:${port}/name`, `https://127.0.0.1:${port}/address`]

/** Posts twice to the name and to the address of each receiver. */
async function post (t: Test, receivers: readonly TlsReceiver[], env: Record<string, string> = {}) {
  const urls = receivers.flatMap(({ port }) => urlsOf(port))
  const outcomes = await postTwice(t, { urls }, env)
  return receivers.map((_, index) => [0, 1, urls.length, urls.length + 1].map((offset) => outcomes[index * 2 + offset]))
}

t.test("through a proxy, TLS ends at the receiver, whose certificate must match the URL's name or address", async (t) => {
  const names: unknown[] = []
  const receiver = await startTlsReceiver(t, {
    ...right, SNICallback: (name, callback) => { names.push(name); callback(null) }
  })
  const proxy = await startConnectProxy(t)
  t.same(await postThrough(t, [proxy], receiver.port), [delivered, delivered, delivered, delivered])
  t.same(receiver.requests, ['/name', '/address', '/name', '/address'])
  t.equal(receiver.handshakes, 2, 'tunnels are reused')
  t.same(names, ['hooks.example'])
  t.same(proxy.targets, [`127.0.0.1:${receiver.port}`, `127.0.0.1:${receiver.port}`])
})

t.test('a certificate for another name is rejected through an http and an https proxy', async (t) => {
  const receiver = await startTlsReceiver(t, other)
  const proxies = [await startConnectProxy(t), await startConnectProxy(t, right)]
  t.same(await postThrough(t, proxies, receiver.port), Array(8).fill(named('certificate_wrong_name')))
  t.same(receiver.requests, [])
})

t.test('deliveries work through an https proxy, with TLS within TLS', async (t) => {
  const receiver = await startTlsReceiver(t, right)
  const proxy = await startConnectProxy(t, right)
  t.same(await postThrough(t, [proxy], receiver.port), [delivered, delivered, delivered, delivered])
  t.equal(receiver.requests.length, 4)
})

t.test('an https proxy with a certificate for another name gets no request', async (t) => {
  const receiver = await startTlsReceiver(t, right)
  const proxy = await startConnectProxy(t, other)
  const fault = { responseStatus: null, error: 'connection', ownFault: { cause: 'proxy', reason: 'cannot connect to the proxy: ERR_TLS_CERT_ALTNAME_INVALID' } }
  t.same(await postThrough(t, [proxy], receiver.port), [fault, fault, fault, fault])
  t.same(proxy.heads, [])
})

/** Posts twice to the name and to the address through each proxy. */
async function postThrough (t: Test, proxies: readonly ConnectProxy[], port: number) {
  const results = await Promise.all(proxies.map(({ url }) => postTwice(t, { urls: urlsOf(port), proxy: url })))
  return results.flat()
}
