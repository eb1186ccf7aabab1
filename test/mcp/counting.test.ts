import t from 'tap'
import type { AuditEntry } from '../../src/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { listTools, sendCall, sendMessage } from '../fixtures/api/mcp.js'

const jobs = '/api/v1/public/acme/jobs'

t.test('a call counts once against the limit of its key, together with requests over HTTP', async (t) => {
  const app = await buildApp(t, { mcp: true, rateLimit: { max: 4 } })
  const left: unknown[] = []
  for (const answer of [await sendCall(app, keys.full, 'list_jobs'), await app.inject({ url: jobs, headers: bearer(keys.full) }), await sendCall(app, keys.full, 'get_job', { id: 9 }), await sendCall(app, keys.full, 'list_jobs')]) {
    left.push([answer.statusCode, Number(answer.headers['ratelimit-remaining'])])
  }
  t.strictSame(left, [[200, 3], [200, 2], [200, 1], [200, 0]])
  const refused = await sendCall(app, keys.full, 'list_jobs')
  const plain = await app.inject({ url: jobs, headers: bearer(keys.full) })
  t.equal(refused.statusCode, 429)
  for (const name of ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) t.equal(refused.headers[name], String(plain.headers[name]), name)
  t.strictSame({ ...refused.json().error, request_id: '' }, { ...plain.json().error, request_id: '' })
})

t.test('a call of any tool counts once', async (t) => {
  const mcp = { secrets: true }
  const max = 2
  const tools = await listTools(await buildApp(t, { mcp }), keys.full)
  t.ok(tools.length >= 20, 'there are tools')
  for (const { name, inputSchema: { properties } } of tools) {
    const app = await buildApp(t, { mcp, rateLimit: { max, operations: { dispatchWebhookTest: { max }, replayWebhook: { max } } } })
    const given = Object.fromEntries(['id', 'delivery_id'].filter((argument) => argument in properties).map((argument) => [argument, 1]))
    const answers = [await sendCall(app, keys.full, name, given), await sendCall(app, keys.full, name, given), await sendCall(app, keys.full, name, given)]
    t.strictSame(answers.map(({ statusCode, headers }) => [statusCode, Number(headers['ratelimit-remaining'])]), [[200, 1], [200, 0], [429, 0]], name)
  }
})

t.test('messages that call nothing count too', async (t) => {
  const messages: Array<[string, object]> = [
    ['initialize', {}], ['tools/list', {}], ['tools/call', { name: 'nothing' }], ['tools/call', { name: 'get_job' }], ['tools/call', {}], ['resources/templates/list', {}], ['nothing', {}]
  ]
  for (const [method, params] of messages) {
    const app = await buildApp(t, { mcp: true, rateLimit: { max: 1 } })
    t.not((await sendMessage(app, keys.full, method, params)).statusCode, 429, method)
    t.equal((await sendMessage(app, keys.full, method, params)).statusCode, 429, method)
  }
})

t.test('an operation with a budget of its own has it for its tool too', async (t) => {
  const app = await buildApp(t, { mcp: true, rateLimit: { max: 100, operations: { dispatchWebhookTest: { max: 1 }, mcp: { max: 2 } } } })
  t.equal((await sendCall(app, keys.full, 'dispatch_webhook_test', { id: 9 })).statusCode, 200)
  t.equal((await sendCall(app, keys.full, 'dispatch_webhook_test', { id: 9 })).statusCode, 429)
  t.equal((await sendCall(app, keys.full, 'list_jobs')).statusCode, 200)
  t.same((await sendMessage(app, keys.full, 'tools/list')).headers['ratelimit-limit'], 2, 'messages that call nothing are an operation')
})

t.test('a call is audited once, as its operation, under the request id that the client sees', async (t) => {
  for (const requestId of [undefined, () => `req_${Math.random()}`]) {
    for (const logger of [false, captureLogs().logger]) {
      const entries: AuditEntry[] = []
      const app = await buildApp(t, { mcp: true, onAudit: (entry) => { entries.push(entry) }, server: { logger } as object, ...(requestId === undefined ? {} : { requestId }) })
      const answers = [
        await sendCall(app, keys.full, 'list_candidates', { filter: { q: 'ada' } }),
        await sendCall(app, keys.none, 'get_webhook', { id: 1 }),
        await sendMessage(app, keys.full, 'tools/list'),
        await sendMessage(app, 'unknown', 'tools/list')
      ]
      t.match(entries.map(({ operationId, method, status, filters, rowCount, keyId }) => [operationId, method, status, filters, rowCount, keyId]), [
        ['listCandidates', 'GET', 200, ['filter[q]'], 1, 'key_1'], ['getWebhook', 'GET', 403, [], null, 'key_2'], ['mcp', 'POST', 200, [], null, 'key_1'], ['mcp', 'POST', 401, [], null, null]
      ])
      t.strictSame(entries.map((entry) => entry.requestId), answers.map(({ headers }) => headers['x-request-id']))
      t.equal(answers[1]?.json().error.request_id, entries[1]?.requestId)
    }
  }
})

t.test('the log has the same request id for a message and for the call that it makes', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { mcp: true, server: { logger: logs.logger } })
  const { headers } = await sendCall(app, keys.full, 'list_jobs')
  const seen = logs.lines.filter(({ msg }) => msg === 'incoming request')
  t.match(seen.map(({ request_id: id }) => id), [headers['x-request-id'], headers['x-request-id']])
})
