import Fastify from 'fastify'
import t from 'tap'
import { toLoggableError } from '../../../src/observe/call-host.js'
import { createSafeLogger } from '../../../src/observe/logger.js'
import { hostileErrors } from '../../fixtures/hostile/hostile-errors.js'

interface Line {
  msg: string
  err: { message: string, stack: string, code?: string, name?: string, aggregateErrors?: Array<{ message: string }> }
}

function logged (thrown: unknown): Line {
  const lines: string[] = []
  const { log } = Fastify({ logger: { stream: { write (line) { lines.push(line) } } } })
  createSafeLogger(log).error({ err: thrown }, 'failed')
  return JSON.parse(lines.join(''))
}

t.test('an error is logged with its name, message, stack, code and causes, and with nothing else that hangs on it', async (t) => {
  const cause = Object.assign(new Error('no route to host'), { code: 'EHOSTUNREACH', detail: 'canary' })
  const error = Object.assign(new RangeError('storage failed', { cause }), { code: 'E1', detail: 'canary', request: { body: 'canary' } })
  const { msg, err } = logged(error)
  t.equal(msg, 'failed')
  t.match(err, { name: 'RangeError', code: 'E1', message: 'storage failed: no route to host' })
  t.equal(err.stack, `${error.stack}\ncaused by: ${cause.stack}`)
  t.notMatch(JSON.stringify(err), 'canary')
})

t.test('the errors of an AggregateError are logged, ten of them at most', async (t) => {
  const errors = Array.from({ length: 12 }, (_, index) => new Error(`address ${index}`))
  t.same(logged(new AggregateError(errors)).err.aggregateErrors?.map(({ message }) => message), errors.slice(0, 10).map(({ message }) => message))
})

t.test('values that are no errors are logged as text', async (t) => {
  for (const [value, text] of [
    [null, 'null'], [undefined, 'undefined'], ['', ''], ['text', 'text'], [404, '404'], [1n, '1'], [Symbol('s'), 'Symbol(s)'],
    [{ any: true }, 'an object without a readable message was thrown'], [{ message: null }, 'an object without a readable message was thrown'],
    [{ message: 5, code: 7 }, '5']
  ]) {
    t.equal(logged(value).err.message, text)
  }
  t.equal(logged({ message: 5, code: 7 }).err.code, '7')
})

for (const [what, thrown] of Object.entries(hostileErrors)) {
  t.test(`${what} is logged in one line`, async (t) => {
    const copy = toLoggableError(thrown)
    t.ok(copy instanceof Error && copy !== thrown)
    t.type(logged(thrown).err.message, 'string')
  })
}
