import { once } from 'node:events'
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { channel } from 'node:diagnostics_channel'
import t from 'tap'
import { buildConnector } from 'undici'
import { Attempt, createConnections } from '../../../src/core/webhooks/sending/attempt.js'
import { drip, flood, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { delivered, outcomeOf, startSender, type TestSender } from '../../fixtures/hostile/hostile-sender.js'
import { startStopwatch, until } from '../../fixtures/stopwatch.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { readUntil, resources, restingResources } from '../../fixtures/resources.js'

const attempts = 3

const cutShort: Array<[title: string, request: (socket: Socket) => void]> = [
  ['at its deadline', () => {}],
  ['for its length', (socket) => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); flood(socket, 'x'.repeat(1024)) }],
  ['for its early hints', (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')]
]

for (const [title, request] of cutShort) {
  t.test(`an attempt whose response is cut off ${title} uses one connection of the receiver`, async (t) => {
    const receiver = await startHostileReceiver(t, { request })
    const { post } = await startSender(t)
    for (let count = 0; count < attempts; count++) {
      await post(receiver.url, { timeoutMs: 500 })
      await until(() => receiver.open === 0)
    }
    t.equal(receiver.connections, attempts)
  })
}

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'
const broken = { responseStatus: null, error: 'connection' } as const
/** A connection can be reused from the next turn of the event loop. */
const keptMs = 10

/** What can happen to the second post over a connection before a byte comes back. */
const endings: Record<string, (socket: Socket) => void> = {
  'is closed': (socket) => socket.end(),
  'is reset': (socket) => socket.resetAndDestroy(),
  'is closed a little later': (socket) => setTimeout(() => socket.end(), 200)
}

for (const [title, finish] of Object.entries(endings)) {
  t.test(`a post over a reused connection that ${title} without a response is sent again over a new one`, async (t) => {
    const sender = await startSender(t)
    const receiver = await startHostileReceiver(t, {
      request: (socket, count) => count === 1 ? socket.write(noContent) : finish(socket)
    })
    for (let round = 1; round <= 3; round++) {
      t.same(outcomeOf(await sender.post(receiver.url)), delivered)
      await sleep(keptMs)
      t.same(outcomeOf(await sender.post(receiver.url)), delivered)
      await sleep(keptMs)
      t.equal(receiver.requests, 3 * round)
      t.equal(receiver.connections, 2 * round)
    }
  })
}

t.test('a post is sent again only once', async (t) => {
  const sender = await startSender(t)
  let isUp = true
  const receiver = await startHostileReceiver(t, { request: (socket) => isUp ? socket.write(noContent) : socket.end() })
  await sender.post(receiver.url)
  await sleep(keptMs)
  isUp = false
  t.same(outcomeOf(await sender.post(receiver.url)), broken)
  t.equal(receiver.requests, 3)
  t.equal(receiver.connections, 2)
})

for (const [title, bytes] of [['a byte', 'H'], ['half a status line', 'HTTP/1.1 5'], ['an early hint', 'HTTP/1.1 103 Early Hints\r\n\r\n'], ['garbage', '\0']] as const) {
  t.test(`a post over a reused connection that returned ${title} is not sent again`, async (t) => {
    const sender = await startSender(t)
    const receiver = await startHostileReceiver(t, {
      request: (socket, count) => count === 1 ? socket.write(noContent) : socket.end(bytes)
    })
    await sender.post(receiver.url)
    await sleep(keptMs)
    t.same(outcomeOf(await sender.post(receiver.url)), broken)
    t.equal(receiver.requests, 2)
  })
}

t.test('a post over a reused connection that closes after more than a second is not sent again', async (t) => {
  const sender = await startSender(t)
  const receiver = await startHostileReceiver(t, {
    request: (socket, count) => count === 1 ? socket.write(noContent) : setTimeout(() => socket.end(), 1100)
  })
  await sender.post(receiver.url)
  await sleep(keptMs)
  t.same(outcomeOf(await sender.post(receiver.url)), broken)
  t.equal(receiver.requests, 2)
})

t.test('one deadline covers both posts', async (t) => {
  const sender = await startSender(t, { timeoutMs: 1500 })
  const receiver = await startHostileReceiver(t, {
    request (socket, count) {
      if (receiver.connections > 1) return
      if (count === 1) socket.write(noContent)
      else setTimeout(() => socket.end(), 400)
    }
  })
  await sender.post(receiver.url)
  await sleep(keptMs)
  const { durationMs, ranMs, ...outcome } = await sender.post(receiver.url)
  t.same(outcome, { responseStatus: null, error: 'timeout' })
  t.ok(durationMs >= 1499 && ranMs < 1900, `${durationMs} ms`)
  t.equal(receiver.requests, 3)
})

t.test('a connection abandoned while opening is closed at the deadline of its attempt, not of its sender', async (t) => {
  const dns = await startDnsServer(t)
  dns.set('dead.example', { silent: true })
  const sender = await startSender(t, { dns, timeoutMs: 30_000 })
  const receiver = await startHostileReceiver(t, { connect: (socket) => socket.resume() })
  const before = await restingResources()
  const attempts = [receiver.url.replace('http:', 'https:'), 'http://dead.example:9/'].map((url) => sender.post(url, { timeoutMs: 200 }))
  t.same((await Promise.all(attempts)).map(({ error }) => error), ['timeout', 'timeout'])
  const stop = startStopwatch()
  await until(() => receiver.open === 0)
  t.same(await readUntil(resources, before), before)
  t.ok(stop() < 10_000)
})

const channels = ['undici:request:create', 'undici:client:sendHeaders']

t.test('close leaves no socket, timer or subscriber, even with attempts in flight', async (t) => {
  const dns = await startDnsServer(t)
  dns.set('dead.example', { silent: true })
  const healthy = await startReceiver(t)
  const receivers = {
    silent: await startHostileReceiver(t, { request: () => {} }),
    stalled: await startHostileReceiver(t, { connect: (socket) => socket.resume() }),
    dripping: await startHostileReceiver(t, { request: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n') })
  }
  const urls = [
    receivers.silent.url, receivers.dripping.url, receivers.stalled.url.replace('http:', 'https:'), `http://dead.example:${healthy.port}/`
  ]
  const before = await restingResources()

  const sender = await startSender(t, { dns, timeoutMs: 10_000 })
  await Promise.all(Array.from({ length: 5 }, () => sender.post(healthy.url)))
  const attempts = Array.from({ length: 15 }, () => urls).flat().map((url) => sender.post(url))
  await until(() => Object.values(receivers).every(({ open }) => open === 15) && receivers.dripping.requests === 15)
  // The first bytes of the responses arrive.
  await sleep(300)

  const closeMs = await close(sender)
  t.ok(closeMs < 1000, `closed after ${closeMs} ms`)
  const errors = (await Promise.all(attempts)).map(({ error }) => error)
  t.same(errors, Array.from({ length: 15 }, () => ['aborted', null, 'aborted', 'aborted']).flat())
  await until(() => Object.values(receivers).every(({ open }) => open === 0))
  t.same(await readUntil(resources, before), before)
  t.same(channels.filter((name) => channel(name).hasSubscribers), [])
})

async function close (sender: TestSender): Promise<number> {
  const stop = startStopwatch()
  sender.abort()
  await sender.close()
  return stop()
}

for (const status of [200, 404, 500]) {
  t.test(`an attempt ends and its connection closes soon after the head of a ${status} whose body never ends`, async (t) => {
    const receiver = await startHostileReceiver(t, {
      request (socket) {
        socket.write(`HTTP/1.1 ${status} X\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n`)
        drip(socket, '1\r\n.\r\n', 50)
      }
    })
    // Longer than the time limit of a test file.
    const sender = await startSender(t, { timeoutMs: 600_000 })
    const { responseExcerpt, ...outcome } = outcomeOf(await sender.post(receiver.url, { excerptBytes: 4 }))
    t.same(outcome, { responseStatus: status, error: status === 200 ? null : 'http_status' })
    t.equal(responseExcerpt, 'body')
    await until(() => receiver.open === 0)
  })
}

t.test('256 connections stay open between posts, and the one used longest ago closes first', async (t) => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=60\r\n\r\n')))
  })
  server.listen(0)
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const senders = [await startSender(t), await startSender(t)] as const
  const post = (index: number) => senders[index % 2 === 0 ? 0 : 1].post(`http://127.0.1.${index}:${port}/`)
  for (let index = 0; index < 256; index++) await post(index)
  await sleep(keptMs)
  // Now the first one is the last.
  t.same(outcomeOf(await post(0)), delivered)
  t.equal(sockets.length, 256)
  t.same(outcomeOf(await senders[0].post(`http://127.0.2.1:${port}/`)), delivered)
  await until(() => sockets.some(({ destroyed }) => destroyed))
  t.same(sockets.flatMap(({ destroyed }, index) => destroyed ? [index] : []), [1])
})

t.test('a connect without a free descriptor closes an idle connection and tries again once', async (t) => {
  const receiver = await startReceiver(t)
  const { origin, pathname: path } = new URL(receiver.url)
  let failures = 0
  let connects = 0
  const connections = createConnections((options, callback) => {
    connects++
    if (failures-- > 0) callback(Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' }), null)
    else buildConnector({})(options, callback)
  }, {})
  t.teardown(() => connections.close())
  const post = (to: string) => new Promise((resolve) => {
    new Attempt({ origin: to, path, tenantId: 'acme', headers: [], body: '', excerptBytes: 0 }, 60_000, connections, (answer, fault) => {
      resolve(answer ?? fault)
    }).start()
  })
  const other = origin.replace('127.0.0.1', 'localhost')
  t.match(await post(origin), { status: 204 })
  await sleep(keptMs)
  failures = 1
  t.match(await post(other), { status: 204 })
  t.equal(connects, 3)

  await sleep(keptMs)
  failures = 2
  t.match(await post(origin), { code: 'EMFILE' }, 'again only once')
  t.equal(connects, 5)
  failures = 1
  t.match(await post(origin), { code: 'EMFILE' }, 'not without an idle connection')
  t.equal(connects, 6)
})
