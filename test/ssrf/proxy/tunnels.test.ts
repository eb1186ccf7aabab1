import t from 'tap'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { readUntil, resources, restingResources } from '../../fixtures/resources.js'
import { replaceLookup } from '../../fixtures/receivers/system-lookup.js'
import { startStopwatch, until } from '../../fixtures/stopwatch.js'

/** A connection is kept from the next turn of the event loop on. */
const keptMs = 10
const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'

t.test('a tunnel is kept for the next post to the same receiver, and for no other', async (t) => {
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

const endings: Record<string, (socket: Socket) => void> = {
  closes: (socket) => socket.end(),
  resets: (socket) => socket.resetAndDestroy()
}

for (const [title, finish] of Object.entries(endings)) {
  t.test(`a post over a kept tunnel that the receiver ${title} is sent again through a new one`, async (t) => {
    const proxy = await startConnectProxy(t)
    const sender = await startSender(t, { proxy: proxy.url })
    const receiver = await startHostileReceiver(t, { request: (socket, count) => count === 1 ? socket.write(noContent) : finish(socket) })
    t.same(outcomeOf(await sender.post(receiver.url)), delivered)
    await sleep(keptMs)
    t.same(outcomeOf(await sender.post(receiver.url)), delivered)
    t.equal(proxy.targets.length, 2)
    t.equal(receiver.requests, 3)
  })
}

t.test('a proxy that cuts idle tunnels costs no attempt', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { proxy: proxy.url })
  for (let round = 0; round < 3; round++) {
    t.same(outcomeOf(await sender.post(receiver.url)), delivered)
    await sleep(keptMs)
    proxy.cut()
  }
  t.equal(receiver.requests.length, 3)
})

t.test('a tunnel whose attempt ended by its deadline is closed, before TLS and after it', async (t) => {
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { proxy: proxy.url })
  const silent = await startHostileReceiver(t, { connect: (socket) => socket.resume() })
  for (const url of [silent.url, silent.url.replace('http:', 'https:')]) {
    const { error } = await sender.post(url, { timeoutMs: 1000 })
    t.equal(error, 'timeout')
    await until(() => proxy.open === 0 && silent.open === 0)
  }
})

t.test('after close no socket or timer remains, whatever was in flight', async (t) => {
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

t.test('a name with several addresses is not tried further once its attempt has ended', async (t) => {
  const dns = await startDnsServer(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url, timeoutMs: 80_000 })
  dns.set('several.example', { a: ['127.0.0.8', '127.0.0.9'] })
  proxy.route(() => 'silence')
  const { error, proxyFault } = await sender.post('http://several.example:9/', { timeoutMs: 1000 })
  t.same([error, proxyFault], ['connection', 'the proxy did not respond in time'])
  await until(() => proxy.open === 0)
  await sleep(50)
  t.same(proxy.targets.length, 1)
})

t.test('a sender that is closed while the system looks up the proxy leaves nothing', async (t) => {
  const receiver = await startReceiver(t)
  replaceLookup(t, () => new Promise(() => {}))
  const sender = await startSender(t, { proxy: 'http://proxy.example:3128' })
  const attempts = Array.from({ length: 10 }, () => sender.post(receiver.url))
  sender.abort()
  await sender.close()
  t.same((await Promise.all(attempts)).map(({ error }) => error), attempts.map(() => 'aborted'))
  t.same(receiver.requests, [])
})
