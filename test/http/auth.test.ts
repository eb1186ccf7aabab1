import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { memoryKeyLookup } from '../../src/storages/memory/index.js'
import type { ApiKey } from '../../src/index.js'
import { allScopes, apiKeys, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../fixtures/api/routes.js'
import { sendRaw } from '../fixtures/receivers/raw-http.js'
import { captureLogs } from '../fixtures/api/logs.js'

// This request has every fault, and each test fixes some: no key, no scope, an invalid body, an unknown webhook.
const request = {
  method: 'PATCH' as const,
  url: '/api/v1/public/acme/webhooks/999?unknown=1',
  headers: { 'content-type': 'application/json' },
  payload: '{"name":'
}

t.test('the key is checked before anything else, and its scope before the request is validated', async (t) => {
  const app = await buildApp(t, { errorDetails: true })
  checkError(t, await app.inject(request), 401)
  checkError(t, await app.inject({ ...request, headers: { ...request.headers, ...bearer(keys.jobsRead) } }), 403)
})

t.test('the body, query and path are validated before the resource is looked up', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  const headers = { ...request.headers, ...bearer(keys.full) }
  const good = { ...request, headers, url: '/api/v1/public/acme/webhooks/999', payload: '{"name":"ATS events"}' }

  checkError(t, await app.inject({ ...good, payload: '{"name":' }), 400, 'a malformed body')
  checkError(t, await app.inject({ ...good, payload: '{"name":1}' }), 400, 'an invalid body')
  checkError(t, await app.inject({ ...good, url: `${good.url}?unknown=1` }), 400, 'an unknown parameter')
  checkError(t, await app.inject({ ...good, url: '/api/v1/public/acme/webhooks/x' }), 400, 'an id that is not a number')
  t.same(calls, [], 'the storage is not called')
  checkError(t, await app.inject(good), 404, 'a valid request for an unknown webhook')
})

/** Every set of scopes, each with a key that has exactly these. */
const grants = Array.from({ length: 2 ** allScopes.length }, (_, bits) => ({
  key: `key-${bits}`,
  tenantSlug: 'acme',
  scopes: allScopes.filter((_, index) => (bits >> index) % 2 === 1)
}))

/** The contract's rules, repeated independently of the code. */
function isAllowed (path: string, scopes: readonly string[]): boolean {
  if (path.startsWith('/events')) return scopes.includes('webhooks:read')
  if (/^\/(webhooks|event_types)/.test(path)) return scopes.includes('webhooks:read') && scopes.includes('webhooks:write')
  if (path === '/api_key') return true
  if (path.startsWith('/api_keys')) return scopes.includes('api_keys:manage')
  const resource = path.startsWith('/candidates') ? 'candidates' : 'jobs'
  return scopes.includes(`${resource}:read`) || scopes.includes(`${resource}:write`)
}

t.test(
  'every operation accepts or rejects each of the 128 sets of scopes, as in the contract',
  async (t) => {
    const { app, routes } = await buildAppWithRoutes(t, { keyLookup: memoryKeyLookup(grants) })
    for (const route of routes) {
      const { method, path } = route
      t.ok(
        /^\/(candidates|jobs|webhooks|event_types|events|api_keys?)(\/|$)/.test(path),
        `the rule of ${titleOf(route)} is known`
      )
      const wrong: string[] = []
      for (const { key, scopes } of grants) {
        const { statusCode } = await app.inject({ method: method as 'GET', url: urlOf(route), headers: bearer(key) })
        if ((statusCode !== 403) !== isAllowed(path, scopes)) wrong.push(`[${scopes.join()}] gets ${statusCode}`)
      }
      t.same(wrong, [], titleOf(route))
    }
  }
)

