import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type ConnectProxy, startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { delivered, outcomeOf } from '../../fixtures/hostile/hostile-sender.js'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { createAuthority, createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { startTlsReceiver } from '../../fixtures/receivers/tls-receiver.js'

const authority = await createAuthority()
const right = await createCertificate(authority, { names: ['hooks.example'], addresses: ['127.0.0.1'] })
const other = await createCertificate(authority, { names: ['other.example'], addresses: ['127.0.0.2'] })
const refused = { responseStatus: null, error: 'tls' } as const

t.test('TLS ends at the receiver: its certificate must have the name, or the address of a literal', async (t) => {
  const names: unknown[] = []
  const receiver = await startTlsReceiver(t, { ...right, SNICallback: (name, callback) => { names.push(name); callback(null) } })
  const proxy = await startConnectProxy(t)
  t.same(await post(t, [proxy], receiver.port), [delivered, delivered, delivered, delivered])
  t.same(receiver.requests, ['/name', '/address', '/name', '/address'])
  t.equal(receiver.handshakes, 2, 'tunnels are kept')
  t.same(names, ['hooks.example'])
  t.same(proxy.targets, [`127.0.0.1:${receiver.port}`, `127.0.0.1:${receiver.port}`])
})

t.test('a certificate of another name is refused, through a proxy of either scheme', async (t) => {
  const receiver = await startTlsReceiver(t, other)
  const proxies = [await startConnectProxy(t), await startConnectProxy(t, right)]
  t.same(await post(t, proxies, receiver.port), Array(8).fill(refused))
  t.same(receiver.requests, [])
})

t.test('an https proxy is delivered through, TLS within TLS', async (t) => {
  const receiver = await startTlsReceiver(t, right)
  const proxy = await startConnectProxy(t, right)
  t.same(await post(t, [proxy], receiver.port), [delivered, delivered, delivered, delivered])
  t.equal(receiver.requests.length, 4)
})

t.test('an https proxy with a certificate of another name is not asked', async (t) => {
  const receiver = await startTlsReceiver(t, right)
  const proxy = await startConnectProxy(t, other)
  const fault = { responseStatus: null, error: 'connection', proxyFault: 'cannot connect to the proxy: ERR_TLS_CERT_ALTNAME_INVALID' }
  t.same(await post(t, [proxy], receiver.port), [fault, fault, fault, fault])
  t.same(proxy.heads, [])
})

/** Posts twice to the name and to the address, through each of the proxies, where the authority is trusted. */
async function post (t: Test, proxies: readonly ConnectProxy[], port: number) {
  const dns = await startDnsServer(t)
  dns.set('hooks.example', { a: ['127.0.0.1'] })
  const urls = [`https://hooks.example:${port}/name`, `https://127.0.0.1:${port}/address`]
  const directory = t.testdir({ 'authority.pem': authority.cert })
  const results = await Promise.all(proxies.map(({ url }) => postFromChild(
    { urls, rounds: 2, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000, dnsServer: dns.address, proxy: url },
    { NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem') }
  )))
  return results.flat().map(outcomeOf)
}
