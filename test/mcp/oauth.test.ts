import { SignJWT, generateKeyPair, jwtVerify } from 'jose'
import t from 'tap'
import { type AppOverrides, type Teardown, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { sendCall, sendMessage } from '../fixtures/api/mcp.js'
import { assertAcceptedByPlugin, assertRefusedByPlugin } from '../fixtures/refused-option.js'

const issuer = 'https://auth.example.com'
const publicUrl = 'https://api.example.com/v'
const metadata = '/.well-known/oauth-protected-resource/api/v1/public/acme/mcp'
const challenge = `resource_metadata="${publicUrl}${metadata}"`

function build (t: Teardown, overrides: AppOverrides = {}) {
  return buildApp(t, { publicUrl, mcp: { authorizationServers: [issuer] }, ...overrides })
}

t.test('a 401 names the metadata, and is otherwise the same for everyone', async (t) => {
  const app = await build(t, { requestId: () => 'req_1' })
  const unknown = await sendMessage(app, 'unknown', 'tools/list')
  t.strictSame([unknown.statusCode, unknown.headers['www-authenticate']], [401, `Bearer ${challenge}`])
  const foreign = await sendMessage(app, keys.globex, 'tools/list')
  t.strictSame({ ...foreign.headers, date: 0 }, { ...unknown.headers, date: 0 })
  t.equal(foreign.body, unknown.body)
  const stream = await app.inject('/api/v1/public/acme/mcp')
  t.strictSame([stream.statusCode, stream.headers['www-authenticate']], [401, `Bearer ${challenge}`])
  const other = await app.inject('/api/v1/public/acme/jobs')
  t.equal(other.headers['www-authenticate'], 'Bearer', 'other routes do not change')
})

t.test('a name of a tenant is encoded in the challenge', async (t) => {
  const app = await build(t)
  const answer = await sendMessage(app, 'unknown', 'tools/list', {}, { tenant: 'a%22%2c%0d%0ab' })
  t.equal(answer.headers['www-authenticate'], `Bearer resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/api/v1/public/a%22%2C%0D%0Ab/mcp"`)
})

t.test('a 403 names the scopes that are missing', async (t) => {
  const app = await build(t)
  const answers = await Promise.all([sendCall(app, keys.none, 'list_candidates'), sendCall(app, keys.none, 'list_webhooks'), sendMessage(app, keys.none, 'resources/read', { uri: 'recruiting://acme/jobs/1' })])
  t.strictSame(answers.map(({ statusCode, headers }) => [statusCode, headers['www-authenticate']]), [
    [403, `Bearer error="insufficient_scope", scope="candidates:read", ${challenge}`],
    [403, `Bearer error="insufficient_scope", scope="webhooks:read webhooks:write", ${challenge}`],
    [403, `Bearer error="insufficient_scope", scope="jobs:read", ${challenge}`]
  ])
})

t.test('the metadata needs no key, and shows no more for a tenant than for none', async (t) => {
  const app = await build(t)
  for (const tenant of ['acme', 'initech']) {
    const answer = await app.inject(metadata.replace('acme', tenant))
    t.equal(answer.statusCode, 200)
    t.strictSame(answer.json(), {
      resource: `${publicUrl}/api/v1/public/${tenant}/mcp`,
      authorization_servers: [issuer],
      scopes_supported: ['candidates:read', 'candidates:write', 'jobs:read', 'jobs:write', 'webhooks:read', 'webhooks:write'],
      bearer_methods_supported: ['header']
    })
  }
})

t.test('without authorization servers there is no metadata', async (t) => {
  const app = await buildApp(t, { mcp: true, publicUrl })
  t.equal((await app.inject(metadata)).statusCode, 404)
  t.equal((await sendMessage(app, 'unknown', 'tools/list')).headers['www-authenticate'], 'Bearer')
})

t.test('the option resource names the tenant, and where the metadata is', async (t) => {
  const app = await buildApp(t, { mcp: { authorizationServers: [issuer], resource: 'https://ats.example.com/{tenant_slug}' } })
  t.match((await app.inject(metadata)).json(), { resource: 'https://ats.example.com/acme' })
  t.equal((await sendMessage(app, 'unknown', 'tools/list')).headers['www-authenticate'], `Bearer resource_metadata="https://ats.example.com${metadata}"`)
})

t.test('an access token reaches the key lookup, however long, and its scopes count', async (t) => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const sign = (scope: string, audience = `${publicUrl}/api/v1/public/acme/mcp`) => new SignJWT({ scope, padding: 'x'.repeat(2000) })
    .setProtectedHeader({ alg: 'RS256' }).setSubject('ann').setIssuer(issuer).setAudience(audience).setExpirationTime('5m').sign(privateKey)
  const app = await build(t, {
    async keyLookup ({ tenantSlug, key }) {
      try {
        const { payload } = await jwtVerify(key, publicKey, { issuer, audience: `${publicUrl}/api/v1/public/${tenantSlug}/mcp` })
        return { id: String(payload.sub), scopes: String(payload.scope).split(' ') }
      } catch {
        return null
      }
    }
  })
  t.match((await sendCall(app, await sign('jobs:read'), 'list_jobs')).json(), { result: { structuredContent: { meta: { total: 2 } } } })
  t.equal((await sendCall(app, await sign('jobs:read'), 'list_candidates')).statusCode, 403)
  t.equal((await sendCall(app, await sign('jobs:read', 'https://other.example'), 'list_jobs')).statusCode, 401)
  t.equal((await sendCall(app, `${await sign('jobs:read')}x`, 'list_jobs')).statusCode, 401)
  const stream = await app.inject({ url: '/api/v1/public/acme/mcp', headers: bearer(await sign('jobs:read')) })
  t.equal(stream.statusCode, 405)
  const plain = await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(await sign('jobs:read')) })
  t.equal(plain.statusCode, 401, 'other routes take keys of up to 512 characters')
})

