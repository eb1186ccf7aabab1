import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { type Answer } from '../../fixtures/receivers/receiver.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { brokenAnswers, oddAnswers } from '../../fixtures/hostile/hostile-answers.js'
import { startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { startSender } from '../../fixtures/hostile/hostile-sender.js'

function send (type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(500, { ...headers, ...(type === undefined ? {} : { 'content-type': type }) })
    response.end(body)
  }
}

const long = 'é'.repeat(3000)

/** What an endpoint answers, and what is kept of it with 4,096 bytes. */
const answers: Record<string, [answer: Answer, excerpt: string | null]> = {
  'plain text': [send('text/plain', 'out of order'), 'out of order'],
  JSON: [send('application/json; charset=utf-8', '{"error":"\\u0000 \\ud800"}'), '{"error":"\\u0000 \\ud800"}'],
  'a JSON problem': [send('application/problem+json', '{"title":"no"}'), '{"title":"no"}'],
  XML: [send('application/xml', '<e/>'), '<e/>'],
  HTML: [send('TEXT/HTML;charset="UTF-8"', '<p>é😀'), '<p>é😀'],
  'a form': [send('application/x-www-form-urlencoded', 'a=b'), 'a=b'],
  'UTF-8 without a type': [send(undefined, 'ok'), 'ok'],
  'bytes without a type': [send(undefined, Buffer.from([0x6f, 0xff, 0x6b])), null],
  NUL: [send('text/plain', 'a\0b'), 'a\ufffdb'],
  'bytes that are no UTF-8': [send('text/plain', Buffer.from([0x61, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x62])), 'a\ufffd(\ufffd\ufffd\ufffdb'],
  'half a character at the end': [send('text/plain', Buffer.from('ok é').subarray(0, 4)), 'ok '],
  'ISO 8859-1': [send('text/plain; charset=iso-8859-1', Buffer.from([0xe9])), 'é'],
  'UTF-16 with half a pair': [send('text/plain; charset=utf-16le', Buffer.from([0x41, 0, 0, 0xd8, 0x42, 0])), 'A\ufffdB'],
  'an unknown charset': [send('text/plain; charset=klingon', 'qapla'), null],
  'control characters': [send('text/plain', '\u0001\u001b[2J\r\n\u2028\u202e'), '\u0001\u001b[2J\r\n\u2028\u202e'],
  'a picture': [send('image/png', 'PNG'), null],
  'a type of its own': [send('application/jsonx', 'x'), null],
  'a compressed text': [send('text/plain', gzipSync('out of order'), { 'content-encoding': 'gzip' }), null],
  'a text that is not compressed, as it says': [send('text/plain', 'plain', { 'content-encoding': 'identity' }), 'plain'],
  'no body': [send('text/plain', ''), null],
  'a text over the limit': [send('text/plain', long), 'é'.repeat(2048)],
  'a text over the limit, cut within a character': [send('text/plain', `x${long}`), `x${'é'.repeat(2047)}`],
  'a text that breaks off': [(response) => {
    response.writeHead(500, { 'content-type': 'text/plain', 'content-length': 100 })
    response.write('half', () => response.destroy())
  }, 'half'],
  'no answer': [(response) => response.destroy(), null]
}

t.test('every response is stored unchanged in PostgreSQL', async (t) => {
  const { pool } = await startPostgresHost(t)
  const storage = postgresStorage(pool)
  const { drain, emit, lastDelivery, receiver } = await startDelivering(t, { storage, delivery: { responseExcerptBytes: 4096, retrySchedule: [0] } })
  for (const [what, [answer, excerpt]] of Object.entries(answers)) {
    receiver.answer(answer)
    await emit()
    await drain()
    const { attempts } = await lastDelivery()
    t.strictSame(attempts.map(({ response_excerpt: text }) => text), [excerpt], what)
  }
})

const timeoutMsAnyAnswer = 100
const texts = Object.values({ ...brokenAnswers, ...oddAnswers }).map(({ bytes }) => Buffer.from(bytes.slice(0, 500)).toString('latin1'))

/** Pieces of answers in any order, in any number of packets. */
const anyAnswer = fc.record({
  packets: fc.array(fc.oneof(
    fc.constantFrom(...texts),
    fc.constantFrom('HTTP/1.1 ', '200 OK', '\r\n', '\r\n\r\n', 'content-length: 3', 'transfer-encoding: chunked', 'connection: upgrade', '0', 'ff', ':', '\0'),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
  ), { maxLength: 8 }),
  isEnded: fc.boolean()
})

t.test('every response of a receiver gives the attempt a result within the deadline', async (t) => {
  const sender = await startSender(t, { timeoutMs: timeoutMsAnyAnswer })
  let answer: { packets: string[], isEnded: boolean } = { packets: [], isEnded: true }
  const { url } = await startHostileReceiver(t, {
    request (socket) {
      const { packets, isEnded } = answer
      const write = (index: number): void => {
        const packet = packets[index]
        if (socket.destroyed) return
        if (packet !== undefined) socket.write(packet, 'latin1', () => write(index + 1))
        else if (isEnded) socket.end()
      }
      write(0)
    }
  })
  const errors = new Set<unknown>()
  await fc.assert(fc.asyncProperty(anyAnswer, async (next) => {
    answer = next
    const { responseStatus, error, ranMs } = await sender.post(url)
    errors.add(error)
    const isSuccess = responseStatus !== null && responseStatus >= 200 && responseStatus <= 299
    const isFailure = responseStatus !== null && responseStatus >= 300 && responseStatus <= 999
    const expected = isSuccess ? [null] : isFailure ? ['http_status'] : ['connection', 'timeout']
    return expected.includes(error as never) && ranMs < timeoutMsAnyAnswer + 1000
  }), { numRuns: 300, interruptAfterTimeLimit: 6000, endOnFailure: true })
  t.ok(errors.has('connection'), [...errors].join(' '))
})
