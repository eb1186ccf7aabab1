import { once } from 'node:events'
import http from 'node:http'
import { json } from 'node:stream/consumers'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import type { AuditEntry } from '../../src/index.js'
import { allScopes, apiKeys, bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { callTool, listTools, sendCall, sendMessage, textOf } from '../fixtures/api/mcp.js'
import { buildAppWithRoutes, urlOf } from '../fixtures/api/routes.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { captureLogs } from '../fixtures/api/logs.js'

/** Arguments that fit every operation. */
const given = (properties: object) => Object.fromEntries(Object.entries({ id: 1, delivery_id: 1, event_id: 'evt_1' }).filter(([name]) => name in properties))

const strangers = [
  { tenant: 'acme', key: keys.globex },
  { tenant: 'globex', key: keys.full },
  { tenant: 'initech', key: keys.full },
  { tenant: 'initech', key: 'unknown' },
  { tenant: 'ACME', key: keys.full },
  { tenant: 'acme%00', key: keys.full },
  { tenant: 'acme%2f', key: keys.full },
  { tenant: '__proto__', key: keys.full },
  { tenant: 'acme', key: 'expired' },
  { tenant: 'acme', key: 'two keys' }
]

t.test('every tool and every message returns the same 401 for every invalid key', async (t) => {
  const { storage, calls } = spyStorage()
  const keyLookup = memoryKeyLookup([...apiKeys, { key: 'expired', tenantSlug: 'acme', scopes: [], expiresAt: '2020-01-01T00:00:00Z' }])
  const { app } = await buildAppWithRoutes(t, { storage, keyLookup, mcp: { secrets: true } })
  const tools = await listTools(app, keys.full)
  t.ok(tools.length >= 18, 'tools exist')
  calls.length = 0
  const unknown = await sendMessage(app, 'unknown', 'tools/list')
  checkError(t, unknown, 401, 'an unknown key')
  t.equal(unknown.headers['www-authenticate'], 'Bearer')
  for (const { tenant, key } of strangers) {
    for (const { name, inputSchema: { properties } } of tools) {
      const answer = await sendCall(app, key, name, given(properties), { tenant })
      t.equal(comparable(answer), comparable(unknown), `${name} for ${tenant} with ${key}`)
    }
    for (const method of ['initialize', 'tools/list', 'prompts/list', 'ping', 'nothing']) {
      t.equal(comparable(await sendMessage(app, key, method, {}, { tenant })), comparable(unknown), method)
    }
  }
  t.strictSame(calls, [], 'the storage is not called')
})

t.test('each key can see and call exactly the tools whose operations it can use', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t, { mcp: { secrets: true } })
  const tools = await listTools(app, keys.full)
  for (const [who, key] of Object.entries(keys).filter(([who]) => who !== 'globex')) {
    const visible = (await listTools(app, key)).map(({ name }) => name)
    for (const { name, inputSchema: { properties } } of tools) {
      const words = name.replaceAll('_', '')
      const route = routes.find(({ operationId }) => operationId.toLowerCase() === words)
      if (route === undefined) throw new Error(`${name} is not an operation`)
      const { statusCode } = await app.inject({ method: route.method as 'GET', url: urlOf(route), headers: bearer(key) })
      const answer = await sendCall(app, key, name, given(properties))
      t.strictSame([visible.includes(name), answer.statusCode === 403], [statusCode !== 403, statusCode === 403], `${name} for ${who}`)
      if (statusCode === 403) checkError(t, answer, 403, name)
    }
  }
})

t.test('ids of another tenant look like unknown ids', async (t) => {
  const { app } = await buildAppWithRoutes(t, { mcp: { secrets: true }, requestId: () => 'req_1' })
  const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] }
  await sendCall(app, keys.globex, 'create_webhook', webhook, { tenant: 'globex' })
  for (const { name, inputSchema: { properties } } of await listTools(app, keys.full)) {
    if (!('id' in properties) || /candidate|job/.test(name)) continue
    const [foreign, unknown] = await Promise.all([1, 999].map(async (id) => (await sendCall(app, keys.full, name, { ...given(properties), id, ...(name === 'update_webhook' ? { name: 'HR' } : {}) })).json().result))
    t.equal(textOf(foreign), 'not_found: Resource was not found. The request id is req_1.', name)
    t.strictSame(foreign, unknown, name)
  }
})

