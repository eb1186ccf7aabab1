import t from 'tap'
import { memoryKeyLookup } from '../../src/memory/index.js'
import { allScopes, buildApp, keys } from '../fixtures/api/app.js'
import { sendCall, sendMessage } from '../fixtures/api/mcp.js'

const keyLookup = memoryKeyLookup([{ key: 'office', tenantSlug: 'acme', scopes: allScopes, allowedIps: ['203.0.113.0/24'] }])
const behind = { 'x-forwarded-for': '203.0.113.5' }

t.test('a key that is limited to networks works from there alone', async (t) => {
  const app = await buildApp(t, { mcp: true, keyLookup, server: { trustProxy: '10.0.0.1' } })
  const from = async (remoteAddress: string, headers = {}) => (await sendCall(app, 'office', 'list_jobs', {}, { remoteAddress, headers })).statusCode
  t.equal(await from('203.0.113.5'), 200)
  t.equal(await from('192.0.2.1'), 401)
  t.equal(await from('10.0.0.1', behind), 200)
  t.equal(await from('192.0.2.1', behind), 401)
})

t.test('hooks of the host see the address and headers of the client in the call too', async (t) => {
  const seen: unknown[] = []
  const app = await buildApp(t, {
    mcp: true,
    server: { trustProxy: '10.0.0.1' },
    before (app) {
      app.addHook('onRequest', async ({ ip, headers, method, url }) => {
        seen.push([method, url, ip, headers.host, headers['x-gateway'], headers['accept-encoding'], headers['if-none-match']])
      })
    }
  })
  const headers = { ...behind, host: 'api.example.com', 'x-gateway': 'a', 'accept-encoding': 'gzip', 'if-none-match': '*' }
  await sendCall(app, keys.full, 'list_jobs', { page: 2 }, { remoteAddress: '10.0.0.1', headers })
  t.strictSame(seen, [
    ['POST', '/api/v1/public/acme/mcp', '203.0.113.5', 'api.example.com', 'a', 'gzip', '*'],
    ['GET', '/api/v1/public/acme/jobs?page=2', '203.0.113.5', 'api.example.com', 'a', undefined, undefined]
  ])
})

t.test('the header of a call lets nobody in', async (t) => {
  const seen: string[] = []
  const app = await buildApp(t, {
    mcp: true,
    before (app) {
      app.addHook('onRequest', async ({ headers }) => { seen.push(String(headers['x-recruiting-call'])) })
    }
  })
  await sendCall(app, keys.full, 'list_jobs')
  const [, used = ''] = seen
  t.match(used, /^[\da-f-]{36}$/)
  for (const name of [used, '', 'undefined', '__proto__', 'constructor']) {
    const headers = { 'x-recruiting-call': name }
    t.equal((await app.inject({ url: '/api/v1/public/acme/jobs', headers })).statusCode, 401, name)
    t.equal((await sendMessage(app, 'unknown', 'tools/list', {}, { headers })).statusCode, 401, name)
  }
})

t.test('pages of other sites are refused, and those that the option names are not', async (t) => {
  const app = await buildApp(t, { mcp: { origins: ['https://chat.example'] } })
  const from = async (origin: string) => (await sendMessage(app, keys.full, 'tools/list', {}, { headers: { origin } })).statusCode
  t.equal(await from('https://chat.example'), 200)
  t.equal(await from('https://evil.example'), 403)
  t.equal(await from('null'), 403)
})
