import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { memoryStorage } from '../../src/memory/index.js'
import { callTool, sendCall, textOf } from '../fixtures/api/mcp.js'

t.test('a fault in the arguments becomes a result that says what is wrong', async (t) => {
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

t.test('a refusal of the operation becomes a result with its error, id and advice', async (t) => {
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

t.test('with errorDetails, the result names the fields', async (t) => {
  const app = await buildApp(t, { mcp: true, errorDetails: true })
  t.match(textOf(await callTool(app, keys.full, 'list_candidates', { per_page: 201 })), 'per_page must be <= 200.')
  t.match(textOf(await callTool(app, keys.full, 'update_webhook', { id: 1 })), 'The input must NOT have fewer than 1 properties.')
})

t.test('a failure of the storage shows the request id and nothing else', async (t) => {
  const storage = memoryStorage({ tenants })
  storage.candidates.find = async () => { throw new Error('the password is 1234') }
  const app = await buildApp(t, { mcp: true, storage })
  const answer = await sendCall(app, keys.full, 'get_candidate', { id: 1 })
  t.equal(answer.statusCode, 200)
  t.equal(textOf(answer.json().result), `internal_error: Unexpected server error. The request id is ${String(answer.headers['x-request-id'])}.`)
})

t.test('a call that fails itself is an error of the protocol, whose cause is logged', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { mcp: true, server: { logger: logs.logger } })
  const { inject } = app
  const send = inject.bind(app) as (request: InjectOptions) => Promise<LightMyRequestResponse>
  const message = { method: 'POST', url: '/api/v1/public/acme/mcp', headers: { ...bearer(keys.full), accept: 'application/json, text/event-stream' }, payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_jobs' } } } as const
  Object.assign(app, { inject: async () => { throw new Error('the password is 1234') } })
  const answer = await send(message)
  Object.assign(app, { inject })
  t.match([answer.statusCode, answer.json()], [200, { error: { code: -32603, message: 'Unexpected server error' } }])
  t.match(logs.lines.filter(({ msg }) => msg === 'a message of an agent failed'), [{ err: { message: 'the password is 1234' } }])
})

t.test('a message that is under way when the server closes is told to try again', async (t) => {
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
