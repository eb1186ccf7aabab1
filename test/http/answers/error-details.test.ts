import { Type } from '@sinclair/typebox'
import t from 'tap'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { captureLogs } from '../../fixtures/api/logs.js'

const base = '/api/v1/public/acme'

interface Case {
  method?: 'POST' | 'PATCH'
  path: string
  payload?: string
  type?: string
  details: Array<{ in: string, field: string, message: string }>
}

const body = { name: 'ATS events', target_url: 'https://example.com/', event_types: ['job.created'] }

const cases: Record<string, Case> = {
  'a page of zero': { path: '/candidates?page=0', details: [{ in: 'query', field: 'page', message: 'must be >= 1' }] },
  'two faults': {
    path: '/candidates?page=0&per_page=x',
    details: [
      { in: 'query', field: 'page', message: 'must be >= 1' },
      { in: 'query', field: 'per_page', message: 'must be integer' }
    ]
  },
  'an unknown parameter': { path: '/jobs?filter[name]=x', details: [{ in: 'query', field: 'filter[name]', message: 'is not known' }] },
  'a repeated parameter': { path: '/jobs?page=1&page=1', details: [{ in: 'query', field: 'page', message: 'is given more than once' }] },
  'a query that is not encoded as UTF-8': {
    path: '/jobs?page=%ff',
    details: [{ in: 'query', field: '', message: 'holds text that is not percent-encoded UTF-8, or a NUL' }]
  },
  'a repeated sort field': { path: '/jobs?sort=name,-name', details: [{ in: 'query', field: 'sort', message: 'names name more than once' }] },
  'a search that is too long': {
    path: `/jobs?filter[q]=${'x'.repeat(201)}`,
    details: [{ in: 'query', field: 'filter[q]', message: 'must be at most 200 characters' }]
  },
  'a date out of range': {
    path: '/jobs?filter[updated_after]=0000-01-01T00:00:00Z',
    details: [{ in: 'query', field: 'filter[updated_after]', message: 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z' }]
  },
  'a status outside the set': {
    path: '/webhooks?filter[status]=gone',
    details: [{ in: 'query', field: 'filter[status]', message: 'must be one of active, inactive, disabled' }]
  },
  'an id that is no number': { path: '/webhooks/x', details: [{ in: 'path', field: 'id', message: 'must be integer' }] },
  'malformed JSON': {
    method: 'POST', path: '/webhooks', payload: '{"name": canary', details: [{ in: 'body', field: '', message: 'is not valid JSON' }]
  },
  'half of a surrogate pair': {
    method: 'POST', path: '/webhooks', payload: '{"name":"\\ud800"}', details: [{ in: 'body', field: 'name', message: 'holds a NUL or half of a surrogate pair' }]
  },
  'another media type': {
    method: 'POST', path: '/webhooks', type: 'text/plain', payload: 'canary', details: [{ in: 'body', field: '', message: 'must be application/json' }]
  },
  'a body that is too large': {
    method: 'POST', path: '/webhooks', payload: 'x'.repeat(65537), details: [{ in: 'body', field: '', message: 'must be at most 64 KiB' }]
  },
  'a body that is no object': { method: 'POST', path: '/webhooks', payload: '[]', details: [{ in: 'body', field: '', message: 'must be object' }] },
  'missing fields': {
    method: 'POST',
    path: '/webhooks',
    payload: '{"name":"ATS events"}',
    details: [
      { in: 'body', field: 'target_url', message: 'is required' },
      { in: 'body', field: 'event_types', message: 'is required' }
    ]
  },
  'an unknown field': {
    method: 'POST',
    path: '/webhooks',
    payload: JSON.stringify({ ...body, 'a/b~c': 1 }),
    details: [{ in: 'body', field: 'a/b~c', message: 'is not known' }]
  },
  'a fault within an array': {
    method: 'POST',
    path: '/webhooks',
    payload: JSON.stringify({ ...body, event_types: ['job.created', 7] }),
    details: [{ in: 'body', field: 'event_types[1]', message: 'must be string' }]
  },
  'an event type that is not in the catalogue': {
    method: 'POST',
    path: '/webhooks',
    payload: JSON.stringify({ ...body, event_types: ['job.created', 'job.closed', 'job.eaten'] }),
    details: [{ in: 'body', field: 'event_types[2]', message: 'must be an event type of the catalogue' }]
  },
  'a value that the schemas cannot judge': {
    method: 'POST',
    path: '/webhooks',
    payload: JSON.stringify({ ...body, target_url: 'https://localhost/' }),
    details: [{ in: 'body', field: 'target_url', message: 'must point to a public host' }]
  },
  'an empty change': {
    method: 'PATCH', path: '/webhooks/1', payload: '{}', details: [{ in: 'body', field: '', message: 'must NOT have fewer than 1 properties' }]
  }
}

function requestOf ({ method, path, payload, type = 'application/json' }: Case) {
  const headers = { ...bearer(keys.full), ...(payload === undefined ? {} : { 'content-type': type }) }
  return { method: method ?? 'GET', url: base + path, headers, ...(payload === undefined ? {} : { payload }) } as const
}

t.test('with errorDetails a 400 says where the request is at fault, and nothing of what it holds', async (t) => {
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

t.test('without errorDetails the first reason is only in the log, at level info, with the request id', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { server: { logger: logs.logger } })
  for (const [what, known] of Object.entries(cases)) {
    logs.lines.length = 0
    const answer = await app.inject(requestOf(known))
    checkError(t, answer, 400, what)
    const refusals = logs.lines.filter(({ msg }) => msg === 'request refused')
    t.same(refusals.map(({ level, request_id: id, details }) => ({ level, id, details })), [
      { level: 30, id: answer.headers['x-request-id'], details: known.details.slice(0, 1) }
    ], what)
  }
  t.notMatch(logs.text(), 'canary', 'no body is logged')
})

t.test('with errorDetails the other errors say no more than before', async (t) => {
  const app = await buildApp(t, {
    errorDetails: true,
    keyLookup: async ({ key }) => {
      if (key === 'broken') throw new Error('canary')
      return key === keys.none ? { id: 'key', scopes: key === keys.none ? [] : ['webhooks:read', 'webhooks:write'] } : null
    }
  })
  checkError(t, await app.inject({ url: `${base}/jobs?page=0` }), 401)
  checkError(t, await app.inject({ url: `${base}/jobs?page=0`, headers: bearer(keys.none) }), 403)
  checkError(t, await app.inject({ url: `${base}/nothing`, headers: bearer(keys.none) }), 404)
  checkError(t, await app.inject({ url: `${base}/jobs`, headers: bearer('broken') }), 500)
})

/** As many numbers as fit into a body. */
const numbers = Array.from({ length: 32_000 }, (_, index) => index % 10)

const deep = '['.repeat(10_000) + ']'.repeat(10_000)

const many: Record<string, { payload: string, details: number }> = {
  'a thousand faults': { payload: JSON.stringify({ ...body, event_types: numbers.slice(0, 1000) }), details: 20 },
  '64 KiB of faults': { payload: JSON.stringify({ event_types: numbers }), details: 20 },
  'faults in arrays of arrays': { payload: JSON.stringify({ ...body, event_types: Array.from({ length: 100 }, () => numbers.slice(0, 100)) }), details: 1 },
  'thousands of unknown fields': { payload: JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, 1]))), details: 1 },
  'values nested 10,000 deep': { payload: `{"event_types":${deep}}`, details: 1 }
}

