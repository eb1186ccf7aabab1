import t from 'tap'
import { blocked, delivered, outcomeOf } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { startTlsReceiver } from '../../fixtures/receivers/tls-receiver.js'

const untrusted = await createCertificate(null, { addresses: ['127.0.0.1'] })
const rejected = { responseStatus: null, error: 'tls' } as const

/** Returns all environment variables for proxies. */
function proxyEnv (url: string): Record<string, string> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'npm_config_proxy', 'GLOBAL_AGENT_HTTP_PROXY']
  return { ...Object.fromEntries(names.map((name) => [name, url])), NO_PROXY: '', NODE_USE_ENV_PROXY: '1' }
}

t.test('environment variables for proxies and disabled TLS checks have no effect', async (t) => {
  const proxy = await startReceiver(t)
  const receiver = await startReceiver(t)
  const secure = await startTlsReceiver(t, untrusted)
  const urls = [receiver.url, `https://127.0.0.1:${secure.port}/`, `http://127.0.0.2:${receiver.port}/`, 'http://10.0.0.1/', 'https://169.254.169.254/']
  const env = { ...proxyEnv(`http://127.0.0.1:${proxy.port}`), NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }
  const results = await postFromChild({ urls, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000 }, env)
  t.same(results.map(outcomeOf), [delivered, rejected, blocked, blocked, blocked])
  t.equal(receiver.requests.length, 1)
  t.same(secure.requests, [])
  t.same(proxy.requests, [])
})

for (const noProxy of ['', '*', '127.0.0.1']) {
  t.test(`with the option proxy, NO_PROXY=${noProxy} has no effect either`, async (t) => {
    const decoy = await startReceiver(t)
    const proxy = await startConnectProxy(t)
    const receiver = await startReceiver(t)
    const secure = await startTlsReceiver(t, untrusted)
    const urls = [receiver.url, `https://127.0.0.1:${secure.port}/`, 'http://127.0.0.2/', 'https://169.254.169.254/']
    const env = {
      ...proxyEnv(`http://127.0.0.1:${decoy.port}`), NO_PROXY: noProxy, no_proxy: noProxy, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1'
    }
    const results = await postFromChild({ urls, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000, proxy: proxy.url }, env)
    t.same(results.map(outcomeOf), [delivered, rejected, blocked, blocked])
    t.same(proxy.targets, [`127.0.0.1:${receiver.port}`, `127.0.0.1:${secure.port}`])
    t.equal(receiver.requests.length, 1)
    t.same([decoy.requests, secure.requests], [[], []])
  })
}
