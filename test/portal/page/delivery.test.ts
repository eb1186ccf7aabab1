import t from 'tap'
import { en } from '../../../src/portal/messages/en.js'
import { adviceFor, answerWords, toneOf } from '../../../src/portal/page/delivery-words.js'
import { isErased } from '../../../src/portal/page/screens/delivery/erased.js'
import { createFormat } from '../../../src/portal/page/text/format.js'
import { prettyJson } from '../../../src/portal/page/text/pretty-json.js'

t.test('a status has a tone, and none shares that of a success', (t) => {
  t.strictSame((['pending', 'delivered', 'failed', 'skipped', 'cancelled'] as const).map(toneOf), ['waiting', 'good', 'bad', 'off', 'off'])
  t.end()
})

t.test('an attempt says how it ended, and what to try unless it succeeded', (t) => {
  const format = createFormat({ messages: en, locale: 'en', direction: 'ltr' })
  const unanswered = (error: string) => ({ response_status: null, error: error as 'timeout' })
  const answered = (status: number) => ({ response_status: status, error: status < 300 ? null : 'http_status' as const })
  t.equal(answerWords({ response_status: null, error: null }, format), null)
  t.equal(answerWords(answered(204), format), 'Answered \u2068204\u2069')
  t.equal(answerWords(answered(500), format), 'Answered \u2068500\u2069')
  t.equal(answerWords(unanswered('timeout'), format), 'No answer in time')
  t.equal(answerWords(unanswered('of a later version'), format), 'No connection')
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
