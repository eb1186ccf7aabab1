import { gzipSync } from 'node:zlib'
import t from 'tap'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { type Answer, startReceiver } from '../../fixtures/receivers/receiver.js'

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

for (const [what, [answer, excerpt]] of Object.entries(answers)) {
  t.test(`of ${what}, the log shows ${excerpt === null ? 'nothing' : 'its beginning'}`, async (t) => {
    const { drain, emit, lastDelivery, receiver } = await startDelivering(t, { delivery: { responseExcerptBytes: 4096 } })
    receiver.answer(answer)
    await emit()
    await drain()
    const { attempts } = await lastDelivery()
    t.strictSame(attempts.map(({ response_excerpt: text }) => text), [excerpt])
  })
}

t.test('so many bytes are kept as the vendor wants, of successes too', async (t) => {
  for (const [responseExcerptBytes, excerpt] of [[0, null], [1, 'o'], [5, 'ok '], [6, 'ok ✓']] as const) {
    const { drain, emit, lastDelivery, receiver } = await startDelivering(t, { delivery: { responseExcerptBytes } })
    receiver.answer({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok ✓!!' })
    await emit()
    await drain()
    const { status, attempts } = await lastDelivery()
    t.strictSame([status, attempts[0]?.response_excerpt], ['delivered', excerpt])
  }
})

t.test('a body that never ends shows what came before the deadline', async (t) => {
  const { drain, emit, lastDelivery, receiver } = await startDelivering(t, { delivery: { responseExcerptBytes: 10, timeoutMs: 1000 } })
  receiver.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('so far')
  })
  await emit()
  await drain()
  t.match(await lastDelivery(), { status: 'delivered', attempts: [{ response_excerpt: 'so far' }] })
})

t.test('every answer is kept alike in PostgreSQL', async (t) => {
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

t.test('a response is shown in no line of the log', async (t) => {
  const machines = createMachines(t)
  const lines: unknown[] = []
  const log = (...line: unknown[]): void => { lines.push(line) }
  const receiver = await startReceiver(t)
  receiver.answer({ status: 503, headers: { 'content-type': 'text/plain' }, body: 'inner text' })
  const { emit, drain } = machines.start({ logger: { info: log, warn: log, error: log }, delivery: { responseExcerptBytes: 4096 } })
  await machines.addWebhook(receiver.url)
  await emit(event)
  await drain()
  t.match(JSON.stringify(lines), /delivery failed/)
  t.notMatch(JSON.stringify(lines), /inner text/)
})
