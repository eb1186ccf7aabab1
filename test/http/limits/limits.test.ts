import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { HttpError, type RateLimitCaller, type RateLimitOptions } from '../../../src/index.js'
import { createLimits } from '../../../src/core/http/limits.js'
import { type RateLimitSettings, readRateLimit } from '../../../src/core/http/options.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { base, buildLimited, checkLimited, moveTime } from '../../fixtures/api/limits.js'
import { checkError } from '../../fixtures/api/answers.js'
import { captureLogs } from '../../fixtures/api/logs.js'
import { portal } from '../../fixtures/portal/sessions.js'

t.test('the requests of a key are counted from any address, and requests over the limit get 429', async (t) => {
  const { ask } = await buildLimited(t, { max: 2 })
  for (const remaining of [1, 0]) {
    const { statusCode, headers } = await ask()
    t.equal(statusCode, 200)
    t.match(headers, { 'ratelimit-limit': 2, 'ratelimit-remaining': remaining, 'ratelimit-reset': /^[1-6]?\d$/ })
    t.equal(headers['retry-after'], undefined)
  }
  checkLimited(t, await ask(), 2)
  checkLimited(t, await ask(keys.full, '/jobs', '192.0.2.2'), 2)
  t.equal((await ask(keys.jobsRead)).headers['ratelimit-remaining'], '1', 'another key')
})

t.test('rejected requests count too: a missing scope, an invalid query or an unknown path', async (t) => {
  const { ask } = await buildLimited(t, { max: 3 })
  t.equal((await ask(keys.none)).statusCode, 403)
  t.equal((await ask(keys.none, '/nothing')).statusCode, 404)
  t.equal((await ask(keys.none, '/jobs?page=0')).statusCode, 403)
  checkLimited(t, await ask(keys.none), 3)
  checkLimited(t, await ask(keys.none, '/nothing'), 3)
})

t.test('the count restarts after its window', async (t) => {
  const move = moveTime(t)
  const { ask } = await buildLimited(t, { max: 1, timeWindow: 5000 })
  t.equal((await ask()).statusCode, 200)
  checkLimited(t, await ask(), 1, 5000)
  move(5000)
  t.equal((await ask()).statusCode, 200)
})

t.test('a time window can be text', async (t) => {
  const times = [['1 minute', 60], ['90s', 90], ['2 hours', 7200], ['1.5 mins', 90], ['3 HRS', 10_800], ['1 day', 86_400], ['5000', 5], ['2000ms', 2]] as const
  for (const [timeWindow, seconds] of times) {
    const { ask } = await buildLimited(t, { timeWindow })
    t.equal((await ask()).headers['ratelimit-reset'], String(seconds), timeWindow)
  }
})

t.test('true means the default limits, and false none', async (t) => {
  const { ask } = await buildLimited(t, true)
  t.equal((await ask()).headers['ratelimit-limit'], '1000')
  const { ask: askFreely } = await buildLimited(t, false)
  t.notMatch(Object.keys((await askFreely()).headers).join(), /ratelimit/)
})

t.test('a host that limits its own routes with the same package has separate counts and responses', async (t) => {
  const { app, ask } = await buildLimited(t, { max: 2 }, {
    async before (app) {
      await app.register(import('@fastify/rate-limit'), { global: false, max: 1 })
      app.get('/own', { config: { rateLimit: { max: 1 } } }, async () => 'own')
    }
  })
  t.equal((await app.inject('/own')).headers['x-ratelimit-limit'], '1')
  t.same([(await ask()).statusCode, (await ask()).statusCode], [200, 200])
  checkLimited(t, await ask(), 2)
  t.match((await app.inject('/own')).json(), { statusCode: 429, error: 'Too Many Requests' })
})

