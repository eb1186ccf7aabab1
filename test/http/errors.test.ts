import { Type } from '@sinclair/typebox'
import t from 'tap'
import { HttpError, RecruitingApiError } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { hostileErrors } from '../fixtures/hostile/hostile-errors.js'
import { buildAppWithRoutes, requestTo, titleOf } from '../fixtures/api/routes.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const base = '/api/v1/public/acme'

interface Case {
  method?: 'POST' | 'PATCH'
  path: string
  payload?: string
  type?: string
  details: Array<{ in: string, field: string, message: string }>
}

const body = { name: 'ATS events', target_url: 'https://example.com/', event_types: ['job.created'] }

function query (path: string, ...faults: Array<[field: string, message: string]>): Case {
  return { path, details: faults.map(([field, message]) => ({ in: 'query', field, message })) }
}

function post (payload: string | object, ...faults: Array<[field: string, message: string]>): Case {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const details = faults.map(([field, message]) => ({ in: 'body', field, message }))
  return { method: 'POST', path: '/webhooks', payload: text, details }
}

const dateTime = 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z'

const cases: Record<string, Case> = {
  'two faults': query('/candidates?page=0&per_page=x', ['page', 'must be >= 1'], ['per_page', 'must be integer']),
  'an unknown parameter': query('/jobs?filter[unknown]=x', ['filter[unknown]', 'is not known']),
  'a repeated parameter': query('/jobs?page=1&page=1', ['page', 'is given more than once']),
  'a query that is not UTF-8':
    query('/jobs?page=%ff', ['', 'contains text that is not percent-encoded UTF-8, or a NUL']),
  'a repeated sort field': query('/jobs?sort=name,-name', ['sort', 'names name more than once']),
  'a long search': query(`/jobs?filter[q]=${'x'.repeat(201)}`, ['filter[q]', 'must be at most 200 characters']),
  'a date out of range': query('/jobs?filter[updated_after]=0000-01-01T00:00:00Z', ['filter[updated_after]', dateTime]),
  'an unknown status': query(
    '/webhooks?filter[status]=gone', ['filter[status]', 'must be one of active, inactive, disabled']
  ),
  'an id that is not a number': { path: '/webhooks/x', details: [{ in: 'path', field: 'id', message: 'must be integer' }] },
  'malformed JSON': post('{"name": canary', ['', 'is not valid JSON']),
  'half of a surrogate pair': post('{"name":"\\ud800"}', ['name', 'contains a NUL or half of a surrogate pair']),
  'another media type': { ...post('canary', ['', 'must be application/json']), type: 'text/plain' },
  'a body that is too large': post('x'.repeat(65537), ['', 'must be at most 64 KiB']),
  'a body that is not an object': post('[]', ['', 'must be object']),
  'missing fields': post({ name: 'ATS events' }, ['target_url', 'is required'], ['event_types', 'is required']),
  'an unknown field': post({ ...body, 'a/b~c': 1 }, ['a/b~c', 'is not known']),
  'a fault within an array': post({ ...body, event_types: ['job.created', 7] }, ['event_types[1]', 'must be string']),
  'an unknown event type': post(
    { ...body, event_types: ['job.created', 'job.eaten'] }, ['event_types[1]', 'must be an event type of the catalogue']
  ),
  'a private host': post({ ...body, target_url: 'https://localhost/' }, ['target_url', 'must point to a public host']),
  'an empty change': {
    ...post({}, ['', 'must NOT have fewer than 1 properties']), method: 'PATCH', path: '/webhooks/1'
  }
}

function requestOf ({ method, path, payload, type = 'application/json' }: Case) {
  const headers = { ...bearer(keys.full), ...(payload === undefined ? {} : { 'content-type': type }) }
  return { method: method ?? 'GET', url: base + path, headers, ...(payload === undefined ? {} : { payload }) } as const
}