const jobs = '/api/v1/public/acme/jobs'

t.test('a call counts once against the limit of its key, together with requests over HTTP', async (t) => {
  const app = await buildApp(t, { mcp: true, rateLimit: { max: 4 } })
  const left: unknown[] = []
  for (const answer of [await sendCall(app, keys.full, 'list_jobs'), await app.inject({ url: jobs, headers: bearer(keys.full) }), await sendCall(app, keys.full, 'get_job', { id: 9 }), await sendCall(app, keys.full, 'list_jobs')]) {
    left.push([answer.statusCode, Number(answer.headers['ratelimit-remaining'])])
  }
  t.strictSame(left, [[200, 3], [200, 2], [200, 1], [200, 0]])
  const rejected = await sendCall(app, keys.full, 'list_jobs')
  const plain = await app.inject({ url: jobs, headers: bearer(keys.full) })
  t.equal(rejected.statusCode, 429)
  for (const name of ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) t.equal(rejected.headers[name], String(plain.headers[name]), name)
  t.strictSame({ ...rejected.json().error, request_id: '' }, { ...plain.json().error, request_id: '' })
})

t.test('an operation\'s own budget also applies to its tool', async (t) => {
  const app = await buildApp(t, {
    mcp: true, rateLimit: { max: 100, operations: { dispatchWebhookTest: { max: 1 }, mcp: { max: 4 } } }
  })
  t.equal((await sendCall(app, keys.full, 'dispatch_webhook_test', { id: 9 })).statusCode, 200)
  t.equal((await sendCall(app, keys.full, 'dispatch_webhook_test', { id: 9 })).statusCode, 429)
  t.equal((await sendCall(app, keys.full, 'list_jobs')).statusCode, 200)
  t.same((await sendMessage(app, keys.full, 'tools/list')).headers['ratelimit-limit'], 4, 'messages count as an operation')
  t.equal((await sendCall(app, keys.full, 'list_jobs')).statusCode, 429)
})

t.test('each request to the endpoint counts, with any result', async (t) => {
  const max = 6
  const app = await buildApp(t, { mcp: true, rateLimit: { max } })
  const requests: Array<[status: number, InjectOptions]> = [
    [400, { payload: '{' }],
    [400, { payload: '[]' }],
    [400, { payload: '{}', headers: { 'content-type': 'text/plain' } }],
    [403, { payload: '{}', headers: { origin: 'https://evil.example' } }],
    [405, { method: 'GET' }],
    [200, { payload: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }],
    [429, { payload: '{' }]
  ]
  for (const [index, [status, request]] of requests.entries()) {
    const headers = { ...bearer(keys.full), 'content-type': 'application/json', ...request.headers }
    const answer = await app.inject({ url: '/api/v1/public/acme/mcp', method: 'POST', ...request, headers })
    t.equal(answer.statusCode, status, JSON.stringify(request))
    t.equal(Number(answer.headers['ratelimit-remaining']), Math.max(0, max - 1 - index), JSON.stringify(request))
  }
})

const faults: Array<[code: number, payload: string]> = [
  [-32700, '{'], [-32700, '"\\ud800"'], [-32600, '7'], [-32600, '[]'], [-32600, 'null'],
  [-32600, '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]'],
  [-32600, '{"jsonrpc":"2.0","id":1,"method":7}'], [-32600, '{"jsonrpc":"2.0","id":1,"method":{"toString":null}}'],
  [-32600, '{"jsonrpc":"2.0","id":1,"method":null}']
]

t.test('a body that is not a message is a protocol error', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const [code, payload] of faults) {
    const headers = { ...bearer(keys.full), 'content-type': 'application/json' }
    const answer = await app.inject({ method: 'POST', url: '/api/v1/public/acme/mcp', headers, payload })
    t.match([answer.statusCode, answer.json()], [400, { jsonrpc: '2.0', id: null, error: { code } }], payload)
    t.match(answer.headers['content-type'], 'application/json')
  }
})

