import { inspect } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { buildWebhookApi, toLoopback } from '../../fixtures/api/webhook-api.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { hostileAddresses } from '../../fixtures/hostile/hostile-addresses.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'
import { startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { readUntil, resources, restingResources } from '../../fixtures/resources.js'
import { startStopwatch, until } from '../../fixtures/stopwatch.js'

interface Tested {
  data: { status: string, response_status: number | null, error: string | null }
}

t.test('a test notification goes through the proxy, even in a process that does not deliver', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const delivery = { ...toLoopback, worker: false, proxy: { url: proxy.url } }
  const { call, create } = await buildWebhookApi(t, { delivery })
  const { id } = await create({ target_url: receiver.url })
  const { body } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
  t.match(body.data, { status: 'delivered', response_status: 204, error: null })
  t.same(proxy.targets, [`127.0.0.1:${receiver.port}`])

  proxy.cut()
  proxy.route(() => 407)
  const rejected = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
  t.match(rejected.body.data, { status: 'failed', response_status: null, error: 'unavailable' })
  t.equal(receiver.requests.length, 1)
})

t.test('deliveries go through the proxy, and perEndpoint limits the tunnels of an endpoint', async (t) => {
  const proxy = await startConnectProxy(t)
  const delivery = { perEndpoint: 2, proxy: { url: proxy.url } }
  const { receiver, emit, drain } = await startDelivering(t, { delivery })
  for (let count = 0; count < 20; count++) await emit()
  await drain()
  t.equal(receiver.requests.length, 20)
  t.equal(proxy.mostOpen, 2)
  t.equal(proxy.targets.length, 2)
})

t.test('the log contains why the proxy opened no tunnel, but nothing that was sent to it', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  proxy.route(() => 407)
  const lines: Array<[fields: object, message: string | undefined]> = []
  const add = (fields: object, message?: string): void => { lines.push([fields, message]) }
  const storage = memoryStorage()
  const url = proxy.url.replace('//', '//vendor:hunter2@')
  const recruiting = createRecruiting({
    storage, logger: { info: add, warn: add, error: add }, delivery: { ...toLoopback, proxy: { url } }
  })
  t.teardown(() => recruiting.close())
  const id = await storage.webhooks.nextId('acme')
  await storage.webhooks.create('acme', {
    id, tenantSlug: 'acme', name: 'A', target_url: receiver.url, event_types: ['job.created'], status: 'active', secret: 'whsec_AAAA'
  }, { maxPerTenant: 10 })
  await recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  await recruiting.drain()
  t.match(lines, [[{ cause: 'proxy', reason: 'the proxy answered 407 No' }, 'this process cannot send, deliveries wait']])
  t.match(proxy.heads[0], 'Proxy-Authorization: Basic dmVuZG9yOmh1bnRlcjI=\r\n')
  const logged = inspect(lines, { depth: Infinity })
  for (const secret of ['vendor', 'hunter2', 'dmVuZG9yOmh1bnRlcjI']) t.notOk(logged.includes(secret), secret)
})

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

t.test('the proxy is asked for the default port of the scheme if the URL has none', async (t) => {
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { proxy: proxy.url })
  proxy.route(() => 503)
  for (const url of ['http://93.184.215.14/', 'https://93.184.215.14/', 'https://[2606:4700:4700::1111]/', 'http://[2606:4700:4700:0:0:0:0:1111]:8080/']) {
    t.same(outcomeOf(await sender.post(url)), { responseStatus: null, error: 'connection', proxyFault: 'the proxy answered 503 No' })
  }
  t.same(proxy.targets, ['93.184.215.14:80', '93.184.215.14:443', '[2606:4700:4700::1111]:443', '[2606:4700:4700::1111]:8080'])
})

t.test('credentials in the URL go only to the proxy', async (t) => {
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

t.test('a proxy can have an IPv6 address', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t, undefined, '::1')
  const sender = await startSender(t, { proxy: proxy.url })
  t.same(outcomeOf(await sender.post(receiver.url)), delivered)
  t.equal(proxy.targets.length, 1)
})

t.test('a blocked address never reaches the proxy, as a literal or behind a name', async (t) => {
  const dns = await startDnsServer(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url, allowNetworks: [] })
  const connects = countConnects(t)
  const passed: unknown[] = []
  for (const [index, address] of hostileAddresses().entries()) {
    const isIpv6 = address.includes(':')
    dns.set(`n${index}.example`, isIpv6 ? { aaaa: [address] } : { a: [address] })
    for (const host of [`n${index}.example`, isIpv6 ? `[${address}]` : address]) {
      const { error } = await sender.post(`https://${host}/`)
      if (error !== 'blocked') passed.push(host)
    }
  }
  dns.set('mixed.example', { a: ['93.184.215.14', '10.0.0.1'] })
  dns.set('family.example', { a: ['93.184.215.14'], aaaa: ['::1'] })
  for (const name of ['mixed.example', 'family.example']) t.same(outcomeOf(await sender.post(`https://${name}/`)), blocked)
  t.same(passed, [])
  t.equal(connects.count, 0)
  t.same(proxy.heads, [])
})

