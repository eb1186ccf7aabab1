import t from 'tap'
import { once } from 'node:events'
import { type AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('the proxy is asked for the address of a name, and the receiver sees the name', async (t) => {
  const dns = await startDnsServer(t)
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url })
  dns.set('hooks.example', { a: ['127.0.0.1'] })
  t.same(outcomeOf(await sender.post(`http://hooks.example:${receiver.port}/hook?x=1`)), delivered)
  t.same(proxy.heads, [`CONNECT 127.0.0.1:${receiver.port} HTTP/1.1\r\nHost: 127.0.0.1:${receiver.port}\r\n\r\n`])
  t.match(receiver.requests, [{ method: 'POST', path: '/hook?x=1', headers: { host: `hooks.example:${receiver.port}` }, body: '{"id":1}' }])
})

t.test('the proxy is asked for the port of the scheme where the URL has none', async (t) => {
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { proxy: proxy.url })
  proxy.route(() => 503)
  for (const url of ['http://93.184.215.14/', 'https://93.184.215.14/', 'https://[2606:4700:4700::1111]/', 'http://[2606:4700:4700:0:0:0:0:1111]:8080/']) {
    t.same(outcomeOf(await sender.post(url)), { responseStatus: null, error: 'connection', proxyFault: 'the proxy answered 503' })
  }
  t.same(proxy.targets, ['93.184.215.14:80', '93.184.215.14:443', '[2606:4700:4700::1111]:443', '[2606:4700:4700::1111]:8080'])
})

t.test('a receiver with an IPv6 address is delivered to, by address and by name', async (t) => {
  const dns = await startDnsServer(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url })
  const hosts: unknown[] = []
  const server = createServer((request, response) => {
    hosts.push(request.headers.host)
    response.writeHead(204).end()
  }).listen(0, '::1')
  await once(server, 'listening')
  t.teardown(() => new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  }))
  const { port } = server.address() as AddressInfo
  dns.set('six.example', { aaaa: ['::1'] })
  for (const host of ['[::1]', 'six.example']) t.same(outcomeOf(await sender.post(`http://${host}:${port}/`)), delivered)
  t.same(proxy.targets, [`[::1]:${port}`, `[::1]:${port}`])
  t.same(hosts, [`[::1]:${port}`, `six.example:${port}`])
})

t.test('credentials of the URL go to the proxy alone', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const credentials: Array<[inUrl: string, sent: string]> = [
    ['user:pass', 'user:pass'], ['user', 'user:'], [':pass', ':pass'], ['us%20er:p%40%3Ass%C3%A9', 'us er:p@:ssé']
  ]
  for (const [inUrl, sent] of credentials) {
    const sender = await startSender(t, { proxy: proxy.url.replace('//', `//${inUrl}@`) })
    t.same(outcomeOf(await sender.post(receiver.url)), delivered)
    t.match(proxy.heads.at(-1), `\r\nProxy-Authorization: Basic ${Buffer.from(sent).toString('base64')}\r\n\r\n`)
  }
  for (const { headers } of receiver.requests) t.notOk('proxy-authorization' in headers || 'authorization' in headers)
})

t.test('a proxy may have an IPv6 address', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t, undefined, '::1')
  const sender = await startSender(t, { proxy: proxy.url })
  t.same(outcomeOf(await sender.post(receiver.url)), delivered)
  t.equal(proxy.targets.length, 1)
})

t.test('a proxy that is named is found by the system', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns: await startDnsServer(t), proxy: proxy.url.replace('127.0.0.1', 'localhost') })
  const results = await Promise.all(Array.from({ length: 10 }, () => sender.post(receiver.url)))
  t.same(results.map(outcomeOf), results.map(() => delivered))
  t.equal(proxy.targets.length, 10)
})