t.test('clients can accept only JSON, or anything; a notification gets no body', async (t) => {
  const app = await buildApp(t, { mcp: true })
  const accepted = ['application/json', '*/*', 'application/*', 'text/html, */*;q=0.1', 'application/json;q=0.9']
  for (const accept of [...accepted, undefined]) {
    const headers = {
      ...bearer(keys.full), 'content-type': 'application/json', ...(accept === undefined ? {} : { accept })
    }
    const url = '/api/v1/public/acme/mcp'
    const listed = await app.inject({
      method: 'POST', url, headers, payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    })
    t.equal(listed.statusCode, 200, String(accept))
    t.ok(listed.json().result.tools.length > 0)
    const payload = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const noted = await app.inject({ method: 'POST', url, headers, payload })
    t.strictSame([noted.statusCode, noted.body, noted.headers['content-type']], [202, '', undefined])
  }
})

t.test('a call reaches its operation, regardless of the message\'s URL', async (t) => {
  const reached: string[] = []
  let served = 0
  const app = await buildApp(t, {
    mcp: true,
    keyLookup: memoryKeyLookup([...apiKeys, { key: 'dots', tenantSlug: '..', scopes: allScopes }]),
    server: { useSemicolonDelimiter: true },
    before (app) {
      for (const url of ['/own/jobs', '/api/v1/jobs']) app.get(url, () => reached.push('own'))
    }
  })
  for (const end of [
    'mcp', 'mcp;/../../../../../own/', 'mcp;/x', '/mcp/?/../own', 'mcp?a=/../../own/', 'mcp#/../own/'
  ]) {
    const headers = { ...bearer(keys.full), 'content-type': 'application/json' }
    const params = { name: 'list_jobs', arguments: {} }
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const answer = await app.inject({ method: 'POST', url: `/api/v1/public/acme/${end}`, headers, payload })
    if (answer.statusCode === 404 || answer.statusCode === 400) continue
    served++
    t.match(answer.json(), { result: { structuredContent: { meta: { page: 1 } } } }, end)
  }
  t.ok(served >= 3, `${served} were served`)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const headers = { ...bearer('dots'), 'content-type': 'application/json' }
  const request = http.request({ port, method: 'POST', path: '/api/v1/public/%2e%2e/mcp', headers })
  request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_jobs' } }))
  const [response] = await once(request, 'response')
  t.match(await json(response), { result: { isError: true } }, 'a slug that would change the path')
  t.strictSame(reached, [])
})

t.test('a call is audited once, as its operation, with the request id that the client sees', async (t) => {
  const columns = ['operationId', 'method', 'status', 'filters', 'rowCount', 'keyId'] as const
  for (const requestId of [undefined, () => `req_${Math.random()}`]) {
    for (const logger of [false, captureLogs().logger]) {
      const entries: AuditEntry[] = []
      const app = await buildApp(t, {
        mcp: true,
        onAudit: (entry) => { entries.push(entry) },
        server: { logger } as object,
        ...(requestId === undefined ? {} : { requestId })
      })
      const answers = [
        await sendCall(app, keys.full, 'list_candidates', { filter: { q: 'ada' } }),
        await sendCall(app, keys.none, 'get_webhook', { id: 1 }),
        await sendMessage(app, keys.full, 'tools/list'),
        await sendMessage(app, 'unknown', 'tools/list')
      ]
      t.match(entries.map((entry) => columns.map((column) => entry[column])), [
        ['listCandidates', 'GET', 200, ['filter[q]'], 1, 'key_1'], ['getWebhook', 'GET', 403, [], null, 'key_2'], ['mcp', 'POST', 200, [], null, 'key_1'], ['mcp', 'POST', 401, [], null, null]
      ])
      t.strictSame(entries.map((entry) => entry.requestId), answers.map(({ headers }) => headers['x-request-id']))
      t.equal(answers[1]?.json().error.request_id, entries[1]?.requestId)
    }
  }
})