for (const [what, { payload, details }] of Object.entries(many)) {
  t.test(`a request with ${what} gets ${details} details, and without errorDetails one is logged`, async (t) => {
    const app = await buildApp(t, { errorDetails: true })
    const request = { method: 'POST', url: `${base}/webhooks`, headers: { ...bearer(keys.full), 'content-type': 'application/json' }, payload } as const
    t.equal((await app.inject(request)).json().error.details.length, details)
    const logs = captureLogs()
    const silent = await buildApp(t, { server: { logger: logs.logger } })
    checkError(t, await silent.inject(request), 400)
    t.equal((await logs.waitFor('request refused')).details?.length, 1)
  })
}

t.test('the last item of the longest list that is allowed is checked too, beside another fault', async (t) => {
  const events = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`test.event_${index}`, Type.Object({})]))
  const app = await buildApp(t, { errorDetails: true, events })
  const payload = { target_url: body.target_url, event_types: [...Object.keys(events).slice(1), 7] }
  const answer = await app.inject({ method: 'POST', url: `${base}/webhooks`, headers: bearer(keys.full), payload })
  t.same(answer.json().error.details, [
    { in: 'body', field: 'name', message: 'is required' },
    { in: 'body', field: 'event_types[99]', message: 'must be string' }
  ])
})

t.test('a fault far down a long list is found as well', async (t) => {
  const app = await buildApp(t, {
    errorDetails: true,
    async routes (app) {
      const schema = { body: Type.Object({ ids: Type.Array(Type.Integer()) }), response: { 204: Type.Null() } }
      app.post('/ids', { config: { scopes: [] }, schema }, async () => {})
    }
  })
  const answer = await app.inject({ method: 'POST', url: `${base}/ids`, headers: bearer(keys.full), payload: { ids: [...numbers.slice(0, 150), 'x'] } })
  t.same(answer.json().error.details, [{ in: 'body', field: 'ids[150]', message: 'must be integer' }])
})
