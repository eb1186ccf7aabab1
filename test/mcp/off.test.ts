import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { sendMessage } from '../fixtures/api/mcp.js'
import { assertSdk } from '../../src/mcp/endpoint.js'

t.test('without the option, the server is an unknown path', async (t) => {
  const app = await buildApp(t)
  checkError(t, await sendMessage(app, keys.full, 'tools/list'), 404, 'with a key')
  checkError(t, await sendMessage(app, 'unknown', 'tools/list'), 401, 'without one')
})

t.test('the document does not change with the option', async (t) => {
  const documents = await Promise.all([false, true].map(async (mcp) => {
    const app = await buildApp(t, { mcp })
    return (await app.inject('/api/v1/public/openapi.json')).json()
  }))
  t.strictSame(documents[1], documents[0])
})

t.test('without the package the option is refused, with the command that installs it', async (t) => {
  t.throws(() => assertSdk(() => import.meta.resolve('@modelcontextprotocol/absent')), {
    code: 'invalid_option',
    field: 'mcp',
    message: /^mcp: expected the package @modelcontextprotocol\/server to be installed: npm install @modelcontextprotocol\/server, got "Cannot find package/
  })
  // eslint-disable-next-line no-throw-literal
  t.throws(() => assertSdk(() => { throw 'gone' }), { message: /"gone"/ })
})

t.test('other methods are refused, after the key', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const method of ['GET', 'DELETE'] as const) {
    const url = '/api/v1/public/acme/mcp'
    const answer = await app.inject({ method, url, headers: bearer(keys.none) })
    t.match([answer.statusCode, answer.headers.allow, answer.json()], [405, 'POST', { error: { message: 'Method not allowed.' } }])
    checkError(t, await app.inject({ method, url }), 401, method)
  }
})
