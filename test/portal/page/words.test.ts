import t from 'tap'
import { en } from '../../../src/portal/messages/en.js'
import { createFormat, prettyJson } from '../../../src/portal/page/text.js'
import { adviceFor, describeResult, healthWord, isErased, knownError, statusHint, toneOf } from '../../../src/portal/page/words.js'

t.test('a webhook has one word for its health', (t) => {
  const health = { failing_since: null, failed_deliveries: 0, paused_until: null, disabled_reason: null }
  t.strictSame(healthWord('active', null), { tone: 'good', word: 'active' })
  t.strictSame(healthWord('active', health), { tone: 'good', word: 'active' })
  t.strictSame(healthWord('active', { ...health, failing_since: '2026-03-01T09:30:00.000Z' }), { tone: 'waiting', word: 'failing' })
  t.strictSame(healthWord('active', { ...health, held: true }), { tone: 'waiting', word: 'held' })
  t.strictSame(healthWord('inactive', { ...health, held: true }), { tone: 'off', word: 'paused' })
  t.strictSame(healthWord('disabled', { ...health, disabled_reason: 'gone' }), { tone: 'bad', word: 'disabled' })
  t.end()
})

t.test('a status has a tone, and none shares that of a success', (t) => {
  t.strictSame((['pending', 'delivered', 'failed', 'skipped', 'cancelled'] as const).map(toneOf), ['waiting', 'good', 'bad', 'off', 'off'])
  t.end()
})

t.test('an attempt says how it ended, and what to try unless it succeeded', (t) => {
  const format = createFormat({ messages: en, locale: 'en', direction: 'ltr' })
  const unanswered = (error: string) => ({ response_status: null, error: error as 'timeout' })
  const answered = (status: number) => ({ response_status: status, error: status < 300 ? null : 'http_status' as const })
  t.equal(describeResult({ response_status: null, error: null }, format), null)
  t.equal(describeResult(answered(204), format), 'Returned \u2068204\u2069')
  t.equal(describeResult(answered(500), format), 'Returned \u2068500\u2069')
  t.equal(describeResult(unanswered('timeout'), format), 'Timed out')
  t.equal(describeResult(unanswered('of a later version'), format), 'Connection failed')
  const { errors, statuses } = en.test
  t.strictSame([204, 301, 500, 422].map((status) => adviceFor(answered(status), en.test)), [null, statuses.redirect, statuses.server, errors.http_status.text])
  t.equal(adviceFor(unanswered('timeout'), en.test), errors.timeout.text)
  t.end()
})

t.test('JSON is indented and keeps its numbers, escapes and repeated names', (t) => {
  t.equal(
    prettyJson('{"id":12345678901234567890,"a":[1.50,{}, [] ,"x\\"]y\\u00e9"],"a":null}'),
    '{\n  "id": 12345678901234567890,\n  "a": [\n    1.50,\n    {},\n    [],\n    "x\\"]y\\u00e9"\n  ],\n  "a": null\n}'
  )
  t.equal(prettyJson('"text"'), '"text"')
  t.equal(prettyJson('{not json'), '{not json')
  t.end()
})

t.test('only a tombstone says that its event was erased', (t) => {
  t.ok(isErased('{"id":"evt_1","data":null,"erased":true}'))
  for (const body of ['{"data":{"erased":true}}', '{"erased":1}', 'null', 'erased']) t.notOk(isErased(body))
  t.end()
})

t.test('a status that is a failure has a hint, unless nothing is known about it', (t) => {
  t.strictSame([301, 401, 404, 405, 410, 429, 503, 500, 599].map(statusHint), ['redirect', 'credentials', 'notFound', 'method', 'gone', 'busy', 'busy', 'server', 'server'])
  t.equal(statusHint(418), null)
  t.end()
})

t.test('an unknown error is told as one of the connection', (t) => {
  t.strictSame(['tls', 'blocked', 'held', 'toString', 'new'].map((error) => knownError(error, en.test.errors)), ['tls', 'blocked', 'held', 'connection', 'connection'])
  t.end()
})