t.test('scopes are compared exactly', async (t) => {
  const scopes = [
    'candidates', 'candidates:', ':read', 'candidates:*', '*', '*:*', 'CANDIDATES:READ', 'Candidates:read', 'candidates:read ',
    ' candidates:read', 'candidates:readonly', 'candidates:rea', 'candidate:read', 'candidates.read', 'candidates:read,candidates:write',
    'candidates:read candidates:write', 'candidates:delete', 'jobs:read', 'admin'
  ]
  const keyLookup = memoryKeyLookup(scopes.map((scope, index) => ({ key: `key-${index}`, tenantSlug: 'acme', scopes: [scope] })))
  const app = await buildApp(t, { keyLookup })
  for (const [index, scope] of scopes.entries()) {
    checkError(t, await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(`key-${index}`) }), 403, `"${scope}"`)
  }
})

const url = '/api/v1/public/acme/candidates'

const accepted: Record<string, { key: string, header: (key: string) => string }> = {
  'a hundred spaces': { key: 'a-key', header: (key) => `Bearer${' '.repeat(100)}${key}` },
  'the scheme in mixed case': { key: 'a-key', header: (key) => `bEaReR ${key}` },
  'a key of one character': { key: 'k', header: (key) => `Bearer ${key}` },
  'a key of 510 characters and two equals signs': { key: `${'k'.repeat(510)}==`, header: (key) => `Bearer ${key}` },
  'every character that a key can have': { key: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=', header: (key) => `Bearer ${key}` }
}

t.test('a key is accepted in each of these forms, and looked up as sent', async (t) => {
  for (const [what, { key, header }] of Object.entries(accepted)) {
    const asked: unknown[] = []
    const lookup = memoryKeyLookup([{ key, tenantSlug: 'acme', scopes: ['candidates:read'] }])
    const app = await buildApp(t, { keyLookup: (asking) => { asked.push(asking); return lookup(asking) } })
    t.equal((await app.inject({ url, headers: { authorization: header(key) } })).statusCode, 200, what)
    t.same(asked, [{ tenantSlug: 'acme', tenantId: 'acme', key }], what)
  }
})

const key = keys.full

const malformed: Record<string, string> = {
  'an empty header': '',
  'the scheme alone': 'Bearer',
  'the key alone': key,
  'no space after the scheme': `Bearer${key}`,
  'a tab after the scheme': `Bearer\t${key}`,
  'a space before the scheme': ` Bearer ${key}`,
  'a space after the key': `Bearer ${key} `,
  'a NUL after the key': `Bearer ${key}\0`,
  'two tokens': `Bearer ${key} ${key}`,
  'a comma list of keys': `Bearer ${key},${key}`,
  'double quotes': `Bearer "${key}"`,
  'the scheme Basic': `Basic ${key}`,
  'the scheme Bearers': `Bearers ${key}`,
  'an equals sign within the key': 'Bearer acme=full-key',
  'a non-ASCII letter': `Bearer ${key}é`,
  'a lone surrogate': `Bearer ${key}\ud800`,
  '513 characters': `Bearer ${'a'.repeat(513)}`,
  '100,000 characters': `Bearer ${'a'.repeat(100_000)}`
}

t.test('a malformed Authorization header gets the same 401 as a missing one, and no key is looked up', async (t) => {
  const asked: string[] = []
  const lookup = memoryKeyLookup(apiKeys)
  const app = await buildApp(t, { keyLookup: (asking) => { asked.push(asking.key); return lookup(asking) } })
  const missing = comparable(await app.inject({ url }))
  for (const [what, authorization] of Object.entries(malformed)) {
    const answer = await app.inject({ url, headers: { authorization } })
    checkError(t, answer, 401, what)
    t.equal(comparable(answer), missing, `${what} gets the same response as a missing header`)
  }
  t.same(asked, [])
})

t.test('a key outside the Authorization header gets the same 401 as no key', async (t) => {
  const app = await buildApp(t)
  const missing = comparable(await app.inject({ url }))
  for (const name of ['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization', 'Authorization']) {
    t.equal(comparable(await app.inject({ url: `${url}?${name}=${key}` })), missing, `the parameter ${name}`)
    t.equal(comparable(await app.inject({ url: `${url}?${name}=Bearer%20${key}` })), missing, `the parameter ${name} with a scheme`)
  }
  for (const name of ['x-api-key', 'api-key', 'proxy-authorization', 'x-authorization', 'x-forwarded-authorization', 'cookie']) {
    t.equal(comparable(await app.inject({ url, headers: { [name]: `Bearer ${key}` } })), missing, `the header ${name}`)
  }
})

function requestWithTwo (...lines: string[]): string {
  return ['GET /api/v1/public/acme/candidates HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n')
}

const good = `Authorization: Bearer ${keys.full}`

const rejected: Record<string, string[]> = {
  'the same header twice': [good, good],
  'the valid key last': ['Authorization: Bearer unknown', good],
  'an empty one after the valid key': [good, 'Authorization:'],
  'names in another case': [good, `AUTHORIZATION: Bearer ${keys.full}`, `authorization: Bearer ${keys.full}`]
}

t.test('two Authorization headers get the same 401 as no header', async (t) => {
  const app = await buildApp(t)
  const [missing] = await sendRaw(app, requestWithTwo())
  t.ok(missing)
  for (const [what, lines] of Object.entries(rejected)) {
    const [answer] = await sendRaw(app, requestWithTwo(...lines))
    if (answer === undefined || missing === undefined) return t.fail(`${what} gets a response`)
    checkError(t, answer, 401, what)
    t.equal(comparable(answer), comparable(missing), `${what} gets the same response as no header`)
  }
})

t.test('a header value named like the header is not a second header', async (t) => {
  const app = await buildApp(t)
  const [answer] = await sendRaw(app, requestWithTwo(good, 'Vary: authorization', 'Access-Control-Request-Headers: authorization'))
  t.equal(answer?.statusCode, 200)
})

t.test('an empty tenant slug gets 401 from every operation, and no lookup is called', async (t) => {
  const { storage, calls } = spyStorage()
  const asked: unknown[] = []
  const { app, routes } = await buildAppWithRoutes(t, {
    storage,
    // Accepts every key, so that only the check before it can reject.
    keyLookup: async (credentials) => { asked.push(credentials); return { id: 'any', scopes: ['candidates:read'] } }
  })
  for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
    const url = urlOf(route, { tenant: '' })
    checkError(t, await app.inject({ method: route.method as 'GET', url, headers: bearer(keys.full) }), 401, titleOf(route))
  }
  checkError(t, await app.inject({ url: '/api/v1/public//nothing', headers: bearer(keys.full) }), 401, 'an unknown path')
  checkError(t, await app.inject({ url: '/api/v1/public//', headers: bearer(keys.full) }), 401, 'no path')
  t.same(asked, [])
  t.same(calls, [])
})

