import { gzipSync } from 'node:zlib'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildConnector } from 'undici'
import t, { type Test } from 'tap'
import type { DeliveryOptions } from '../../../src/index.js'
import {
  type Connections, type Post, Attempt, createConnections, kTimeout
} from '../../../src/core/webhooks/sending/attempt.js'
import { parseRetryAfter } from '../../../src/core/webhooks/queue/attempt-delivery.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { type Answer, hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { brokenAnswers, oddAnswers } from '../../fixtures/hostile/hostile-answers.js'
import { dripOut, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { readUntil } from '../../fixtures/resources.js'

/** Sends one event to a receiver with this response, and returns its delivery. */
async function deliver (t: Test, answer: Answer, delivery: DeliveryOptions = {}) {
  const { drain, emit, lastDelivery, receiver } = await startDelivering(t, { delivery })
  receiver.answer(answer)
  await emit()
  await drain()
  return lastDelivery()
}

const outcomes: Array<[title: string, answer: Answer, status: number | null, error: string | null]> = [
  ['a 299', 299, 299, null], ['a 300', 300, 300, 'http_status'], ['a 404', 404, 404, 'http_status'],
  ['no answer within the deadline', hang, null, 'timeout']
]

for (const [title, answer, status, error] of outcomes) {
  t.test(`${title} is ${error === null ? 'a success' : 'a failure, to be retried'}`, async (t) => {
    const { attempts, ...delivery } = await deliver(t, answer, { timeoutMs: 150 })
    const ending = error === null ? 'delivered' : 'pending'
    t.match(delivery, { status: ending, attempt_count: 1, response_status: status, error })
    if (error !== 'timeout') return
    const { duration_ms: durationMs = 0 } = attempts[0] ?? {}
    t.ok(durationMs >= 149 && durationMs < 5000, `${durationMs} ms`)
  })
}

function send (type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(500, { ...headers, ...(type === undefined ? {} : { 'content-type': type }) })
    response.end(body)
  }
}

const long = 'é'.repeat(3000)

/** An endpoint's responses, and their excerpts of up to 4,096 bytes. */
const answers: Record<string, [answer: Answer, excerpt: string | null]> = {
  'plain text': [send('text/plain', 'out of order'), 'out of order'],
  'bytes without a type': [send(undefined, Buffer.from([0x6f, 0xff, 0x6b])), null],
  NUL: [send('text/plain', 'a\0b'), 'a\ufffdb'],
  'bytes that are not UTF-8': [send('text/plain', Buffer.from([0x61, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x62])), 'a\ufffd(\ufffd\ufffd\ufffdb'],
  'ISO 8859-1': [send('text/plain; charset=iso-8859-1', Buffer.from([0xe9])), 'é'],
  'an unknown charset': [send('text/plain; charset=klingon', 'qapla'), null],
  'a picture': [send('image/png', 'PNG'), null],
  'a compressed text': [send('text/plain', gzipSync('out of order'), { 'content-encoding': 'gzip' }), null],
  'no body': [send('text/plain', ''), null],
  'a text over the limit, cut inside a character': [send('text/plain', `x${long}`), `x${'é'.repeat(2047)}`],
  'a text that breaks off': [(response) => {
    response.writeHead(500, { 'content-type': 'text/plain', 'content-length': 100 })
    response.write('half', () => response.destroy())
  }, 'half'],
}

for (const [what, [answer, excerpt]] of Object.entries(answers)) {
  t.test(`the log shows ${excerpt === null ? 'nothing' : 'the beginning'} of ${what}`, async (t) => {
    const { attempts } = await deliver(t, answer, { responseExcerptBytes: 4096 })
    t.strictSame(attempts.map(({ response_excerpt: text }) => text), [excerpt])
  })
}

t.test('responseExcerptBytes of each response are stored, including successes', async (t) => {
  const answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok ✓!!' }
  for (const [responseExcerptBytes, excerpt] of [[0, null], [1, 'o'], [5, 'ok '], [6, 'ok ✓']] as const) {
    const { status, attempts } = await deliver(t, answer, { responseExcerptBytes })
    t.strictSame([status, attempts[0]?.response_excerpt], ['delivered', excerpt])
  }
})

const connect = buildConnector({})

function begin (post: Post, connections: Connections): { attempt: Attempt, ended: Promise<unknown> } {
  let settle = (_end: unknown): void => {}
  const ended = new Promise((resolve) => { settle = resolve })
  const attempt = new Attempt(post, 5000, connections, (answer, fault) => settle(answer ?? fault))
  attempt.start()
  return { attempt, ended }
}

t.test('a request aborted before it has a connection is not sent over a later one', async (t) => {
  const receiver = await startReceiver(t)
  const { origin, pathname: path } = new URL(receiver.url)
  let next = (): void => {}
  const connected = new Promise<void>((resolve) => { next = resolve })
  const connections = createConnections((options, callback) => {
    connect(options, (...result) => {
      late.attempt.end(kTimeout)
      callback(...result)
      next()
    })
  }, {})
  t.teardown(() => connections.close())
  const late = begin({ origin, path, tenantId: '', headers: [], body: 'late', excerptBytes: 0 }, connections)
  t.equal(await late.ended, kTimeout)
  await connected
  t.match(await begin({ origin, path, tenantId: '', headers: [], body: 'next', excerptBytes: 0 }, connections).ended, { status: 204 })
  t.same(receiver.requests.map(({ body }) => body), ['next'])
})