t.test('with errorDetails, a 400 contains the faults of the request, but none of its values', async (t) => {
  const app = await buildApp(t, { errorDetails: true })
  for (const [what, known] of Object.entries(cases)) {
    const answer = await app.inject(requestOf(known))
    t.equal(answer.statusCode, 400, what)
    t.same(answer.json(), {
      error: {
        code: 'bad_request',
        message: 'Validation failed for request payload',
        request_id: answer.headers['x-request-id'],
        details: known.details
      }
    }, what)
  }
})

t.test('without errorDetails, the first fault is only logged, at level info with the request id', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { server: { logger: logs.logger } })
  for (const [what, known] of Object.entries(cases)) {
    logs.lines.length = 0
    const answer = await app.inject(requestOf(known))
    checkError(t, answer, 400, what)
    const rejections = logs.lines.filter(({ msg }) => msg === 'request rejected')
    t.same(rejections.map(({ level, request_id: id, details }) => ({ level, id, details })), [
      { level: 30, id: answer.headers['x-request-id'], details: known.details.slice(0, 1) }
    ], what)
  }
  t.notMatch(logs.text(), 'canary', 'no body is logged')
})

/** As many numbers as fit into a body. */
const numbers = Array.from({ length: 32_000 }, (_, index) => index % 10)

t.test('a 400 has at most 20 details; without errorDetails, one is logged', async (t) => {
  const unknownFields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, 1]))
  for (const [fields, details] of [[{ event_types: numbers }, 20], [unknownFields, 1]] as const) {
    const request = requestOf(post(fields))
    const app = await buildApp(t, { errorDetails: true })
    t.equal((await app.inject(request)).json().error.details.length, details)
    const logs = captureLogs()
    const silent = await buildApp(t, { server: { logger: logs.logger } })
    checkError(t, await silent.inject(request), 400)
    t.equal((await logs.waitFor('request rejected')).details?.length, 1)
  }
})

t.test('the last item of the longest allowed list is also checked, in addition to another fault', async (t) => {
  const events = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`test.event_${index}`, Type.Object({})]))
  const app = await buildApp(t, { errorDetails: true, events })
  const payload = { target_url: body.target_url, event_types: [...Object.keys(events).slice(1), 7] }
  const answer = await app.inject({ method: 'POST', url: `${base}/webhooks`, headers: bearer(keys.full), payload })
  t.same(answer.json().error.details, [
    { in: 'body', field: 'name', message: 'is required' },
    { in: 'body', field: 'event_types[99]', message: 'must be string' }
  ])
})

const url = '/api/v1/public/acme/candidates'

const thrown: Record<string, unknown> = {
  'an error': new Error('canary'),
  'an error with statusCode 404': Object.assign(new Error('canary'), { statusCode: 404 }),
  'an error of a validator': Object.assign(new Error('canary'), { validation: [], validationContext: 'body', code: 'FST_ERR_VALIDATION' }),
  'an error that a body is too large': Object.assign(new Error('canary'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 }),
  'an error named like ours': Object.assign(new Error('canary'), { code: 'not_found', details: [] }),
  'an error with headers': Object.assign(new Error('canary'), { headers: { 'x-canary': 'canary', 'content-type': 'text/html' } }),
  null: null,
  'a string': 'canary',
  'an object': { canary: true, statusCode: 404, code: 'not_found' },
  'an object without a prototype': Object.assign(Object.create(null), { canary: true })
}

