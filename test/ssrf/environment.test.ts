import t from 'tap'
import { EnvHttpProxyAgent, MockAgent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { postFromChild } from '../fixtures/hostile/processes/hostile-child.js'
import { blocked, delivered, outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startConnectProxy } from '../fixtures/receivers/connect-proxy.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { createCertificate } from '../fixtures/receivers/tls-certificates.js'
import { startTlsReceiver } from '../fixtures/receivers/tls-receiver.js'

const untrusted = await createCertificate(null, { addresses: ['127.0.0.1'] })
const refused = { responseStatus: null, error: 'tls' } as const

/** Everything that an environment can say about proxies. */
function proxyEnv (url: string): Record<string, string> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'npm_config_proxy', 'GLOBAL_AGENT_HTTP_PROXY']
  return { ...Object.fromEntries(names.map((name) => [name, url])), NO_PROXY: '', NODE_USE_ENV_PROXY: '1' }
}

t.test('an environment that turns TLS off and names proxies changes nothing', async (t) => {
  const proxy = await startReceiver(t)
  const receiver = await startReceiver(t)
  const secure = await startTlsReceiver(t, untrusted)
  const urls = [receiver.url, `https://127.0.0.1:${secure.port}/`, `http://127.0.0.2:${receiver.port}/`, 'http://10.0.0.1/', 'https://169.254.169.254/']
  const env = { ...proxyEnv(`http://127.0.0.1:${proxy.port}`), NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }
  const results = await postFromChild({ urls, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000 }, env)
  t.same(results.map(outcomeOf), [delivered, refused, blocked, blocked, blocked])
  t.equal(receiver.requests.length, 1)
  t.same(secure.requests, [])
  t.same(proxy.requests, [])
})

for (const noProxy of ['', '*', '127.0.0.1']) {
  t.test(`with the option proxy, an environment with NO_PROXY=${noProxy} changes nothing either`, async (t) => {
    const decoy = await startReceiver(t)
    const proxy = await startConnectProxy(t)
    const receiver = await startReceiver(t)
    const secure = await startTlsReceiver(t, untrusted)
    const urls = [receiver.url, `https://127.0.0.1:${secure.port}/`, 'http://127.0.0.2/', 'https://169.254.169.254/']
    const env = {
      ...proxyEnv(`http://127.0.0.1:${decoy.port}`), NO_PROXY: noProxy, no_proxy: noProxy, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1'
    }
    const results = await postFromChild({ urls, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000, proxy: proxy.url }, env)
    t.same(results.map(outcomeOf), [delivered, refused, blocked, blocked])
    t.same(proxy.targets, [`127.0.0.1:${receiver.port}`, `127.0.0.1:${secure.port}`])
    t.equal(receiver.requests.length, 1)
    t.same([decoy.requests, secure.requests], [[], []])
  })
}

t.test('a host that turns TLS off while it runs changes nothing', async (t) => {
  const secure = await startTlsReceiver(t, untrusted)
  const sender = await startSender(t)
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(async () => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  t.same(outcomeOf(await sender.post(`https://127.0.0.1:${secure.port}/`)), refused)
  t.same(secure.requests, [])
})

t.test('the dispatcher that a host sets for all of undici is not used', async (t) => {
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