for (const path of ['dispatch_test', 'replay']) {
  t.test(`${path} has its own budget of 10 per minute`, async (t) => {
    const { app, ask } = await buildLimited(t, { max: 2 })
    const post = () => app.inject({ method: 'POST', url: `${base}/webhooks/9/${path}`, headers: bearer(keys.full) })
    for (let remaining = 9; remaining >= 0; remaining--) {
      const { statusCode, headers } = await post()
      t.same([statusCode, headers['ratelimit-remaining'], headers['ratelimit-limit']], [404, remaining, 10])
    }
    checkLimited(t, await post(), 10)
    t.match((await ask()).headers, { 'ratelimit-limit': 2, 'ratelimit-remaining': 1 }, 'the others are counted separately')
  })
}

t.test('a host can set a budget for any operation, by its operationId', async (t) => {
  const operations = { listCandidates: { max: 1, timeWindow: 3_600_000 }, replayWebhook: { max: 1 } }
  const { app, ask } = await buildLimited(t, { max: 5, operations })
  t.match((await ask(keys.full, '/candidates')).headers, { 'ratelimit-limit': 1, 'ratelimit-reset': 3600 })
  checkLimited(t, await ask(keys.full, '/candidates'), 1, 3_600_000)
  t.equal((await ask()).headers['ratelimit-limit'], '5')
  const { headers } = await app.inject({ method: 'POST', url: `${base}/webhooks/9/replay`, headers: bearer(keys.full) })
  t.equal(headers['ratelimit-limit'], '1')
})

type Max = NonNullable<RateLimitOptions['max']>

t.test('a function returns each caller\'s limit, and the headers show it', async (t) => {
  const callers: RateLimitCaller[] = []
  const { app, ask } = await buildLimited(t, {
    async max (caller) {
      callers.push(caller)
      return caller.tenantSlug === 'acme' ? 2 : 5
    }
  })
  const shown = { 'ratelimit-limit': 2, 'ratelimit-reset': /^[1-6]?\d$/ }
  for (const remaining of [1, 0]) t.match((await ask()).headers, { ...shown, 'ratelimit-remaining': remaining })
  checkLimited(t, await ask(), 2)
  const { headers } = await app.inject({ url: '/api/v1/public/globex/jobs', headers: bearer(keys.globex) })
  t.match(headers, { 'ratelimit-limit': 5, 'ratelimit-remaining': 4 })
  checkError(t, await ask('unknown-key'), 401)
  t.equal(callers.length, 2, 'not for an unknown key')
  t.match(callers, [
    { tenantSlug: 'acme', tenantId: 'acme', keyId: 'key_1' },
    { tenantSlug: 'globex', tenantId: 'globex', keyId: 'key_10' }
  ])
  t.strictSame(Object.keys(callers[0] ?? {}), ['tenantSlug', 'tenantId', 'keyId', 'scopes'])
  t.ok(callers[0]?.scopes.includes('jobs:read'))
})

t.test('a function that fails causes a 500 with its option in the log, and the request does nothing', async (t) => {
  for (const [max, err] of [
    [() => { throw new Error('no plan') }, { message: 'rateLimit.max: the function failed: no plan' }],
    [async () => { throw new HttpError('not_found') }, { message: 'rateLimit.max: the function failed' }],
    [() => 0, { message: 'rateLimit.max: expected a function that returns an integer from 1 to 1000000000, got 0' }]
  ] as Array<[Max, object]>) {
    const logs = captureLogs()
    const limits = { max, skipOnError: true, operations: { getJob: { max: 3 } } }
    const { app, ask } = await buildLimited(t, limits, { server: { logger: logs.logger } })
    const answer = await app.inject({
      method: 'POST', url: `${base}/webhooks`, headers: bearer(keys.full), payload: { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] }
    })
    checkError(t, answer, 500)
    t.match(logs.lines.find(({ level }) => level === 50), { err })
    t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 0)
    t.equal((await ask(keys.full, '/jobs/1')).statusCode, 200, 'an operation with a number is not affected')
  }
})

