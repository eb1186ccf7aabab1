import t from 'tap'
import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDnsServer } from '../fixtures/receivers/dns-server.js'
import { startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { type TestSender, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { readUntil, resources, restingResources } from '../fixtures/resources.js'
import { startStopwatch, until } from '../fixtures/stopwatch.js'

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
  const before = await restingResources()

  const sender = await startSender(t, { dns, timeoutMs: 10_000 })
  await Promise.all(Array.from({ length: 5 }, () => sender.post(healthy.url)))
  const attempts = Array.from({ length: 15 }, () => urls).flat().map((url) => sender.post(url))
  await until(() => Object.values(receivers).every(({ open }) => open === 15) && receivers.dripping.requests === 15)
  // The first bytes of the answers arrive.
  await sleep(300)

  const closeMs = await close(sender)
  t.ok(closeMs < 1000, `closed after ${closeMs} ms`)
  const errors = (await Promise.all(attempts)).map(({ error }) => error)
  t.same(errors, Array.from({ length: 15 }, () => ['aborted', null, 'aborted', 'aborted']).flat())
  await until(() => Object.values(receivers).every(({ open }) => open === 0))
  t.same(await readUntil(resources, before), before)
  t.same(channels.filter((name) => channel(name).hasSubscribers), [])
})

t.test('a handshake that stalls is ended by close, even when another to the same endpoint has failed before', async (t) => {
  const receiver = await startHostileReceiver(t, {
    connect (socket) {
      socket.resume()
      if (receiver.connections === 2) setTimeout(() => socket.resetAndDestroy(), 50)
    }
  })
  const before = await restingResources()
  const sender = await startSender(t, { timeoutMs: 10_000 })
  const attempts = Array.from({ length: 3 }, () => sender.post(receiver.url.replace('http:', 'https:')))
  t.equal((await Promise.race(attempts)).error, 'connection')
  await until(() => receiver.connections === 3)
  await close(sender)
  t.same((await Promise.all(attempts)).map(({ error }) => error).sort(), ['aborted', 'aborted', 'connection'])
  await until(() => receiver.open === 0)
  t.same(await readUntil(resources, before), before)
})

t.test('senders that are closed without having sent leave nothing', async (t) => {
  const before = await restingResources()
  for (let count = 0; count < 5; count++) await close(await startSender(t))
  t.same(await readUntil(resources, before), before)
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
  const stop = startStopwatch()
  sender.abort()
  await sender.close()
  return stop()
}
