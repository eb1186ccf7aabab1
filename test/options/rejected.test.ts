import { randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { assertAccepted, assertAcceptedByPlugin, assertRejected, assertRejectedByPlugin, type RejectedOption } from '../fixtures/rejected-option.js'

const url = 'a URL such as https://api.example.com, without query and fragment'
const rule = { failingForSeconds: 60, failedDeliveries: 1 }
const cidr = 'a CIDR such as 10.0.0.0/8'
const source = 'an IP address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24'
const clock = { now: () => 0, monotonic: () => 0, setTimeout: () => 0, clearTimeout: () => {} }
const schedule = 'delivery.retrySchedule'

const ofEngine: RejectedOption[] = [
  ...[[9, '9'], [10.5, '10.5'], [Number.NaN, 'NaN'], ['10', '"10"']].map(([pollMs, shown]): RejectedOption =>
    [{ delivery: { pollMs } }, 'delivery.pollMs', 'an integer from 10 to 60000', String(shown)]),
  [{ delivery: { leaseMs: 19_999 } }, 'delivery.leaseMs', 'an integer from 20000 to 3600000', '19999'],
  [{ delivery: { leaseMs: 60_000, timeoutMs: 60_000 } }, 'delivery.leaseMs', 'an integer from 65000 to 3600000', '60000'],
  [{ delivery: { environment: 'a\n' } }, 'delivery.environment', '1 to 64 characters without control characters', '"a\\n"'],
  [{ delivery: { retrySchedule: [] } }, schedule, '1 to 100 numbers', '"0 entries"'],
  [{ delivery: { retrySchedule: Array(101).fill(0) } }, schedule, '1 to 100 numbers', '"101 entries"'],
  [{ delivery: { retrySchedule: [0, -1] } }, `${schedule}[1]`, 'seconds from 0 to 31536000', '-1'],
  [{ delivery: { retrySchedule: [0, '5'] } }, `${schedule}[1]`, 'seconds from 0 to 31536000', '"5"'],
  ...['allowNetworks', 'denyNetworks'].flatMap((name): RejectedOption[] => [
    [{ delivery: { [name]: '10.0.0.0/8' } }, `delivery.${name}`, 'an array of CIDRs', '"10.0.0.0/8"'],
    ...['10.0.0.0', '10.0.0.0/33', 'example.com/8', '[::1]/128', '010.0.0.0/8'].map((text): RejectedOption =>
      [{ delivery: { [name]: ['10.0.0.0/8', text] } }, `delivery.${name}[1]`, cidr, JSON.stringify(text)])
  ]),
  [{ delivery: { sourceIps: [] } }, 'delivery.sourceIps', 'an array of 1 to 100 IP addresses or CIDRs', '"0 entries"'],
  [{ delivery: { sourceIps: ['203.0.113.7', 'fe80::1%eth0'] } }, 'delivery.sourceIps[1]', source, '"fe80::1%eth0"'],
  [{ delivery: { localAddress: 'localhost' } }, 'delivery.localAddress', 'an IP address', '"localhost"'],
  [{ delivery: { disableAfter: 5 } }, 'delivery.disableAfter', 'an object', '5'],
  [{ delivery: { disableAfter: { ...rule, failingForSeconds: undefined } } }, 'delivery.disableAfter.failingForSeconds', 'an integer from 0 to 31536000', 'undefined'],
  [{ delivery: { disableAfter: { ...rule, failedDeliveries: 0 } } }, 'delivery.disableAfter.failedDeliveries', 'an integer from 1 to 1000000', '0'],
  [{ delivery: { worker: 'false' } }, 'delivery.worker', 'a boolean', '"false"'],
  [{ delivery: { allowHttp: 0 } }, 'delivery.allowHttp', 'a boolean', '0'],
  ...Object.keys(clock).map((method): RejectedOption =>
    [{ delivery: { clock: { ...clock, [method]: undefined } } }, `delivery.clock.${method}`, 'a method', 'undefined']),
  [{ delivery: true }, 'delivery', 'an object or false', 'true'],
  [{ delivery: [] }, 'delivery', 'an object or false', 'an array'],
  [{ delivery: { proxy: 'http://proxy.example' } }, 'delivery.proxy', 'an object such as { url }', '"text"'],
  [{ delivery: { proxy: { uri: 'http://proxy.example' } } }, 'delivery.proxy.uri', 'a known name such as url', '"uri"'],
  ...[
    [3128, '3128'], ['proxy.example', '"text that is not a URL"'], ['socks5://proxy.example', '"another protocol"'],
    ['http://proxy.example:0', '"port 0"'], ['http://proxy.example/path', '"a URL with a path"'], ['http://proxy.example/?x=1', '"a URL with a path"']
  ].map(([url, shown]): RejectedOption => [{ delivery: { proxy: { url } } }, 'delivery.proxy.url', 'a URL such as http://proxy.example:3128', String(shown)]),
  ...['a%3Ab', '%ff', 'a%0D%0Ab'].map((user): RejectedOption => [
    { delivery: { proxy: { url: `http://${user}@proxy.example` } } }, 'delivery.proxy.url',
    'percent-encoded credentials without control characters, the user name without a colon', '"others"'
  ]),
  [{ maxWebhooksPerCreator: 0 }, 'maxWebhooksPerCreator', 'an integer from 1 to 10000', '0'],
  [{ maxWebhooksPerTenant: 10_001 }, 'maxWebhooksPerTenant', 'an integer from 1 to 10000, or a function', '10001'],
  [{ tenantId: () => 41, tenantCacheSeconds: 3601 }, 'tenantCacheSeconds', 'an integer from 0 to 3600', '3601'],
  [{ tenantCacheSeconds: 1 }, 'tenantCacheSeconds', 'none without the option tenantId', '1'],
  [{ maxEventBytes: 1023 }, 'maxEventBytes', 'an integer from 1024 to 16777216', '1023'],
  [{ requireSubject: 'yes' }, 'requireSubject', 'a boolean', '"yes"'],
  [{ secretKeys: [randomBytes(32), randomBytes(31)] }, 'secretKeys[1]', 'a Buffer of 32 bytes', '"31 bytes"'],
  [{ secretKeys: [randomBytes(32), '0123456789abcdef0123456789abcdef'] }, 'secretKeys[1]', 'a Buffer of 32 bytes', '"string"'],
  [{ secretKeys: { seal () {} } }, 'secretKeys.open', 'a function', '"undefined"'],
  [{ secretKeys: { seal () {}, open () {}, key: [] } }, 'secretKeys.key', 'a known name such as keys', '"key"'],
  [{ secretKeys: { seal () {}, open () {}, keys: [randomBytes(31)] } }, 'secretKeys.keys[0]', 'a Buffer of 32 bytes', '"31 bytes"'],
  [{ secretKeys: 'correct horse battery staple' }, 'secretKeys', 'an array of Buffers', '"string"'],
  ...['api.example.com', '/ats', 'ftp://api.example.com', 'https://user@api.example.com', 'https://api.example.com?x=1', 'https://api.example.com/#', ' https://a.example']
    .map((publicUrl): RejectedOption => [{ publicUrl }, 'publicUrl', url, JSON.stringify(publicUrl)]),
  [{ events: null }, 'events', 'a map from event names to TypeBox schemas', 'null'],
  [{ events: {} }, 'events', 'at least one event', 'an object'],
  ...['created', 'Job.created', 'job..created', 'job-post.created', `job.${'x'.repeat(97)}`].map((name): RejectedOption =>
    [{ events: { [name]: Type.Object({}) } }, `events["${name}"]`, 'a name such as application.created', JSON.stringify(name)]),
  [{ events: { 'job.created': Type.String() } }, 'events["job.created"]', 'a TypeBox object schema', 'an object'],
  [{ events: { 'job.created': Type.Object({}, { descriptions: { 'no locale': 'Stelle' } }) } }, 'events["job.created"].descriptions.no locale',
    'a language such as de or en-GB', '"no locale"'],
  [{ events: { 'job.created': Type.Object({}, { descriptions: { de: 7 } }) } }, 'events["job.created"].descriptions.de', 'text', '7']
]

const ofPlugin: RejectedOption[] = [
  [{ keyLookup: undefined }, 'keyLookup', 'a function', 'undefined'],
  [{ keyLookup: { lookup () {} } }, 'keyLookup', 'a function', 'an object'],
  ...['', 'api', '/api/', '//api', '/api/:tenant', '/api/*', '/ä', '/api?x=1'].map((prefix): RejectedOption =>
    [{ prefix }, 'prefix', 'a path such as /api/v1/public', JSON.stringify(prefix)]),
  [{ candidateFields: { type: 'object' } }, 'candidateFields', 'a TypeBox object schema', 'an object'],
  [{ candidateFields: Type.Object({ headline: Type.String() }) }, 'candidateFields.headline', 'a field that is not already published', '"headline"'],
  [{ jobFields: Type.Object({ id: Type.String() }) }, 'jobFields.id', 'a field that is not already published', '"id"'],
  [{ errorDetails: 'true' }, 'errorDetails', 'a boolean', '"true"'],
  [{ requestId: 'req_1' }, 'requestId', 'a function', '"req_1"'],
  [{ onAudit: {} }, 'onAudit', 'a function', 'an object'],
  [{ routes: {} }, 'routes', 'a Fastify plugin', 'an object'],
  [{ openapi: 'true' }, 'openapi', 'a boolean or an object', '"true"'],
  [{ openapi: { title: 'x' } }, 'openapi.title', 'a known name such as info', '"title"'],
  [{ openapi: { info: { licence: {} } } }, 'openapi.info.licence', 'a known name such as license', '"licence"'],
  [{ openapi: { info: { title: '' } } }, 'openapi.info.title', 'text', '""'],
  [{ openapi: { info: { contact: { email: 1 } } } }, 'openapi.info.contact.email', 'text', '1'],
  [{ openapi: { info: { license: { url: 'https://x.example' } } } }, 'openapi.info.license.name', 'text', 'undefined'],
  [{ openapi: { servers: [] } }, 'openapi.servers', 'an array of at least one server', '"0 entries"'],
  [{ openapi: { servers: [{ url: '/' }, { description: 'x' }] } }, 'openapi.servers[1].url', 'text', 'undefined'],
  [{ openapi: { inHostDocument: 'yes' } }, 'openapi.inHostDocument', 'a boolean', '"yes"'],
  [{ delivery: { pollMs: 0 } }, 'delivery.pollMs', 'an integer from 10 to 60000', '0'],
  ...([
    ['yes', '', 'a boolean or an object', '"yes"'],
    [{ maximum: 5 }, '.maximum', 'a known name such as max', '"maximum"'],
    [{ max: 0 }, '.max', 'an integer from 1 to 1000000000, or a function', '0'],
    [{ perTenant: 1 }, '.perTenant', 'a boolean', '1'],
    ...[[999, '999'], ['1 eternity', '"1 eternity"'], ['1 constructor', '"1 constructor"'], ['25 hours', '"25 hours"']].map(([timeWindow, shown]) =>
      [{ timeWindow }, '.timeWindow', 'milliseconds from 1000 to 86400000, or text such as 1 minute', String(shown)] as const),
    [{ operations: { replayWebhook: 5 } }, '.operations.replayWebhook', 'an object', '5'],
    [{ operations: { replayWebhook: { max: 1.5 } } }, '.operations.replayWebhook.max', 'an integer from 1 to 1000000000, or a function', '1.5'],
    [{ operations: { replay: {} } }, '.operations.replay', 'the operationId of a route', '"replay"'],
    [{ failedKeys: { max: () => 5 } }, '.failedKeys.max', 'an integer from 1 to 1000000000', 'a function'],
    [{ failedKeys: { window: 1 } }, '.failedKeys.window', 'a known name such as timeWindow', '"window"'],
    [{ redis: null }, '.redis', 'a client such as ioredis', 'null'],
    [{ nameSpace: 1 }, '.nameSpace', 'a string', '1'],
    [{ store: class { read () {} } }, '.store', 'a class with the method incr', 'a function'],
    [{ cache: 0 }, '.cache', 'an integer from 1 to 10000000', '0'],
    [{ skipOnError: 1 }, '.skipOnError', 'a boolean', '1']
  ] as const).map(([rateLimit, path, expected, shown]): RejectedOption => [{ rateLimit }, `rateLimit${path}`, expected, shown])
]

t.test('createRecruiting rejects an invalid option with its path and the expected value', async (t) => {
  for (const option of ofEngine) await assertRejected(t, option)
})

t.test('the plugin rejects an invalid option with its path and the expected value', async (t) => {
  for (const option of ofPlugin) await assertRejectedByPlugin(t, option)
})

t.test('the limits of each range and each form of a value are accepted', async (t) => {
  const deliveries: object[] = [
    { leaseMs: 5100, timeoutMs: 100 }, { environment: 'x'.repeat(64) }, { retrySchedule: Array(100).fill(0.5) }, { retrySchedule: [31_536_000] },
    { allowNetworks: ['10.0.0.0/8', 'fd00::/8', '0.0.0.0/0', '::/0'], denyNetworks: [] },
    { sourceIps: ['203.0.113.7', '198.51.100.0/24', '2001:db8::1', '2001:db8::/32'] }, { localAddress: '::1' },
    { disableAfter: { failingForSeconds: 0, failedDeliveries: 1 } }, { worker: false, allowHttp: true, clock },
    { proxy: { url: 'https://proxy.example:8443/' } }, { proxy: { url: 'http://user:pass@[::1]:3128' } }
  ]
  for (const delivery of [false, {}, ...deliveries]) await assertAccepted(t, { delivery })
  const names = ['a.b.c_d.e9', `job.${'x'.repeat(96)}`]
  const options: Array<Record<string, unknown>> = [
    { maxWebhooksPerTenant: 1 }, { tenantId: () => 41, tenantCacheSeconds: 3600 }, { maxEventBytes: 16_777_216 },
    { secretKeys: [randomBytes(32), new Uint8Array(32)] },
    { publicUrl: 'http://10.0.0.1:3000/' }, { publicUrl: 'https://example.com/ats/' },
    ...names.map((name) => ({ events: { [name]: Type.Object({}, { descriptions: { 'de-AT': 'Stelle' } }) } }))
  ]
  for (const option of options) await assertAccepted(t, option)
  const plugin: Array<Record<string, unknown>> = [
    { prefix: '/v1.0/~x_y-z' }, { candidateFields: Type.Object({ email: Type.String() }) }, { requestId: () => 'req_1' }, { routes: async () => {} },
    { openapi: { info: { contact: { name: 'Acme' }, license: { name: 'Proprietary' }, title: undefined }, servers: [{ url: '/' }], inHostDocument: true } },
    { rateLimit: { max: undefined, store: class { incr () {} } } }, { storage: memoryStorage() }
  ]
  for (const option of plugin) await assertAcceptedByPlugin(t, option)
})