t.test('a value thrown by a port gets 500, is logged with the request id and never sent, even with errorDetails', async (t) => {
  let error: unknown
  const throws = (): never => { throw error }
  const storage = memoryStorage({ tenants })
  storage.candidates.list = throws
  for (const failing of [{ storage }, { keyLookup: throws }, { keyLookup: async () => throws() }]) {
    const logs = captureLogs()
    const app = await buildApp(t, { ...failing, errorDetails: true, server: { logger: logs.logger } })
    for (const [what, value] of Object.entries({ ...thrown, ...hostileErrors })) {
      error = value
      logs.lines.length = 0
      const answer = await app.inject({ url, headers: bearer(keys.full) })
      checkError(t, answer, 500, what)
      t.notMatch(JSON.stringify([answer.headers, answer.body]), 'canary', `${what} is not sent`)
      const failures = logs.lines.filter(({ level }) => level === 50)
      const id = answer.headers['x-request-id']
      t.same(failures.map((line) => [line.msg, line.request_id]), [['request failed', id]], `${what} is logged`)
      if (what in thrown && value instanceof Error) t.same(failures.map(({ err }) => err?.message), ['canary'], what)
    }
    t.notMatch(logs.text(), keys.full, 'the key is not logged')
  }
})

/** The statuses of errors thrown by a port. */
const statuses = [
  ['rate_limited', 429], ['unavailable', 503],
  ['bad_request', 500], ['unauthorized', 500], ['forbidden', 500], ['not_found', 500], ['conflict', 500], ['sync_token_expired', 500]
] as const

t.test('a key lookup and a storage can reject with 429 and 503; their other errors get 500', async (t) => {
  let thrown: unknown
  const fail = async (): Promise<never> => { throw thrown }
  const storage = memoryStorage({ tenants })
  Object.assign(storage.candidates, { list: fail, find: fail })
  Object.assign(storage.jobs, { count: fail, listAfter: fail })
  Object.assign(storage.webhooks, { find: fail })
  Object.assign(storage.feed ?? {}, { list: fail })
  for (const failing of [{ keyLookup: fail }, { storage }]) {
    const app = await buildApp(t, { openapi: false, ...failing })
    for (const path of ['candidates', 'candidates/1', 'jobs', 'webhooks/1', 'events']) {
      for (const [code, status] of statuses) {
        thrown = new HttpError(code)
        const answer = await app.inject({ url: `${base}/${path}`, headers: bearer(keys.full) })
        checkError(t, answer, status, `${path}: ${code}`)
        t.equal(answer.headers['retry-after'], status === 503 ? '5' : undefined)
      }
    }
  }
})

t.test('a timeout gets 503 if the request only reads, otherwise 500, because it may have changed something', async (t) => {
  const fail = () => Promise.reject(new RecruitingApiError('storage_timeout', 'late'))
  const { storage } = spyStorage(undefined, ({ method }, real) => method === 'webhooks.listStates' ? real() : fail())
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  for (const route of routes.filter(({ path }) => !/^.(event_types|api_key)/.test(path))) {
    const answer = await app.inject(requestTo(route))
    const isReading = ['GET', 'HEAD'].includes(route.method) || route.path === '/webhooks/preview'
    t.strictSame([answer.statusCode, answer.headers['retry-after']], isReading ? [503, '5'] : [500, undefined], titleOf(route))
  }
  for (const code of ['storage_timeout', 'busy'] as const) {
    const late = await buildApp(t, { keyLookup: () => Promise.reject(new RecruitingApiError(code, 'late')) })
    const answer = await late.inject({ method: 'DELETE', url: `${base}/webhooks/1`, headers: bearer(keys.full) })
    checkError(t, answer, 503, code)
    t.equal(answer.headers['retry-after'], '5')
  }
})

t.test('errors have the status that Fastify sends from routes outside the API', async (t) => {
  let thrown: unknown
  const app = await buildApp(t, { before (app) { app.get('/own', async () => { throw thrown }) } })
  for (const [error, status] of [
    [new HttpError('not_found'), 404], [new HttpError('unavailable'), 503],
    [new RecruitingApiError('invalid_input', 'name'), 400], [new RecruitingApiError('not_found', 'webhook'), 404],
    [new RecruitingApiError('invalid_option', 'pollMs'), 500], [new RecruitingApiError('storage_timeout', 'late'), 503]
  ] as const) {
    thrown = error
    t.equal((await app.inject('/own')).statusCode, status, error.code)
    t.equal(error.statusCode, status)
  }
})