t.test('the host can choose any address for the proxy, but receivers cannot use it', async (t) => {
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { proxy: proxy.url, allowNetworks: [] })
  proxy.route(() => 403)
  t.same(outcomeOf(await sender.post(`${proxy.url}/`)), blocked)
  t.match(await sender.post('http://93.184.215.14/'), { error: 'blocked', proxyFault: 'the proxy answered 403 No' })
  t.same(proxy.targets, ['93.184.215.14:80'])
})

t.test('a name that changes after it was checked is not looked up again', async (t) => {
  const dns = await startDnsServer(t)
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url, allowNetworks: ['127.0.0.1/32'] })
  const asked: string[] = []
  dns.set('flapping.example', (question) => {
    const isFirst = !asked.includes(question)
    asked.push(question)
    return question === 'AAAA' ? {} : { a: [isFirst ? '127.0.0.1' : '10.0.0.1'] }
  })
  t.same(outcomeOf(await sender.post(`http://flapping.example:${receiver.port}/`)), delivered)
  t.same(asked.sort(), ['A', 'AAAA'])
  t.same(proxy.targets, [`127.0.0.1:${receiver.port}`])
  proxy.cut()
  t.same(outcomeOf(await sender.post(`http://flapping.example:${receiver.port}/`)), blocked)
  t.equal(proxy.targets.length, 1)
})

t.test('if the proxy cannot connect to an address, the next one is tried, up to eight', async (t) => {
  const dns = await startDnsServer(t)
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url })
  const { port } = receiver
  dns.set('several.example', { a: ['127.0.0.8', '127.0.0.9', '127.0.0.1'], aaaa: ['::1'] })
  t.same(outcomeOf(await sender.post(`http://several.example:${port}/`)), delivered)
  t.same([...proxy.targets].sort(), [`127.0.0.1:${port}`, `127.0.0.8:${port}`, `127.0.0.9:${port}`])

  dns.set('many.example', { a: Array.from({ length: 20 }, (_, index) => `127.0.1.${index}`) })
  t.equal((await sender.post(`http://many.example:${port}/`)).error, 'connection')
  t.equal(proxy.targets.length, 3 + 8)
})

/** A connection can be reused from the next turn of the event loop. */
const keptMs = 10

t.test('a tunnel is reused for the next post to the same receiver only', async (t) => {
  const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { proxy: proxy.url })
  for (let round = 0; round < 3; round++) {
    for (const { url } of receivers) t.same(outcomeOf(await sender.post(url)), delivered)
    await sleep(keptMs)
  }
  t.same(proxy.targets, receivers.map(({ port }) => `127.0.0.1:${port}`))
  t.equal(proxy.open, 2)
})

t.test('close leaves no socket or timer, even with attempts in flight', async (t) => {
  const dns = await startDnsServer(t)
  dns.set('dead.example', { silent: true })
  const proxy = await startConnectProxy(t)
  const healthy = await startReceiver(t)
  const slow = await startReceiver(t)
  const stalled = await startHostileReceiver(t, { connect: (socket) => socket.resume() })
  slow.answer(hang)
  proxy.route((target) => target.startsWith('127.0.0.9:') ? 'silence' : { host: '127.0.0.1', port: Number(target.split(':')[1]) })
  const before = await restingResources()

  const sender = await startSender(t, { dns, proxy: proxy.url, timeoutMs: 10_000 })
  await Promise.all(Array.from({ length: 5 }, () => sender.post(healthy.url)))
  const urls = [slow.url, stalled.url.replace('http:', 'https:'), 'http://127.0.0.9:9/', `http://dead.example:${healthy.port}/`]
  const attempts = Array.from({ length: 5 }, () => urls).flat().map((url) => sender.post(url))
  await until(() => proxy.open === 5 + 15 && stalled.open === 5)
  const stop = startStopwatch()
  sender.abort()
  await sender.close()
  t.ok(stop() < 1000)
  t.same(new Set((await Promise.all(attempts)).map(({ error }) => error)), new Set(['aborted']))
  await until(() => proxy.open === 0 && stalled.open === 0)
  t.same(await readUntil(resources, before), before)
})

t.test('no further addresses of a name are tried once its attempt has ended', async (t) => {
  const dns = await startDnsServer(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url, timeoutMs: 80_000 })
  dns.set('several.example', { a: ['127.0.0.8', '127.0.0.9'] })
  proxy.route(() => 'silence')
  const { error, ownFault } = await sender.post('http://several.example:9/', { timeoutMs: 1000 })
  t.same([error, ownFault], ['connection', { cause: 'proxy', reason: 'the proxy did not respond in time' }])
  await until(() => proxy.open === 0)
  await sleep(50)
  t.same(proxy.targets.length, 1)
})
