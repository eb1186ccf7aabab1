import { Type } from '@sinclair/typebox'
import t from 'tap'
import { HttpError } from '../../src/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { type Teardown, bearer, buildApp, keys } from '../fixtures/api/app.js'

const url = '/api/v1/public/acme/fails'
const headers = bearer(keys.full)

/** A host with an operation that throws; the document has no place for all that it may throw. */
function buildThrowing (t: Teardown, thrown: () => unknown) {
  return buildApp(t, {
    openapi: false,
    errorDetails: true,
    async routes (app) {
      app.post('/fails', { config: { scopes: [] }, schema: { response: { 200: Type.Object({}) } } }, async () => { throw thrown() })
    }
  })
}

t.test('each code is answered with its status and message', async (t) => {
  let code: HttpError['code'] = 'not_found'
  const app = await buildThrowing(t, () => new HttpError(code))
  for (const [known, status] of [
    ['unauthorized', 401], ['forbidden', 403], ['not_found', 404], ['conflict', 409], ['rate_limited', 429], ['internal_error', 500], ['unavailable', 503]
  ] as const) {
    code = known
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: {} }), status)
  }
})

t.test('a conflict is part of the document of operations that change something', async (t) => {
  const app = await buildApp(t, {
    async routes (app) {
      app.post('/fails', { config: { scopes: [] }, schema: { response: { 200: Type.Object({}) } } }, async () => { throw new HttpError('conflict') })
    }
  })
  checkError(t, await app.inject({ method: 'POST', url, headers, payload: {} }), 409)
})

t.test('an unknown code fails where the error is made, and the message names those that there are', async (t) => {
  for (const [code, shown] of [['teapot', '"teapot"'], ['toString', '"toString"'], [404, '404'], [undefined, 'undefined']]) {
    t.throws(() => new HttpError(code as never), {
      name: 'RecruitingApiError',
      code: 'invalid_option',
      field: 'code',
      message: `code: expected one of bad_request, unauthorized, forbidden, not_found, conflict, sync_token_expired, rate_limited, internal_error, unavailable, got ${shown}`
    })
  }
})

t.test('an HttpError of another copy of the package is answered alike', async (t) => {
  const brand = { [Symbol.for('fastify-recruiting-api.http-error')]: true }
  const detail = { in: 'body', field: 'place', message: 'is taken' } as const
  const app = await buildThrowing(t, () => Object.assign(new Error('copy'), brand, { code: 'bad_request', details: [detail] }))
  t.same((await app.inject({ method: 'POST', url, headers, payload: {} })).json().error.details, [detail])
})

t.test('an HttpError of another copy whose code or details are not known here is a 500', async (t) => {
  const brand = { [Symbol.for('fastify-recruiting-api.http-error')]: true }
  let fields: object = {}
  const app = await buildThrowing(t, () => Object.assign(new Error('copy'), brand, fields))
  for (const unknown of [{}, { code: 'teapot', details: [] }, { code: 'not_found' }, { code: 'not_found', details: [null] }, { code: 'constructor', details: [] }]) {
    fields = unknown
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: {} }), 500, JSON.stringify(unknown))
  }
})

t.test('details that are no text are answered as text', async (t) => {
  const app = await buildThrowing(t, () => new HttpError('bad_request', [{ in: 'body', field: 1n, message: Symbol('taken') }] as never))
  t.same((await app.inject({ method: 'POST', url, headers, payload: {} })).json().error.details, [{ in: 'body', field: '1', message: 'Symbol(taken)' }])
})