t.test('every operation returns 500 if the storage fails', async (t) => {
  const { storage } = spyStorage(undefined, () => Promise.reject(Object.assign(new Error('down'), { statusCode: 404 })))
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  // The catalogue is not in the storage, and keys have their own store.
  const stored = routes.filter(({ method, path }) => method !== 'HEAD' && !/^.(event_types|api_key)/.test(path))
  for (const route of stored) {
    checkError(t, await app.inject(requestTo(route)), 500, titleOf(route))
  }
})

t.test('a lookup that resolves to undefined gets 401; one with invalid scopes or field names gets 500', async (t) => {
  const unreadable = { id: 'a', get scopes () { throw Object.assign(new Error('canary'), { statusCode: 404 }) } }
  for (const [status, owner] of [
    [401, null], [401, undefined], [500, {}], [500, { id: 'a' }], [500, { id: 'a', scopes: null }], [500, true],
    [500, 'candidates:read'], [500, unreadable],
    ...[{ candidateFields: 'full_name' }, { jobFields: [5] }, { candidateFields: {} }]
      .map((wrong) => [500, { id: 'a', scopes: [], ...wrong }] as const)
  ] as const) {
    const app = await buildApp(t, { keyLookup: async () => owner as never })
    for (const path of ['jobs', 'nothing']) {
      checkError(t, await app.inject({ url: `${base}/${path}`, headers: bearer(keys.full) }), status)
    }
  }
})

const unknown = [
  ['GET', ''], ['GET', '/'], ['GET', '/nothing'], ['GET', '/candidates/1/'], ['GET', '/Candidates'], ['GET', '/candidates/1/jobs'],
  ['GET', '/jobs/1/candidates'], ['PATCH', '/candidates/1'], ['DELETE', '/jobs/1'], ['GET', '/webhooks/1/'], ['GET', '/webhooks/1/rotate_secret'],
  ['GET', '/webhooks/1/nothing'], ['GET', '/webhooks/1/deliveries/1/attempts'], ['GET', '/a/b/c/d/e'],
  ['POST', '/candidates'], ['POST', '/jobs'], ['POST', '/webhooks/1'], ['POST', '/webhooks/1/deliveries'],
  ['PUT', '/candidates'], ['PUT', '/webhooks/1'], ['PATCH', '/webhooks'], ['PATCH', '/candidates'],
  ['DELETE', '/webhooks'], ['DELETE', '/candidates'], ['DELETE', '/webhooks/1/deliveries/1'],
  ['OPTIONS', '/candidates'], ['OPTIONS', '/webhooks']
] as const

t.test('an unknown path or method gets 404 with any key of the tenant, and 401 without one, even with errorDetails', async (t) => {
  const app = await buildApp(t, { errorDetails: true })
  for (const [method, path] of unknown) {
    const answer = async (headers: object) => app.inject({ method, url: `${base}${path}`, headers: { ...headers } })
    for (const key of [keys.full, keys.none]) checkError(t, await answer(bearer(key)), 404, `${method} ${path}`)
    for (const headers of [{}, bearer('unknown'), bearer(keys.globex)]) {
      checkError(t, await answer(headers), 401, `${method} ${path}`)
    }
  }
})

t.test('the host responds to requests that the router rejects, before any hook', async (t) => {
  const app = await buildApp(t)
  const cut = await app.inject({ url: '/api/v1/public/acme/webhooks/%zz', headers: bearer(keys.full) })
  const long = await app.inject({ url: `/api/v1/public/${'a'.repeat(101)}/candidates`, headers: bearer(keys.full) })
  t.same([cut.statusCode, cut.json().code], [400, 'FST_ERR_BAD_URL'])
  t.same([long.statusCode, long.json().code], [414, 'FST_ERR_MAX_PARAM_LENGTH'])
})
