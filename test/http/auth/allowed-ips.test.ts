import type { FastifyInstance, FastifyServerOptions, LightMyRequestResponse } from 'fastify'
import t from 'tap'
import type { ApiKey } from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { allScopes, bearer, buildApp } from '../../fixtures/api/app.js'
import { captureLogs } from '../../fixtures/api/logs.js'

const key = 'office-key'
const allowedIps = ['203.0.113.0/24', '198.51.100.7/32', '2001:db8:1::/48']
const keyLookup = memoryKeyLookup([{ key, tenantSlug: 'acme', scopes: allScopes, allowedIps }, { key: 'roaming-key', tenantSlug: 'acme', scopes: allScopes }])

function listFrom (app: FastifyInstance, remoteAddress: string, sent = key, headers: object = {}): Promise<LightMyRequestResponse> {
  return app.inject({ url: '/api/v1/public/acme/jobs', headers: { ...bearer(sent), ...headers }, remoteAddress })
}

t.test('a key works only from its networks, however the address is written', async (t) => {
  const app = await buildApp(t, { keyLookup })
  for (const address of ['203.0.113.0', '203.0.113.255', '198.51.100.7', '::ffff:203.0.113.9', '::ffff:cb00:7109', '203.0.113.9:5123', '2001:db8:1:ffff::1', '[2001:db8:1::1]:443', '2001:DB8:1::1%eth0']) {
    t.equal((await listFrom(app, address)).statusCode, 200, address)
  }
  for (const address of ['203.0.114.0', '203.0.112.255', '198.51.100.8', '::ffff:198.51.100.8', '2001:db8:2::1', '127.0.0.1', '::1', '203.0.113', '0xcb007109', 'unknown', '', '203.0.113.9, 1.2.3.4']) {
    t.equal((await listFrom(app, address)).statusCode, 401, address)
    t.equal((await listFrom(app, address, 'roaming-key')).statusCode, 200, `a key without networks from ${address}`)
  }
})

t.test('a caller from elsewhere gets the answer of an unknown key, whatever it asks for', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { keyLookup, server: { logger: logs.logger }, requestId: () => 'same' })
  for (const [method, path] of [['GET', 'jobs'], ['GET', 'jobs/1'], ['POST', 'webhooks'], ['GET', 'nothing'], ['DELETE', 'webhooks/1']] as const) {
    const [foreign, unknown] = await Promise.all([key, 'unknown-key'].map((sent) =>
      app.inject({ method, url: `/api/v1/public/acme/${path}`, headers: bearer(sent), remoteAddress: '192.0.2.1' })))
    t.equal(foreign?.statusCode, 401)
    t.equal(foreign?.body, unknown?.body)
    t.same({ ...foreign?.headers, date: 0 }, { ...unknown?.headers, date: 0 })
  }
  const refused = logs.lines.filter(({ msg }) => msg === 'the key is not allowed from the address of the request')
  t.equal(refused.length, 5)
  t.match(refused[0], { level: 30, keyId: 'key_1' })
  t.notMatch(JSON.stringify(logs.lines), key)
})

t.test('attempts from elsewhere count as invalid keys, so they are limited like those', async (t) => {
  const app = await buildApp(t, { keyLookup, rateLimit: { failedKeys: { max: 3 } } })
  t.equal((await listFrom(app, '203.0.113.1')).statusCode, 200)
  const statuses: number[] = []
  for (let at = 0; at < 5; at++) statuses.push((await listFrom(app, '192.0.2.1')).statusCode)
  t.strictSame(statuses, [401, 401, 401, 429, 429])
  t.equal((await listFrom(app, '203.0.113.1')).statusCode, 200, 'the network of the key is not affected')
})

t.test('a client that claims another address behind a named proxy gets nowhere', async (t) => {
  const app = await buildApp(t, { keyLookup, server: { trustProxy: '10.0.0.1' } })
  const from = (remoteAddress: string, forwarded: string) => listFrom(app, remoteAddress, key, { 'x-forwarded-for': forwarded })
  t.equal((await from('10.0.0.1', '203.0.113.5')).statusCode, 200)
  t.equal((await from('10.0.0.1', '203.0.113.5, 192.0.2.1')).statusCode, 401)
  t.equal((await from('192.0.2.1', '203.0.113.5')).statusCode, 401)
  for (const forwarded of ['', ',', 'garbage', '999.1.1.1', '\u00ff', 'x'.repeat(5000)]) {
    t.equal((await from('10.0.0.1', forwarded)).statusCode, 401, forwarded.slice(0, 20))
  }
})

const warning = 'trustProxy trusts every address, so callers choose their own, which defeats allowedIps of keys: name your proxies instead'

for (const [trustProxy, count] of [[true, 1], ['10.0.0.1', 0]] as Array<[FastifyServerOptions['trustProxy'], number]>) {
  t.test(`trustProxy: ${trustProxy} is ${count === 0 ? 'not ' : ''}warned of, at the first use of such a key`, async (t) => {
    const logs = captureLogs()
    const app = await buildApp(t, { keyLookup, server: { trustProxy: trustProxy ?? false, logger: logs.logger } })
    const warnings = () => logs.lines.filter(({ msg }) => msg === warning).length
    await listFrom(app, '10.0.0.1', 'roaming-key')
    t.equal(warnings(), 0)
    await listFrom(app, '10.0.0.1')
    await listFrom(app, '10.0.0.1')
    t.equal(warnings(), count)
  })
}

t.test('networks of a lookup that are not valid are a 500 with the reason in the log', async (t) => {
  for (const [wrong, message] of [
    [['10.0.0.0'], 'keyLookup: allowedIps[0]: expected a CIDR such as 203.0.113.0/24 or 203.0.113.7/32, got "10.0.0.0"'],
    [[], 'keyLookup: allowedIps: expected 1 to 100 CIDRs, got an array'],
    [['10.0.0.0/8,0.0.0.0/0'], 'keyLookup: allowedIps[0]: expected a CIDR such as 203.0.113.0/24 or 203.0.113.7/32, got "10.0.0.0/8,0.0.0.0/0"'],
    ['10.0.0.0/8', 'keyLookup: allowedIps: expected 1 to 100 CIDRs, got "10.0.0.0/8"'],
    [5, 'keyLookup: allowedIps: expected 1 to 100 CIDRs, got 5']
  ] as const) {
    const logs = captureLogs()
    const found = { id: 'key_1', scopes: allScopes, allowedIps: wrong } as unknown as ApiKey
    const app = await buildApp(t, { keyLookup: async () => found, server: { logger: logs.logger } })
    t.equal((await listFrom(app, '10.1.1.1')).statusCode, 500)
    t.match(logs.lines.find(({ level }) => level === 50), { err: { message } })
  }
})

t.test('more lists of networks than are remembered still count', async (t) => {
  let at = 0
  const app = await buildApp(t, { keyLookup: async () => ({ id: 'key', scopes: allScopes, allowedIps: [`10.${at >> 8}.${at & 255}.0/24`] }) })
  for (at = 0; at < 1010; at++) await listFrom(app, `10.${at >> 8}.${at & 255}.9`)
  at = 0
  t.strictSame([(await listFrom(app, '10.0.0.9')).statusCode, (await listFrom(app, '10.0.1.9')).statusCode], [200, 401])
})
