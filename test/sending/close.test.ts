import t from 'tap'
import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDnsServer } from '../fixtures/receivers/dns-server.js'
import { type HostileReceiver, startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { type TestSender, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const channels = ['undici:request:create', 'undici:client:sendHeaders']

t.test('after close no socket, timer or subscriber remains, whatever was in flight', async (t) => {
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
  const before = await resources()

  const sender = await startSender(t, { dns, timeoutMs: 10_000 })
  await Promise.all(Array.from({ length: 5 }, () => sender.post(healthy.url)))
  const attempts = Array.from({ length: 15 }, () => urls).flat().map((url) => sender.post(url))
  await sleep(300)
  t.ok(receivers.silent.open === 15 && receivers.stalled.open === 15 && receivers.dripping.open === 15)

  const closeMs = await close(sender)
  t.ok(closeMs < 1000, `closed after ${closeMs} ms`)
  const errors = (await Promise.all(attempts)).map(({ error }) => error)
  t.same(errors, Array.from({ length: 15 }, () => ['aborted', null, 'aborted', 'aborted']).flat())
  await settled(Object.values(receivers))
  t.same(await resources(), before)
  t.same(channels.filter((name) => channel(name).hasSubscribers), [])
})

t.test('a handshake that stalls is ended by close, even when another to the same endpoint has failed before', async (t) => {
  const receiver = await startHostileReceiver(t, {
    connect (socket) {
      socket.resume()
      if (receiver.connections === 2) setTimeout(() => socket.resetAndDestroy(), 50)
    }
  })
  const before = await resources()
  const sender = await startSender(t, { timeoutMs: 10_000 })
  const attempts = Array.from({ length: 3 }, () => sender.post(receiver.url.replace('http:', 'https:')))
  await sleep(200)
  await close(sender)
  t.same((await Promise.all(attempts)).map(({ error }) => error).sort(), ['aborted', 'aborted', 'connection'])
  await settled([receiver])
  t.same(await resources(), before)
})

t.test('senders that are closed without having sent leave nothing', async (t) => {
  const before = await resources()
  for (let count = 0; count < 5; count++) await close(await startSender(t))
  t.same(await resources(), before)
  t.same(channels.filter((name) => channel(name).hasSubscribers), [])
})

t.test('a post after close fails, and a second close does nothing', async (t) => {
  const receiver = await startReceiver(t)
  const sender = await startSender(t)
  await close(sender)
  await close(sender)
  const { responseStatus, error } = await sender.post(receiver.url)
  t.same({ responseStatus, error }, { responseStatus: null, error: 'connection' })
  t.same(receiver.requests, [])
})

async function close (sender: TestSender): Promise<number> {
  const startedAt = performance.now()
  sender.abort()
  await sender.close()
  return Math.round(performance.now() - startedAt)
}

/** What keeps the process alive, but for the pipes of the test runner. What was closed takes a moment to go. */
async function resources (): Promise<string[]> {
  await sleep(100)
  return process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap').sort()
}

/** The receivers' own ends of the sockets take a moment. */
async function settled (receivers: readonly HostileReceiver[]): Promise<void> {
  const startedAt = performance.now()
  while (receivers.some(({ open }) => open > 0) && performance.now() - startedAt < 2000) await sleep(5)
}
