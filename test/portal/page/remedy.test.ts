import t from 'tap'
import { en } from '../../../src/portal/messages/en.js'
import { knownError, statusHint } from '../../../src/portal/page/screens/endpoint/remedy.js'

t.test('a status that is a failure has a hint, unless nothing is known about it', (t) => {
  t.strictSame([301, 401, 404, 405, 410, 429, 503, 500, 599].map(statusHint), ['redirect', 'credentials', 'notFound', 'method', 'gone', 'busy', 'busy', 'server', 'server'])
  t.equal(statusHint(418), null)
  t.end()
})

t.test('an unknown error is told as one of the connection', (t) => {
  t.strictSame(['tls', 'blocked', 'toString', 'new'].map((error) => knownError(error, en.test.errors)), ['tls', 'blocked', 'connection', 'connection'])
  t.end()
})
