import t from 'tap'
import { HttpError } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, buildApp, keys, tenants } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { hostileErrors } from '../../fixtures/hostile/hostile-errors.js'
import { captureLogs } from '../../fixtures/api/logs.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../../fixtures/api/routes.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'

const url = '/api/v1/public/acme/candidates'

const thrown: Record<string, unknown> = {
  'an error': new Error('canary'),
  'an error with statusCode 404': Object.assign(new Error('canary'), { statusCode: 404 }),
  'an error with status 400': Object.assign(new Error('canary'), { status: 400, statusCode: 400 }),
  'an error with statusCode 200': Object.assign(new Error('canary'), { statusCode: 200 }),
  'an error of a validator': Object.assign(new Error('canary'), { validation: [], validationContext: 'body', code: 'FST_ERR_VALIDATION' }),
  'an error that a body is too large': Object.assign(new Error('canary'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 }),
  'an error of the media type': Object.assign(new Error('canary'), { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE', statusCode: 415 }),
  'an error of the content length': Object.assign(new Error('canary'), { code: 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' }),
  'an error of Fastify': Object.assign(new Error('canary'), { code: 'FST_ERR_NOT_FOUND' }),
  'an error named like ours': Object.assign(new Error('canary'), { code: 'not_found', details: [] }),
  'an error with headers': Object.assign(new Error('canary'), { headers: { 'x-canary': 'canary', 'content-type': 'text/html' } }),
  null: null,
  undefined,
  'a string': 'canary',
  'a number': 404,
  'an object': { canary: true, statusCode: 404, code: 'not_found' },
  'a symbol': Symbol('canary'),
  'an object without a prototype': Object.assign(Object.create(null), { canary: true })
}

const ways: Record<string, (error: unknown) => unknown> = {
  'thrown by' (error) { throw error },
  'rejected by': (error) => Promise.reject(error)
}

for (const [way, fail] of Object.entries(ways)) {
  t.test(`whatever is ${way} the storage gets 500, is logged with the request id and never sent`, async (t) => {
    let error: unknown
    const logs = captureLogs()
    const storage = memoryStorage({ tenants })
    storage.candidates.list = () => fail(error) as never
    const app = await buildApp(t, { storage, server: { logger: logs.logger } })
    for (const [what, value] of Object.entries({ ...thrown, ...hostileErrors })) {
      error = value
      logs.lines.length = 0
      const answer = await app.inject({ url, headers: bearer(keys.full) })
      checkError(t, answer, 500, what)
      t.notMatch(JSON.stringify([answer.headers, answer.body]), 'canary', `${what} is not sent`)
      const failures = logs.lines.filter(({ level }) => level === 50)
      t.same(failures.map((line) => [line.msg, line.request_id]), [['request failed', answer.headers['x-request-id']]], `${what} is logged with the request id`)
      if (what in thrown && value instanceof Error) t.same(failures.map(({ err }) => err?.message), ['canary'], `${what} is logged`)
    }
  })

  t.test(`whatever is ${way} the key lookup gets 500 and is logged with the request id, without the key`, async (t) => {
    let error: unknown
    const logs = captureLogs()
    const app = await buildApp(t, { keyLookup: () => fail(error) as never, server: { logger: logs.logger } })
    for (const [what, value] of Object.entries({ ...thrown, ...hostileErrors })) {
      error = value
      logs.lines.length = 0
      const answer = await app.inject({ url, headers: bearer(keys.full) })
      checkError(t, answer, 500, what)
      t.notMatch(JSON.stringify([answer.headers, answer.body]), 'canary', `${what} is not sent`)
      const failures = logs.lines.filter(({ level }) => level === 50)
      t.same(failures.map((line) => [line.msg, line.request_id]), [['request failed', answer.headers['x-request-id']]], `${what} is logged with the request id`)
    }
    t.notMatch(logs.text(), keys.full, 'the key is not logged')
  })
}

t.test('every operation answers a storage that fails with 500', async (t) => {
  const { storage } = spyStorage(undefined, () => Promise.reject(Object.assign(new Error('down'), { statusCode: 404 })))
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  const bodies: Record<string, object> = {
    'POST /webhooks': { name: 'Another', target_url: 'https://example.com/', event_types: ['job.created'] },
    'PATCH /webhooks/:id': { name: 'Renamed' }
  }
  // The catalogue is in no storage.
  for (const route of routes.filter(({ method, path }) => method !== 'HEAD' && path !== '/event_types')) {
    const payload = bodies[titleOf(route)]
    const answer = await app.inject({
      method: route.method as 'GET',
      url: urlOf(route),
      headers: bearer(keys.full),
      ...(payload === undefined ? {} : { payload })
    })
    checkError(t, answer, 500, titleOf(route))
  }
})

t.test('a row that breaks its schema gets 500, and what it holds is not sent', async (t) => {
  for (const row of [{ id: 'canary' }, { id: 1 }, { id: 1, full_name: 'canary' }, { id: {}, full_name: 'canary', headline: null, source_id: null }, 'canary']) {
    const storage = memoryStorage({ tenants })
    storage.candidates.list = async () => [row] as never
    const app = await buildApp(t, { storage })
    const answer = await app.inject({ url, headers: bearer(keys.full) })
    checkError(t, answer, 500, JSON.stringify(row))
    t.equal(answer.headers.link, undefined)
  }
})

t.test('a lookup that resolves to nothing at all is a 401', async (t) => {
  for (const owner of [null, undefined]) {
    const app = await buildApp(t, { keyLookup: async () => owner as null })
    checkError(t, await app.inject({ url, headers: bearer(keys.full) }), 401)
  }
})

t.test('a lookup that gives an owner without scopes is a 500', async (t) => {
  for (const owner of [{}, { id: 'a' }, { id: 'a', scopes: null }, true, 'candidates:read']) {
    const app = await buildApp(t, { keyLookup: async () => owner as never })
    checkError(t, await app.inject({ url, headers: bearer(keys.full) }), 500, JSON.stringify(owner))
  }
})

t.test('a lookup that gives an owner who cannot be read is a 500', async (t) => {
  const owner = { id: 'a', get scopes () { throw Object.assign(new Error('canary'), { statusCode: 404 }) } }
  const app = await buildApp(t, { keyLookup: async () => owner as never })
  for (const path of ['/api/v1/public/acme/jobs', '/api/v1/public/acme/nothing']) {
    checkError(t, await app.inject({ url: path, headers: bearer(keys.full) }), 500)
  }
})

t.test('a lookup that throws an HttpError is a 500 as well', async (t) => {
  const app = await buildApp(t, { keyLookup: async () => { throw new HttpError('not_found') } })
  checkError(t, await app.inject({ url, headers: bearer(keys.full) }), 500)
})

t.test('a lookup whose scopes are text lets nobody in by a part of it', async (t) => {
  const app = await buildApp(t, { keyLookup: async () => ({ id: 'a', scopes: 'candidates:readonly' }) as never })
  const answer = await app.inject({ url, headers: bearer(keys.full) })
  checkError(t, answer, 500)
})
