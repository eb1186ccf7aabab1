import t from 'tap'
import { buildApp, keys } from '../../fixtures/api/app.js'
import { listTools, sendCall, sendMessage } from '../../fixtures/api/mcp.js'

t.test('no argument of any tool causes an internal error', async (t) => {
  const app = await buildApp(t, { mcp: true, requestId: () => 'req_1' })
  const values = [null, true, 0, -1, 1.5, 1e21, 2 ** 53, '', ' ', '0', '1e1', '%', '%2e%2e', '..', '../..', '/', '?', '#', '\\', 'x'.repeat(99), 'ü', [], [1], {}, { a: 1 }, '\u202e']
  for (const { name, inputSchema: { properties } } of await listTools(app, keys.full)) {
    for (const argument of [...Object.keys(properties), 'nothing', '__proto__']) {
      for (const value of values) {
        const given = { id: 1, delivery_id: 1, ...JSON.parse(`{${JSON.stringify(argument)}:${JSON.stringify(value)}}`) }
        const answer = await sendCall(app, keys.full, name, given)
        if (answer.statusCode >= 500 || /internal_error|status 5/.test(answer.body)) t.fail(`${name} ${JSON.stringify(given)}: ${answer.body}`)
      }
    }
  }
  t.pass('there were none')
})

const methods = [
  'initialize', 'tools/list', 'tools/call', 'resources/list', 'resources/read', 'prompts/get', 'completion/complete',
  'logging/setLevel', 'server/discover', 'tasks/get', 'notifications/cancelled', 'constructor', ''
]
const params = [
  {}, { _meta: 1 }, { _meta: { progressToken: {} } }, { name: 1 }, { name: 'list_jobs', arguments: [] }, { cursor: 1 },
  { uri: 'x'.repeat(10_000) }, { uri: '%' }, { protocolVersion: 'x', capabilities: 1 }
]

t.test('no message of any protocol version causes an internal error', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const version of ['2024-11-05', '2025-11-25', '2026-07-28', '2099-01-01', '\u00ff']) {
    for (const method of methods) {
      const headers = { 'mcp-protocol-version': version, 'mcp-method': method }
      for (const given of params) {
        const { statusCode } = await sendMessage(app, keys.full, method, given, { headers })
        t.ok(statusCode < 500, `${statusCode} for ${method} ${JSON.stringify(given)}`)
      }
    }
  }
})