const limitedKey = 'office-key'
const allowedIps = ['203.0.113.0/24', '198.51.100.7/32', '2001:db8:1::/48']
const keyLookup = memoryKeyLookup([{ key: limitedKey, tenantSlug: 'acme', scopes: allScopes, allowedIps }, { key: 'roaming-key', tenantSlug: 'acme', scopes: allScopes }])

function listFrom (app: FastifyInstance, remoteAddress: string, sent = limitedKey, headers: object = {}) {
  return app.inject({ url: '/api/v1/public/acme/jobs', headers: { ...bearer(sent), ...headers }, remoteAddress })
}

t.test('a key works only from its networks, in any notation of the address', async (t) => {
  const app = await buildApp(t, { keyLookup })
  for (const address of ['203.0.113.0', '203.0.113.255', '198.51.100.7', '::ffff:203.0.113.9', '::ffff:cb00:7109', '203.0.113.9:5123', '2001:db8:1:ffff::1', '[2001:db8:1::1]:443', '2001:DB8:1::1%eth0']) {
    t.equal((await listFrom(app, address)).statusCode, 200, address)
  }
  for (const address of ['203.0.114.0', '203.0.112.255', '198.51.100.8', '::ffff:198.51.100.8', '2001:db8:2::1', '127.0.0.1', '::1', '203.0.113', '0xcb007109', 'unknown', '', '203.0.113.9, 1.2.3.4']) {
    t.equal((await listFrom(app, address)).statusCode, 401, address)
    t.equal((await listFrom(app, address, 'roaming-key')).statusCode, 200, `a key without networks from ${address}`)
  }
})