t.test('a fault in the arguments becomes a result that describes it', async (t) => {
  const app = await buildApp(t, { mcp: true })
  const cases: Array<[string, object, string]> = [
    ['get_candidate', {}, 'id is missing or not valid.'],
    ['get_candidate', { id: '..' }, 'id is missing or not valid.'],
    ['get_candidate', { id: '.' }, 'id is missing or not valid.'],
    ['get_candidate', { id: '' }, 'id is missing or not valid.'],
    ['get_candidate', { id: [1] }, 'id is missing or not valid.'],
    ['get_candidate', { id: 1, more: 1 }, 'Unknown argument. This tool takes id.'],
    ['list_candidates', { filter: 'ada' }, 'filter must be an object.'],
    ['list_candidates', { filter: { nothing: 1 } }, 'Unknown argument. This tool takes page, per_page, sort, filter.'],
    ['list_candidates', { page: [1] }, 'page must be text, a number or a boolean.']
  ]
  for (const [name, given, text] of cases) t.strictSame(await callTool(app, keys.full, name, given), { isError: true, content: [{ type: 'text', text }] })
})

t.test('an error of the operation becomes a result with its code, id and advice', async (t) => {
  const app = await buildApp(t, { mcp: true, requestId: () => 'req_1' })
  const cases: Array<[string, object, string]> = [
    ['get_candidate', { id: 99 }, 'not_found: Resource was not found. The request id is req_1.'],
    ['get_candidate', { id: '../jobs/1' }, 'bad_request: Validation failed for request payload. Compare the arguments with the input schema of this tool. The request id is req_1.'],
    ['list_candidates', { per_page: 201 }, 'bad_request: Validation failed for request payload. Compare the arguments with the input schema of this tool. The request id is req_1.'],
    ['sync_candidates', { token: 'made-up' }, 'sync_token_expired: Sync token is no longer valid. Begin again without "token". The request id is req_1.'],
    ['get_candidate', { id: 'x'.repeat(101) }, 'The request failed with status 414.']
  ]
  for (const [name, given, text] of cases) t.strictSame(await callTool(app, keys.full, name, given), { isError: true, content: [{ type: 'text', text }] })
})

t.test('a storage failure shows only the request id', async (t) => {
  const storage = memoryStorage({ tenants })
  storage.candidates.find = async () => { throw new Error('the password is 1234') }
  const app = await buildApp(t, { mcp: true, storage })
  const answer = await sendCall(app, keys.full, 'get_candidate', { id: 1 })
  t.equal(answer.statusCode, 200)
  t.equal(textOf(answer.json().result), `internal_error: Unexpected server error. The request id is ${String(answer.headers['x-request-id'])}.`)
})

t.test('a call that cannot be made is a protocol error, and its cause is logged', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { mcp: true, server: { logger: logs.logger } })
  const { inject } = app
  const send = inject.bind(app) as (request: InjectOptions) => Promise<LightMyRequestResponse>
  const message = { method: 'POST', url: '/api/v1/public/acme/mcp', headers: { ...bearer(keys.full), accept: 'application/json, text/event-stream' }, payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_jobs' } } } as const
  Object.assign(app, { inject: async () => { throw new Error('the password is 1234') } })
  const answer = await send(message)
  Object.assign(app, { inject })
  t.match([answer.statusCode, answer.json()], [200, { error: { code: -32603, message: 'Unexpected server error' } }])
  t.match(logs.lines.filter(({ msg }) => msg === "an agent's message failed"), [{ err: { message: 'the password is 1234' } }])
})

t.test('a message in progress during close gets the advice to try again', async (t) => {
  const app = await buildApp(t, {
    mcp: true,
    before (app) {
      app.addHook('preHandler', async () => {
        app.close().catch(t.threw)
        await new Promise(setImmediate)
      })
    }
  })
  t.equal(textOf(await callTool(app, keys.full, 'list_jobs')), 'The request failed with status 503. Try again later.')
})
