import t from 'tap'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { delivered, outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'
const broken = { responseStatus: null, error: 'connection' } as const
/** A connection is kept from the next turn of the event loop on. */
const keptMs = 10

/** What may become of the second post over a connection before a byte comes back. */
const endings: Record<string, (socket: Socket) => void> = {
  'is closed': (socket) => socket.end(),
  'is reset': (socket) => socket.resetAndDestroy(),
  'is closed a little later': (socket) => setTimeout(() => socket.end(), 200)
}

for (const [title, finish] of Object.entries(endings)) {
  t.test(`a post over a kept connection that ${title} without an answer is sent again over a fresh one`, async (t) => {
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

t.test('it is sent again over a fresh one even while other connections are kept', async (t) => {
  const sender = await startSender(t)
  const waiting: Socket[] = []
  const receiver = await startHostileReceiver(t, {
    request (socket, count) {
      if (count > 1) return socket.end()
      if (waiting.length === 4) return socket.write(noContent)
      waiting.push(socket)
      if (waiting.length === 4) for (const kept of waiting) kept.write(noContent)
    }
  })
  await Promise.all(Array.from({ length: 4 }, () => sender.post(receiver.url)))
  await sleep(keptMs)
  t.equal(receiver.open, 4)
  t.same(outcomeOf(await sender.post(receiver.url)), delivered)
  t.equal(receiver.requests, 6)
  t.equal(receiver.connections, 5)
  t.ok(receiver.open >= 3, 'the others are as they were')
})

t.test('it is sent again only once', async (t) => {
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

t.test('a post over a fresh connection that is closed without an answer is not sent again', async (t) => {
  for (const finish of Object.values(endings)) {
    const sender = await startSender(t)
    const receiver = await startHostileReceiver(t, { request: finish })
    t.same(outcomeOf(await sender.post(receiver.url)), broken)
    t.same(outcomeOf(await sender.post(receiver.url)), broken)
    t.equal(receiver.requests, 2)
  }
})

for (const [title, bytes] of [['a byte', 'H'], ['half a status line', 'HTTP/1.1 5'], ['an early hint', 'HTTP/1.1 103 Early Hints\r\n\r\n'], ['garbage', '\0']] as const) {
  t.test(`a post over a kept connection that brought ${title} back is not sent again`, async (t) => {
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

t.test('a post over a kept connection that is closed after more than a second is not sent again', async (t) => {
  const sender = await startSender(t)
  const receiver = await startHostileReceiver(t, {
    request: (socket, count) => count === 1 ? socket.write(noContent) : setTimeout(() => socket.end(), 1100)
  })
  await sender.post(receiver.url)
  await sleep(keptMs)
  t.same(outcomeOf(await sender.post(receiver.url)), broken)
  t.equal(receiver.requests, 2)
})

t.test('a connection that the receiver has closed by the time of the post is not used', async (t) => {
  const sender = await startSender(t)
  const receiver = await startHostileReceiver(t, { request: (socket) => socket.end(noContent) })
  for (let count = 1; count <= 3; count++) {
    t.same(outcomeOf(await sender.post(receiver.url)), delivered)
    await sleep(50)
    t.equal(receiver.requests, count)
    t.equal(receiver.connections, count)
  }
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
