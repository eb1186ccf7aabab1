import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily, type Socket } from 'node:net'
import { EnvHttpProxyAgent, getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici'
import t from 'tap'
import { createAddressRule } from '../../../src/core/webhooks/ssrf/addresses.js'
import {
  BlockedAddressError, type Connect, createGuardedConnector, PendingConnection
} from '../../../src/core/webhooks/ssrf/connector.js'
import type { Resolver } from '../../../src/core/webhooks/ssrf/resolver.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'
import { startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { startTlsReceiver } from '../../fixtures/receivers/tls-receiver.js'

const isAllowed = createAddressRule(['127.0.0.1/32'])

t.test('the connector never connects to a literal address that is not allowed', async (t) => {
  const connector = connectorOf({ resolve: async () => [] })
  const connects = countConnects(t)
  for (const hostname of ['10.0.0.1', '127.0.0.2', '[::1]', '::1', '[fe80::1]', '0.0.0.0']) {
    t.ok(await faultOf(connect(connector, hostname, 80)) instanceof BlockedAddressError, hostname)
  }
  t.equal(connects.count, 0)
})

t.test('a name without a valid address is not connected to', async (t) => {
  const connects = countConnects(t)
  const answers = [[], [{ address: '', family: 4 }], [{ address: 'localhost', family: 4 }], [{ address: '127.0.0.1', family: 4 }, { address: '127.1', family: 4 }]]
  for (const addresses of answers) {
    const connector = connectorOf({ resolve: async () => addresses })
    t.ok(await faultOf(connect(connector, 'hooks.example', 80)) instanceof BlockedAddressError, JSON.stringify(addresses))
  }
  t.equal(connects.count, 0)
})

t.test('a name is also guarded if the host has disabled autoSelectFamily', async (t) => {
  const { port } = await startHostileReceiver(t, {})
  const before = getDefaultAutoSelectFamily()
  setDefaultAutoSelectFamily(false)
  t.teardown(async () => setDefaultAutoSelectFamily(before))
  const connects = countConnects(t)
  const mixed = connectorOf({ resolve: async () => [{ address: '127.0.0.1', family: 4 }, { address: '10.0.0.1', family: 4 }] })
  t.ok(await faultOf(connect(mixed, 'hooks.example', port)) instanceof BlockedAddressError)
  t.equal(connects.count, 0)
  const good = connectorOf({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const socket = await connect(good, 'hooks.example', port)
  t.equal(socket.remoteAddress, '127.0.0.1')
  socket.destroy()
})

t.test('closing ends a connection that is being opened, but not an open one', async (t) => {
  const { port } = await startHostileReceiver(t, {})
  const connector = connectorOf({ resolve: () => new Promise(() => {}) })
  const connections = Array.from({ length: 4 }, () => new PendingConnection())
  const [first, second, third, fourth] = connections
  const made = await connect(connector, '127.0.0.1', port, 'http:', first)
  const waiting = connect(connector, 'hooks.example', port, 'http:', second)
  const shaking = connect(connector, '127.0.0.1', port, 'https:', third)
  for (const pending of connections) pending.close()
  await t.rejects(waiting, { message: 'closed' })
  await t.rejects(shaking, { message: 'closed' })
  await t.rejects(connect(connector, '127.0.0.1', port, 'http:', fourth), { message: 'closed' })
  t.equal(made.destroyed, false)
  made.destroy()
})

function connectorOf (resolver: Omit<Resolver, 'close'>): Connect {
  return createGuardedConnector({ isAllowed, resolver: { ...resolver, close: () => {} }, timeoutMs: 5000 })
}

async function faultOf (connecting: Promise<Socket>): Promise<unknown> {
  return connecting.then(() => null, (error: unknown) => error)
}

function connect (connector: Connect, hostname: string, port: number, protocol = 'http:', pending = new PendingConnection()): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connector({ hostname, protocol, port: String(port), host: `${hostname}:${port}` }, (...[error, socket]) => {
      if (error !== null) reject(error)
      else resolve(socket)
    }, pending)
  })
}

for (const status of [300, 301, 302, 303, 304, 305, 307, 308]) {
  t.test(`a ${status} is a failure, and nothing is sent to its location`, async (t) => {
    const target = await startReceiver(t)
    const endpoint = await startReceiver(t)
    const sender = await startSender(t)
    const connects = countConnects(t)
    const locations = [target.url, `//127.0.0.1:${target.port}/`, '/elsewhere', 'http://169.254.169.254/', 'file:///etc/passwd', '']
    for (const location of locations) {
      endpoint.answer({ status, headers: { location, refresh: `0; url=${target.url}`, connection: 'close' } })
      t.same(outcomeOf(await sender.post(endpoint.url)), { responseStatus: status, error: 'http_status' }, location)
    }
    t.equal(connects.count, locations.length)
    t.same(endpoint.requests.map(({ path }) => path), locations.map(() => '/hook'))
    t.same(target.requests, [])
  })
}

const untrusted = await createCertificate(null, { addresses: ['127.0.0.1'] })
const rejected = { responseStatus: null, error: 'tls' } as const

t.test('a host that disables TLS verification at run time changes nothing', async (t) => {
  const secure = await startTlsReceiver(t, untrusted)
  const sender = await startSender(t)
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(async () => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  t.same(outcomeOf(await sender.post(`https://127.0.0.1:${secure.port}/`)), rejected)
  t.same(secure.requests, [])
})

t.test('the name for TLS has no trailing dot, directly and through a proxy', async (t) => {
  const names: string[] = []
  const secure = await startTlsReceiver(t, {
    ...untrusted,
    SNICallback (name, callback) {
      names.push(name)
      callback(null)
    }
  })
  const dns = await startDnsServer(t)
  dns.set('hooks.example', { a: ['127.0.0.1'] })
  const proxy = await startConnectProxy(t)
  for (const route of [{}, { proxy: proxy.url }]) {
    const { post } = await startSender(t, { dns, ...route })
    t.same(outcomeOf(await post(`https://hooks.example.:${secure.port}/`)), rejected)
  }
  t.same(names, ['hooks.example', 'hooks.example'])
})

t.test('the host\'s global dispatcher of undici is not used', async (t) => {
  const proxy = await startReceiver(t)
  const receiver = await startReceiver(t)
  const before = getGlobalDispatcher()
  const proxyUrl = `http://127.0.0.1:${proxy.port}`
  const mock = new MockAgent()
  mock.disableNetConnect()
  const dispatchers = [new EnvHttpProxyAgent({ httpProxy: proxyUrl, httpsProxy: proxyUrl, noProxy: '' }), mock]
  t.teardown(async () => {
    setGlobalDispatcher(before)
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.close()))
  })
  for (const dispatcher of dispatchers) {
    setGlobalDispatcher(dispatcher)
    const sender = await startSender(t, { allowNetworks: ['127.0.0.1/32'] })
    t.same(outcomeOf(await sender.post(receiver.url)), delivered)
    t.same(outcomeOf(await sender.post('http://127.0.0.2/')), blocked)
  }
  t.equal(receiver.requests.length, 2)
  t.same(proxy.requests, [])
})
