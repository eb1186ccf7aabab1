import t from 'tap'
import { parseRetryAfter } from '../../src/webhooks/queue/outcome.js'
import { startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'
import { startSender } from '../fixtures/hostile/hostile-sender.js'

const dayMs = 24 * 60 * 60 * 1000
const now = Date.parse('2026-03-01T12:00:00.000Z')

/** The lines of an answer, and the milliseconds to wait that they ask for. */
const cases: Array<[title: string, lines: string, waitMs: number | null]> = [
  ['no Retry-After', '', null],
  ['seconds', 'retry-after: 120', 120_000],
  ['seconds in capitals and with blanks', 'RETRY-AFTER:   120  ', 120_000],
  ['seconds with zeros before them', 'retry-after: 0000120', 120_000],
  ['no seconds', 'retry-after: 0', null],
  ['one second', 'retry-after: 1', 1000],
  ['more than a day', 'retry-after: 1000000', dayMs],
  ['more seconds than numbers hold', `retry-after: ${'9'.repeat(400)}`, dayMs],
  ['a date in the form of today', 'retry-after: Sun, 01 Mar 2026 12:02:00 GMT', 120_000],
  ['a date in the form of RFC 850', 'retry-after: Sunday, 01-Mar-26 12:02:00 GMT', 120_000],
  ['a date in the form of asctime', 'retry-after: Sun Mar  1 12:02:00 2026', 120_000],
  ['a date in the past', 'retry-after: Sun, 01 Mar 2026 11:59:00 GMT', null],
  ['a date of long ago', 'retry-after: Thu, 01 Jan 1970 00:00:00 GMT', null],
  ['a date in a hundred years', 'retry-after: Fri, 01 Mar 2126 12:00:00 GMT', dayMs],
  ['a date that does not exist', 'retry-after: Xyz, 99 Foo 2026 99:99:99 GMT', null],
  ['a date of RFC 3339', 'retry-after: 2026-03-01T12:02:00Z', null],
  ['negative seconds', 'retry-after: -120', null],
  ['seconds with a sign', 'retry-after: +120', null],
  ['a fraction', 'retry-after: 1.5', null],
  ['an exponent', 'retry-after: 1e3', null],
  ['hexadecimal', 'retry-after: 0x78', null],
  ['a unit', 'retry-after: 120s', null],
  ['a list', 'retry-after: 120, 240', null],
  ['a word', 'retry-after: soon', null],
  ['Infinity', 'retry-after: Infinity', null],
  ['NaN', 'retry-after: NaN', null],
  ['nothing', 'retry-after:', null],
  ['blanks', 'retry-after:    ', null],
  ['bytes beyond ASCII', 'retry-after: \xb9\xb2\xb0', null],
  ['ten thousand characters', `retry-after: ${'a'.repeat(10_000)}`, null],
  ['two of them', 'retry-after: 120\r\nretry-after: 240', null],
  ['the same twice', 'retry-after: 120\r\nretry-after: 120', null],
  ['a name that only looks like it', 'retry_after: 120', null]
]

for (const status of [410, 429, 503, 200]) {
  t.test(`a ${status} may carry any Retry-After, and a malformed one is as none`, async (t) => {
    const sender = await startSender(t)
    let lines = ''
    const { url } = await startHostileReceiver(t, {
      request: (socket) => socket.write(`HTTP/1.1 ${status} What\r\n${lines === '' ? '' : `${lines}\r\n`}content-length: 0\r\n\r\n`, 'latin1')
    })
    for (const [title, header, waitMs] of cases) {
      lines = header
      const { responseStatus, error, retryAfter } = await sender.post(url)
      t.same({ responseStatus, error }, { responseStatus: status, error: status === 200 ? null : 'http_status' }, title)
      t.equal(parseRetryAfter(retryAfter, now), waitMs, title)
    }
  })
}