t.test('a caller from another network gets the 401 of an unknown key from every operation', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { keyLookup, server: { logger: logs.logger }, requestId: () => 'same' })
  for (const [method, path] of [['GET', 'jobs'], ['GET', 'jobs/1'], ['POST', 'webhooks'], ['GET', 'nothing'], ['DELETE', 'webhooks/1']] as const) {
    const [foreign, unknown] = await Promise.all([limitedKey, 'unknown-key'].map((sent) =>
      app.inject({ method, url: `/api/v1/public/acme/${path}`, headers: bearer(sent), remoteAddress: '192.0.2.1' })))
    t.equal(foreign?.statusCode, 401)
    t.equal(foreign?.body, unknown?.body)
    t.same({ ...foreign?.headers, date: 0 }, { ...unknown?.headers, date: 0 })
  }
  const rejected = logs.lines.filter(({ msg }) => msg === 'the key is not allowed from the address of the request')
  t.equal(rejected.length, 5)
  t.match(rejected[0], { level: 30, keyId: 'key_1' })
  t.notMatch(JSON.stringify(logs.lines), limitedKey)
})

t.test('attempts from other networks count as invalid keys, so they are limited', async (t) => {
  const app = await buildApp(t, { keyLookup, rateLimit: { failedKeys: { max: 3 } } })
  t.equal((await listFrom(app, '203.0.113.1')).statusCode, 200)
  const statuses: number[] = []
  for (let at = 0; at < 5; at++) statuses.push((await listFrom(app, '192.0.2.1')).statusCode)
  t.strictSame(statuses, [401, 401, 401, 429, 429])
  t.equal((await listFrom(app, '203.0.113.1')).statusCode, 200, "the key's network is not affected")
})

t.test('a client behind a named proxy cannot claim another address', async (t) => {
  const app = await buildApp(t, { keyLookup, server: { trustProxy: '10.0.0.1' } })
  const from = (remoteAddress: string, forwarded: string) => listFrom(app, remoteAddress, limitedKey, { 'x-forwarded-for': forwarded })
  t.equal((await from('10.0.0.1', '203.0.113.5')).statusCode, 200)
  t.equal((await from('10.0.0.1', '203.0.113.5, 192.0.2.1')).statusCode, 401)
  t.equal((await from('192.0.2.1', '203.0.113.5')).statusCode, 401)
  for (const forwarded of ['', ',', 'garbage', '999.1.1.1', '\u00ff', 'x'.repeat(5000)]) {
    t.equal((await from('10.0.0.1', forwarded)).statusCode, 401, forwarded.slice(0, 20))
  }
})

const warning = 'trustProxy trusts every address, so clients can fake theirs and bypass allowedIps of keys: name your proxies instead'

t.test('a host that trusts every address gets a warning at the first use of a key with networks', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { keyLookup, server: { trustProxy: true, logger: logs.logger } })
  const counts: number[] = []
  for (const sent of ['roaming-key', limitedKey, limitedKey]) {
    await listFrom(app, '10.0.0.1', sent)
    counts.push(logs.lines.filter(({ msg }) => msg === warning).length)
  }
  t.same(counts, [0, 1, 1])
})

t.test('a lookup with invalid networks causes a 500 with the reason in the log', async (t) => {
  for (const [wrong, message] of [
    [['10.0.0.0'], 'keyLookup: allowedIps[0]: expected a CIDR such as 203.0.113.0/24 or 203.0.113.7/32, got "10.0.0.0"'],
    [[], 'keyLookup: allowedIps: expected 1 to 100 CIDRs, got "0 entries"'],
    ['10.0.0.0/8', 'keyLookup: allowedIps: expected 1 to 100 CIDRs, got "10.0.0.0/8"']
  ] as const) {
    const logs = captureLogs()
    const found = { id: 'key_1', scopes: allScopes, allowedIps: wrong } as unknown as ApiKey
    const app = await buildApp(t, { keyLookup: async () => found, server: { logger: logs.logger } })
    t.equal((await listFrom(app, '10.1.1.1')).statusCode, 500)
    t.match(logs.lines.find(({ level }) => level === 50), { err: { message } })
  }
})