t.test('an attempt that undici rejects fails with its error', async (t) => {
  const connections = createConnections(connect, {})
  t.teardown(() => connections.close())
  const { ended } = begin({ origin: 'https://example.com', path: '/', tenantId: '', headers: ['webhook-id', 'line\nbreak'], body: '', excerptBytes: 0 }, connections)
  t.match(await ended, { code: 'UND_ERR_INVALID_ARG' })
})

const timeoutMs = 5000
const repaired = 'HTTP/1.1 204 No Content\r\n\r\n'

for (const [title, cases] of Object.entries({ 'a broken answer': brokenAnswers, 'an odd answer': oddAnswers })) {
  t.test(`${title} is reported immediately, and the next post is sent normally`, async (t) => {
    const sender = await startSender(t, { timeoutMs })
    for (const [what, answer] of Object.entries(cases)) {
      const { bytes, then, ...expected } = answer
      let isRepaired = false
      const receiver = await startHostileReceiver(t, {
        request (socket) {
          if (isRepaired) return socket.write(repaired)
          socket.write(bytes, typeof bytes === 'string' ? 'latin1' : undefined, () => {
            if (then === 'end') socket.end()
          })
        }
      })
      const { ranMs, ...result } = await sender.post(receiver.url)
      t.same(outcomeOf(result), expected, `a receiver that ${what}`)
      t.ok(ranMs < 1000, `${what}: ${ranMs} ms`)
      t.equal(receiver.requests, 1, 'it was sent once')

      isRepaired = true
      t.same(outcomeOf(await sender.post(receiver.url)), { responseStatus: 204, error: null }, `it ${what} no more`)
      t.equal(receiver.requests, 2)
    }
  })
}

t.test('informational responses are skipped, even in pieces', async (t) => {
  const receiver = await startHostileReceiver(t, {
    request: (socket) =>
      dripOut(socket, `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nx: y\r\n\r\n${repaired}`, 1)
  })
  const { post } = await startSender(t)
  for (const count of [1, 2]) {
    t.same(outcomeOf(await post(receiver.url)), delivered)
    t.equal(receiver.requests, count)
  }
})

t.test('a response that arrives while the process is paused is read, even after the deadline', async (t) => {
  const { url } = await startHostileReceiver(t, {
    request (socket) {
      socket.write(repaired)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  })
  const { post } = await startSender(t)
  t.same(outcomeOf(await post(url, { timeoutMs: 100 })), delivered)
})

t.test('the path and the query are sent as stored', async (t) => {
  const receiver = await startReceiver(t)
  const { post } = await startSender(t)
  const paths = ['/hook?', '/?', '/a?b=%20c&d', '/']
  for (const path of paths) await post(`http://127.0.0.1:${receiver.port}${path}`)
  t.same(receiver.requests.map(({ path }) => path), paths)
})

t.test('4 KiB of a response are read, and a connection with more is closed', async (t) => {
  for (const [length, kept] of [[4096, 1], [4097, 0]] as const) {
    const receiver = await startHostileReceiver(t, {
      request: (socket) => { socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(length)}`) }
    })
    const { post } = await startSender(t)
    t.strictSame(outcomeOf(await post(receiver.url)), { responseStatus: 200, error: null }, `${length} bytes`)
    // The receiver notices after a moment.
    if (kept > 0) await sleep(100)
    t.equal(await readUntil(() => receiver.open, kept), kept, `connections left open after a response of ${length} bytes`)
  }
})

t.test('a request in flight is aborted, even after a receiver closed the connection after a long response', async (t) => {
  const page = `HTTP/1.1 500 Error\r\nconnection: close\r\ncontent-length: 5000\r\n\r\n${'x'.repeat(5000)}`
  const closing = await startHostileReceiver(t, { request: (socket) => { socket.end(page) } })
  const silent = await startHostileReceiver(t, { request: () => {} })
  const sender = await startSender(t)
  const waiting = sender.post(silent.url)
  t.equal(await readUntil(() => silent.requests, 1), 1)
  t.match(outcomeOf(await sender.post(closing.url)), { responseStatus: 500 })
  sender.abort()
  t.match(outcomeOf(await waiting), { responseStatus: null, error: 'aborted' })
})

t.test('Retry-After is read unchanged from a single header', async (t) => {
  const sender = await startSender(t)
  let lines = ''
  const { url } = await startHostileReceiver(t, {
    request: (socket) => socket.write(`HTTP/1.1 503 No\r\n${lines}content-length: 0\r\n\r\n`, 'latin1')
  })
  for (const [header, seconds] of [
    ['', null], ['RETRY-AFTER:   120  \r\n', 120], ['retry-after:\r\n', null], ['retry-after: \xb9\xb2\xb0\r\n', null],
    [`retry-after: ${'a'.repeat(10_000)}\r\n`, null], ['retry-after: 120\r\nretry-after: 120\r\n', null]
  ] as const) {
    lines = header
    const { responseStatus, error, retryAfter } = await sender.post(url)
    t.same({ responseStatus, error }, { responseStatus: 503, error: 'http_status' })
    t.equal(parseRetryAfter(retryAfter, Date.now()), seconds === null ? null : seconds * 1000, header.slice(0, 40))
  }
})
