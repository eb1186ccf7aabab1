import Fastify from 'fastify'
import t from 'tap'
import recruitingApi from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { assertSdk } from '../../src/around/mcp/endpoint.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { acme, connectMcp, listenMcp, sendMessage } from '../fixtures/api/mcp.js'

t.test('the server has the API\'s name from the document, or a default without a document', async (t) => {
  const named = await connectMcp(
    t,
    await listenMcp(t, { openapi: { info: { title: 'Acme Recruiting', version: '2026-11' } } })
  )
  t.match(named.getServerVersion(), { name: 'recruiting-api', title: 'Acme Recruiting', version: '2026-11' })
  const withoutDocument = await connectMcp(t, await listenMcp(t, { openapi: false }))
  t.match(withoutDocument.getServerVersion(), { name: 'recruiting-api', title: 'Recruiting API', version: 'v1' })
})

t.test('clients check the results of a key that sees only some fields', async (t) => {
  // The document does not describe a key's fields, so responses are not compared with it.
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(recruitingApi, {
    storage: memoryStorage({ tenants: { acme } }),
    keyLookup: async () => ({ id: '1', scopes: ['candidates:read', 'jobs:read'], candidateFields: ['headline'], jobFields: [] }),
    delivery: false,
    mcp: true
  })
  const client = await connectMcp(
    t,
    new URL(`${await app.listen({ host: '127.0.0.1', port: 0 })}/api/v1/public/acme/mcp`)
  )
  await client.listTools()
  const { structuredContent } = await client.callTool({ name: 'get_candidate', arguments: { id: 1 } })
  t.strictSame(structuredContent, { data: { id: 1, headline: null } })
})

t.test('without the option, the server is an unknown path', async (t) => {
  const app = await buildApp(t)
  checkError(t, await sendMessage(app, keys.full, 'tools/list'), 404, 'with a key')
  checkError(t, await sendMessage(app, 'unknown', 'tools/list'), 401, 'without one')
})

t.test('without the package, the option is rejected with the command that installs it', async (t) => {
  t.throws(() => assertSdk(() => import.meta.resolve('@modelcontextprotocol/absent')), {
    code: 'invalid_option',
    field: 'mcp',
    message: /^mcp: expected the package @modelcontextprotocol\/server to be installed: npm install @modelcontextprotocol\/server, got "Cannot find package/
  })
  // eslint-disable-next-line no-throw-literal
  t.throws(() => assertSdk(() => { throw 'gone' }), { message: /"gone"/ })
})

t.test('other methods are rejected after the key check', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const method of ['GET', 'DELETE'] as const) {
    const url = '/api/v1/public/acme/mcp'
    const answer = await app.inject({ method, url, headers: bearer(keys.none) })
    t.match([answer.statusCode, answer.headers.allow, answer.json()], [405, 'POST', { error: { message: 'Method not allowed.' } }])
    checkError(t, await app.inject({ method, url }), 401, method)
  }
})
