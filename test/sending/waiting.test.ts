import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { startSender } from '../fixtures/hostile/hostile-sender.js'
import { startDnsServer } from '../fixtures/receivers/dns-server.js'
import { waitingCases } from '../fixtures/hostile/hostile-waiting.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { readUntil, resources, restingResources } from '../fixtures/resources.js'
import { startStopwatch, until } from '../fixtures/stopwatch.js'

const timeoutMs = 500

t.test('whatever a receiver lets its sender wait for, the attempt ends with the deadline', async (t) => {
  const { url: healthyUrl } = await startReceiver(t)
  const sender = await startSender(t, { timeoutMs })
  await sender.post(healthyUrl)
  let pending = Object.keys(waitingCases).length

  const attempts = Object.entries(waitingCases).map(async ([title, { behaviour, scheme, bodyLength = 8, ...expected }]) => {
    const { url } = await startHostileReceiver(t, behaviour)
    const target = scheme === undefined ? url : url.replace('http:', `${scheme}:`)
    const { durationMs, ranMs, ...outcome } = await sender.post(target, { body: JSON.stringify('b'.repeat(bodyLength)) })
    pending--
    t.same(outcome, expected, `a receiver that ${title}`)
    t.ok(durationMs >= timeoutMs - 1, `not before the deadline: ${durationMs} ms`)
    t.ok(ranMs < timeoutMs + 1000, `within a second of the deadline: ${ranMs} ms`)
  })

  let healthy = 0
  while (pending > 0) {
    const { error } = await sender.post(healthyUrl, { timeoutMs: 60_000 })
    t.equal(error, null, 'a healthy receiver beside them')
    healthy++
    await sleep(20)
  }
  await Promise.all(attempts)
  t.ok(healthy > 0, `${healthy} posts to a healthy receiver beside them`)
})

t.test('the deadline of the attempt counts, be it shorter than the sender\'s', async (t) => {
  const { url } = await startHostileReceiver(t, { request: () => {} })
  const sender = await startSender(t, { timeoutMs: 5000 })
  const { error, durationMs, ranMs } = await sender.post(url, { timeoutMs: 150 })
  t.equal(error, 'timeout')
  t.ok(durationMs >= 149 && ranMs < 1150, `${durationMs} ms`)
})

t.test('a connection that is given up is closed', async (t) => {
  const sender = await startSender(t, { timeoutMs: 200 })
  for (const scheme of ['http', 'https'] as const) {
    const receiver = await startHostileReceiver(t, { connect: (socket) => socket.resume() })
    const { error } = await sender.post(receiver.url.replace('http:', `${scheme}:`))
    t.equal(error, 'timeout')
    await until(() => receiver.open === 0)
  }
})

t.test('a connection that is given up while it is opened is closed with the deadline of its attempt, not of its sender', async (t) => {
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

t.test('an attempt that is aborted ends at once, and says so', async (t) => {
  const sender = await startSender(t, { timeoutMs: 5000 })
  const receivers = await Promise.all([
    startHostileReceiver(t, { request: () => {} }),
    startHostileReceiver(t, { request: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n') })
  ])
  const [silent = '', answering = ''] = receivers.map(({ url }) => url)
  const attempts = [silent, answering, silent.replace('http:', 'https:')].map((url) => sender.post(url))
  await until(() => receivers.every(({ requests }) => requests === 1))
  // The first bytes of the answer arrive.
  await sleep(150)
  sender.abort()
  const results = await Promise.all(attempts)
  t.same(results.map(({ responseStatus, error }) => [responseStatus, error]), [[null, 'aborted'], [200, null], [null, 'aborted']])
  t.ok(results.every(({ ranMs }) => ranMs < 1000))
})
