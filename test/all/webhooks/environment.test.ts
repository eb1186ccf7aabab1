import t from 'tap'
import { blocked, delivered, outcomeOf } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { startTlsReceiver } from '../../fixtures/receivers/tls-receiver.js'

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