t.test('a token that is too long is not looked up', async (t) => {
  const sent: number[] = []
  const keyLookup = async ({ key }: { key: string }) => {
    sent.push(key.length)
    return { id: '1', scopes: [] }
  }
  const long = await build(t, { keyLookup })
  for (const length of [8192, 8193]) await sendMessage(long, 'x'.repeat(length), 'tools/list')
  const short = await buildApp(t, { mcp: true, keyLookup })
  for (const length of [512, 513]) await sendMessage(short, 'x'.repeat(length), 'tools/list')
  t.strictSame(sent, [8192, 512])
})

t.test('the metadata is below the prefix of the host', async (t) => {
  const app = await buildApp(t, {
    before (app) {
      app.register(async (scope) => {
        await scope.register((await import('../../src/index.js')).default, {
          storage: (await import('../../src/memory/index.js')).memoryStorage(), keyLookup: async () => null, delivery: false, mcp: { authorizationServers: [issuer] }, publicUrl: 'https://ats.example.com'
        })
      }, { prefix: '/nested' })
    }
  })
  const { headers } = await app.inject({ method: 'POST', url: '/nested/api/v1/public/acme/mcp' })
  const address = '/nested/.well-known/oauth-protected-resource/nested/api/v1/public/acme/mcp'
  t.equal(headers['www-authenticate'], `Bearer resource_metadata="https://ats.example.com${address}"`)
  t.match((await app.inject(address)).json(), { resource: 'https://ats.example.com/nested/api/v1/public/acme/mcp' })
})

t.test('wrong options are refused', async (t) => {
  const origin = 'an origin such as https://chat.example'
  const url = 'a URL such as https://auth.example.com, without a fragment'
  const cases: Array<[unknown, string, string, string]> = [
    ['yes', 'mcp', 'a boolean or an object', '"yes"'],
    [{ secret: true }, 'mcp.secret', 'a known name such as secrets', '"secret"'],
    [{ secrets: 1 }, 'mcp.secrets', 'a boolean', '1'],
    [{ authorizationServers: issuer }, 'mcp.authorizationServers', 'an array of URLs', `"${issuer}"`],
    [{ authorizationServers: ['auth'] }, 'mcp.authorizationServers[0]', url, '"auth"'],
    [{ authorizationServers: [`${issuer}#a`] }, 'mcp.authorizationServers[0]', url, `"${issuer}#a"`],
    [{ authorizationServers: [issuer] }, 'mcp.resource', 'a URL, or the option publicUrl', 'undefined'],
    [{ resource: 1 }, 'mcp.resource', url, '1'],
    [{ resource: 'https://:' }, 'mcp.resource', url, '"https://:"'],
    [{ origins: 'https://chat.example' }, 'mcp.origins', 'an array of origins', '"https://chat.example"'],
    [{ origins: ['https://chat.example/'] }, 'mcp.origins[0]', origin, '"https://chat.example/"'],
    [{ origins: [1] }, 'mcp.origins[0]', origin, '1']
  ]
  for (const [mcp, ...refused] of cases) await assertRefusedByPlugin(t, [{ mcp }, ...refused])
  for (const mcp of [true, false, {}, { origins: ['http://localhost:3000'] }]) await assertAcceptedByPlugin(t, { mcp })
})
