import t from 'tap'
import { RecruitingApiError, createRecruiting, isRecruitingApiError } from '../../src/index.js'

t.test('an error says which option is at fault, in a field and in its message', async (t) => {
  const error = t.throws(() => createRecruiting({ storage: null } as never))
  t.ok(error instanceof RecruitingApiError && error instanceof Error)
  t.match(error, { name: 'RecruitingApiError', code: 'invalid_option', field: 'storage', message: 'storage: expected an object, got null' })
})

t.test('an error without a field has an empty one', async (t) => {
  t.equal(new RecruitingApiError('closed', 'the engine is closed').field, '')
})

t.test('isRecruitingApiError knows an error of another copy of the package', async (t) => {
  const copy = Object.assign(new Error('closed'), { [Symbol.for('fastify-recruiting-api.error')]: true })
  t.ok(isRecruitingApiError(copy))
  t.ok(isRecruitingApiError(new RecruitingApiError('closed', 'the engine is closed')))
})

t.test('isRecruitingApiError knows nothing else', async (t) => {
  const values = [null, undefined, '', 'RecruitingApiError', 17, {}, [], new Error('closed'), { name: 'RecruitingApiError', code: 'closed' }, () => {}]
  for (const value of values) t.notOk(isRecruitingApiError(value))
})
