import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { listTools, sendCall } from '../fixtures/api/mcp.js'

const texts = ['', 'null', '{', '[]', '[[]]', '0', '"x"', 'true', '{}', '{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"__proto__":1}', '\u0000', `${'['.repeat(5000)}${']'.repeat(5000)}`]

const methods = ['', 'initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/read', 'resources/templates/list', 'prompts/list', 'prompts/get', 'completion/complete', 'logging/setLevel', 'subscriptions/listen', 'server/discover', 'tasks/get', 'notifications/initialized', 'notifications/cancelled', 'constructor', 7]

const params = [undefined, null, 1, 'x', [], {}, { _meta: 1 }, { _meta: { progressToken: {} } }, { name: 1 }, { name: 'list_jobs', arguments: [] }, { name: 'list_jobs', arguments: null }, { cursor: 1 }, { uri: 'x'.repeat(10_000) }, { uri: '%' }, { protocolVersion: 'x', capabilities: 1 }]

const ids = [undefined, null, 1, 'x', {}, 1.5]

t.test('no body and no message causes a 5xx, and each gets an answer', async (t) => {
  const app = await buildApp(t, { mcp: true })
  const send = async (payload: string, headers: Record<string, string> = {}): Promise<void> => {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/api/v1/public/acme/mcp',
      headers: { ...bearer(keys.full), accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      payload
    })
    if (statusCode >= 500) t.fail(`${statusCode} for ${JSON.stringify(headers)} ${payload.slice(0, 200)}`)
  }
  for (const text of texts) await send(text)
  for (const [index, method] of methods.entries()) {
    for (const [at, given] of params.entries()) {
      await send(JSON.stringify({ jsonrpc: '2.0', id: ids[(index + at) % ids.length], method, params: given }))
    }
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {}
  }
  for (const method of methods) {
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': String(method) }
    for (const given of [{}, { name: 'list_jobs' }, { uri: 'x' }]) await send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...given, _meta } }), headers)
  }
  for (const version of ['2024-11-05', '2025-11-25', '2026-07-28', '2099-01-01', 'x', '\u00ff']) await send('{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'mcp-protocol-version': version })
  for (const accept of ['', '*/*', 'text/html', 'application/json']) await send('{"jsonrpc":"2.0","id":1,"method":"ping"}', { accept })
  await send('{}', { 'content-type': 'text/plain' })
  t.pass('there were none')
})

t.test('batches are refused', async (t) => {
  const app = await buildApp(t, { mcp: true })
  const payload = [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]
  const answer = await app.inject({ method: 'POST', url: '/api/v1/public/acme/mcp', headers: { ...bearer(keys.full), accept: 'application/json, text/event-stream' }, payload })
  t.match([answer.statusCode, answer.json()], [400, { error: { code: -32600 } }])
})

t.test('no argument of any tool causes an error of the service', async (t) => {
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