t.test('with perTenant, all keys of a tenant count together, separately for each tenant', async (t) => {
  const { app, ask } = await buildLimited(t, { max: 3, perTenant: true, operations: { getJob: { max: 2 } } })
  t.match((await ask(keys.full)).headers, { 'ratelimit-remaining': 2 })
  t.match((await ask(keys.jobsRead)).headers, { 'ratelimit-remaining': 1 })
  t.match((await ask(keys.none)).headers, { 'ratelimit-remaining': 0 })
  checkLimited(t, await ask(keys.jobsWrite), 3)
  t.match((await ask(keys.full, '/jobs/1')).headers, { 'ratelimit-limit': 2, 'ratelimit-remaining': 1 })
  t.match((await ask(keys.jobsRead, '/jobs/1')).headers, { 'ratelimit-remaining': 0 })
  checkLimited(t, await ask(keys.jobsWrite, '/jobs/1'), 2)
  const { headers } = await app.inject({ url: '/api/v1/public/globex/jobs', headers: bearer(keys.globex) })
  t.match(headers, { 'ratelimit-remaining': 2 })
})

t.test('perTenant is true if customers can manage keys, and startup warns if the host turns it off', async (t) => {
  const own = { keyLookup: ({ key }: { key: string }) => ({ id: key, scopes: ['jobs:read'] }) }
  for (const [rateLimit, overrides, remaining, warnings] of [
    [{ max: 3 }, {}, '1', 0],
    [{ max: 3, perTenant: false }, {}, '2', 1],
    [{ max: 3, perTenant: false }, own, '2', 0],
    [{ max: 3 }, own, '2', 0],
    [{ max: 3, perTenant: false }, { portal: { ...portal, keys: false as const } }, '2', 0]
  ] as const) {
    const { logger, lines } = captureLogs()
    const app = await buildApp(t, { server: { logger }, rateLimit, ...overrides })
    const ask = (key: string) => app.inject({ url: `${base}/jobs`, headers: bearer(key) })
    await ask(keys.full)
    const about = JSON.stringify(rateLimit)
    t.equal((await ask(keys.jobsRead)).headers['ratelimit-remaining'], remaining, about)
    t.equal(lines.filter(({ msg }) => msg.startsWith('rateLimit.perTenant is false')).length, warnings, about)
  }
})

t.test('with perTenant, requests count by the tenant\'s id, under any slug', async (t) => {
  const { app } = await buildLimited(t, { max: 3, perTenant: true }, {
    tenantId: () => 'same/id', keyLookup: ({ key }) => ({ id: key, scopes: ['jobs:read'] })
  })
  const remaining: unknown[] = []
  for (const [slug, key] of [['acme', 'one'], ['globex', 'two'], ['acme', 'two']] as const) {
    remaining.push((await app.inject({ url: `/api/v1/public/${slug}/jobs`, headers: bearer(key) })).headers['ratelimit-remaining'])
  }
  t.same(remaining, [2, 1, 0])
})

type Done = (error: Error | null, result: [current: number, ttl: number] | null) => void

/** The parts of ioredis that the package needs. */
function createRedis () {
  const counts = new Map<string, number>()
  return {
    counts,
    fails: false,
    defineCommand () {},
    rateLimit (key: string, timeWindow: number, ...rest: [number, boolean, boolean, Done]) {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      rest[3](this.fails ? new Error('Redis is gone') : null, [counts.get(key) ?? 0, timeWindow])
    }
  }
}

t.test('several machines share their counts in Redis', async (t) => {
  const redis = createRedis()
  const one = await buildLimited(t, { max: 2, redis, failedKeys: { max: 1 } })
  const other = await buildLimited(t, { max: 2, redis, failedKeys: { max: 1 } })
  t.equal((await one.ask()).statusCode, 200)
  t.equal((await other.ask()).headers['ratelimit-remaining'], '0')
  checkLimited(t, await one.ask(), 2)
  checkError(t, await one.ask('guess', '/jobs', '192.0.2.7'), 401)
  checkLimited(t, await other.ask('guess', '/jobs', '192.0.2.7'), 1)
  const names = [...redis.counts.keys()]
  t.match(names[0], /^recruiting-rate-limit-key:acme\/./)
  t.same(names.slice(1), ['recruiting-rate-limit-address:192.0.2.7'])
  t.notMatch(names.join(), keys.full, 'a key is not in its name')
  redis.counts.clear()
  await (await buildLimited(t, { redis, nameSpace: 'ats:' })).ask()
  t.match([...redis.counts.keys()], [/^ats:key:/])
})

t.test('while the store fails, requests get 500, or pass with skipOnError', async (t) => {
  const redis = createRedis()
  redis.fails = true
  const { ask } = await buildLimited(t, { redis })
  for (const key of [keys.full, 'guess']) checkError(t, await ask(key), 500)
  const { ask: askAnyway } = await buildLimited(t, { redis, skipOnError: true, failedKeys: { max: 1 } })
  t.equal((await askAnyway()).statusCode, 200)
  for (const guess of ['guess-1', 'guess-2']) checkError(t, await askAnyway(guess), 401)
})

t.test('a host\'s own store counts requests', async (t) => {
  class Store {
    incr (_key: string, done: (error: null, result: object) => void) { done(null, { current: 8, ttl: 2000 }) }
  }
  const { ask } = await buildLimited(t, { max: 10, store: Store })
  t.match((await ask()).headers, { 'ratelimit-limit': 10, 'ratelimit-remaining': 2, 'ratelimit-reset': 2 })
})

const warning = 'trustProxy trusts every address, so clients can fake theirs and bypass rateLimit.failedKeys: name your proxies instead'

t.test('a host that trusts every address gets a warning at startup, unless it counts no failed keys', async (t) => {
  for (const [trustProxy, rateLimit, count] of [
    [true, {}, 1],
    [true, { failedKeys: false }, 0],
    [() => true, {}, 1],
    [(_address: string, hop: number) => hop < 2, {}, 0],
    [['10.0.0.0/8'], {}, 0],
    [false, {}, 0]
  ] as Array<[NonNullable<FastifyServerOptions['trustProxy']>, RateLimitOptions, number]>) {
    const logs = captureLogs()
    await buildLimited(t, rateLimit, { server: { trustProxy, logger: logs.logger } })
    const warnings = logs.lines.filter(({ msg }) => msg === warning)
    t.same(warnings.map(({ level }) => level), Array(count).fill(40), `trustProxy: ${String(trustProxy)}, ${JSON.stringify(rateLimit)}`)
  }
})

const url = '/api/v1/public/openapi.json'

t.test('requests for the document are limited by address, requests with a key by key', async (t) => {
  const { app, ask } = await buildLimited(t, { max: 2 })
  const read = (remoteAddress: string, method: 'GET' | 'HEAD' = 'GET') => app.inject({ url, method, remoteAddress })
  t.match(await read('192.0.2.1'), { statusCode: 200, headers: { 'ratelimit-remaining': '1' } })
  t.equal((await read('192.0.2.1', 'HEAD')).statusCode, 200)
  checkLimited(t, await read('192.0.2.1'), 2)
  t.equal((await read('192.0.2.2')).statusCode, 200, 'another address')
  t.equal((await ask()).headers['ratelimit-remaining'], '1', 'a key of the same address')
  const limited = await buildLimited(t, { max: () => { throw new Error('called') } })
  t.match(await limited.app.inject(url), { statusCode: 200, headers: { 'ratelimit-limit': '1000' } }, 'a function has no caller')
})

const settings = readRateLimit({}, 'rateLimit') as RateLimitSettings

t.test('without the package, or with a version that is too old, the registration fails with the reason', async (t) => {
  for (const [load, message] of [
    [() => Promise.reject(new Error('not found')), 'rateLimit: expected the package @fastify/rate-limit to be installed, got "not found"'],
    // eslint-disable-next-line prefer-promise-reject-errors
    [() => Promise.reject('gone'), /"gone"/],
    [async () => ({ default: async () => {} }), 'rateLimit: expected @fastify/rate-limit of version 10.3 or later, got "an older one"']
  ] as const) {
    await t.rejects(createLimits(settings, load), { code: 'invalid_option', field: 'rateLimit', message })
  }
})
