import t from 'tap'
import { HttpError, type RateLimitCaller, type RateLimitOptions } from '../../src/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, keys } from '../fixtures/api/app.js'
import { base, buildLimited, checkLimited, moveTime } from '../fixtures/api/limits.js'
import { captureLogs } from '../fixtures/api/logs.js'

type Max = NonNullable<RateLimitOptions['max']>

for (const [title, wrap] of [['at once', (max: number) => max], ['by a promise', async (max: number) => max]] as const) {
  t.test(`a function gives each caller its limit, ${title}, and the headers show it`, async (t) => {
    const callers: RateLimitCaller[] = []
    const { app, ask } = await buildLimited(t, { max: (caller) => { callers.push(caller); return wrap(caller.tenantSlug === 'acme' ? 2 : 5) } })
    for (const remaining of [1, 0]) t.match((await ask()).headers, { 'ratelimit-limit': 2, 'ratelimit-remaining': remaining, 'ratelimit-reset': 60 })
    checkLimited(t, await ask(), 2)
    const { headers } = await app.inject({ url: '/api/v1/public/globex/jobs', headers: bearer(keys.globex) })
    t.match(headers, { 'ratelimit-limit': 5, 'ratelimit-remaining': 4 })
    t.match(callers, [{ tenantSlug: 'acme', tenantId: 'acme', keyId: 'key_1' }, { tenantSlug: 'globex', tenantId: 'globex', keyId: 'key_10' }])
    t.strictSame(Object.keys(callers[0] ?? {}), ['tenantSlug', 'tenantId', 'keyId', 'scopes'])
    t.ok(callers[0]?.scopes.includes('jobs:read'))
  })
}

t.test('a new limit holds within a minute, for what was already counted too', async (t) => {
  const move = moveTime(t)
  let max = 5
  const { ask } = await buildLimited(t, { max: () => max, timeWindow: 3_600_000 })
  for (let at = 0; at < 3; at++) await ask()
  max = 2
  t.match((await ask()).headers, { 'ratelimit-limit': 5, 'ratelimit-remaining': 1 })
  move(60_000)
  checkLimited(t, await ask(), 2, 3_600_000)
})

t.test('an operation has a function of its own', async (t) => {
  const { app, ask } = await buildLimited(t, { max: () => 9, operations: { listCandidates: { max: async ({ keyId }) => keyId === 'key_1' ? 1 : 3 }, replayWebhook: {} } })
  t.match((await ask(keys.full, '/candidates')).headers, { 'ratelimit-limit': 1, 'ratelimit-remaining': 0 })
  checkLimited(t, await ask(keys.full, '/candidates'), 1)
  t.match((await ask(keys.candidatesRead, '/candidates')).headers, { 'ratelimit-limit': 3 })
  t.match((await ask()).headers, { 'ratelimit-limit': 9, 'ratelimit-remaining': 8 })
  t.match((await app.inject({ method: 'POST', url: `${base}/webhooks/9/replay`, headers: bearer(keys.full) })).headers, { 'ratelimit-limit': 10 })
})

t.test('requests for the document have the default limit, because nobody is known', async (t) => {
  const { app } = await buildLimited(t, { max: () => { throw new Error('called') } })
  const { statusCode, headers } = await app.inject({ url: '/api/v1/public/openapi.json' })
  t.match([statusCode, headers], [200, { 'ratelimit-limit': 1000 }])
})

t.test('the function is not called for an unknown key', async (t) => {
  let calls = 0
  const { ask } = await buildLimited(t, { max: () => { calls++; return 5 } })
  t.equal((await ask('unknown-key')).statusCode, 401)
  t.equal(calls, 0)
})

t.test('a function that fails is a 500 with its option in the log, and the request does nothing', async (t) => {
  for (const [max, err] of [
    [() => { throw new Error('no plan') }, { message: 'rateLimit.max: the function failed: no plan' }],
    [async () => { throw new HttpError('not_found') }, { message: 'rateLimit.max: the function failed' }],
    // eslint-disable-next-line no-throw-literal -- a host may throw anything
    [() => { throw null }, { message: 'rateLimit.max: the function failed' }],
    [() => 0, { message: 'rateLimit.max: expected a function that returns an integer from 1 to 1000000000, got 0' }],
    [() => '5', { message: /got "5"$/ }],
    [() => undefined, { message: /got undefined$/ }],
    [async () => Number.NaN, { message: /got NaN$/ }],
    [async () => 1e10, { message: /got 10000000000$/ }]
  ] as Array<[Max, object]>) {
    const logs = captureLogs()
    const { app, ask } = await buildLimited(t, { max, skipOnError: true, operations: { getJob: { max: 3 } } }, { server: { logger: logs.logger } })
    const answer = await app.inject({
      method: 'POST', url: `${base}/webhooks`, headers: bearer(keys.full), payload: { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] }
    })
    checkError(t, answer, 500)
    t.match(logs.lines.find(({ level }) => level === 50), { err })
    t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 0)
    t.equal((await ask(keys.full, '/jobs/1')).statusCode, 200, 'an operation with a number is not affected')
  }
})

t.test('a function that hangs is a 500 after 5 seconds', async (t) => {
  const logs = captureLogs()
  const { ask } = await buildLimited(t, { max: () => new Promise(() => {}) }, { server: { logger: logs.logger } })
  const answers = await Promise.all([ask(), ask()])
  for (const answer of answers) checkError(t, answer, 500)
  t.match(logs.lines.find(({ level }) => level === 50), { err: { code: 'storage_timeout', message: 'rateLimit.max did not answer within 5000 ms' } })
})

t.test('with perTenant, all keys of a tenant count together, and those of another apart', async (t) => {
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

t.test('with perTenant, the limit is that of the plan, and may differ by key', async (t) => {
  const { ask } = await buildLimited(t, { perTenant: true, max: ({ keyId }) => keyId === 'key_1' ? 4 : 2 })
  t.match((await ask(keys.full)).headers, { 'ratelimit-limit': 4, 'ratelimit-remaining': 3 })
  t.match((await ask(keys.jobsRead)).headers, { 'ratelimit-limit': 2, 'ratelimit-remaining': 0 })
  checkLimited(t, await ask(keys.jobsRead), 2)
  t.match((await ask(keys.full)).headers, { 'ratelimit-limit': 4, 'ratelimit-remaining': 0 })
})

t.test('with perTenant, a tenant is its id, whatever its name is', async (t) => {
  const { app } = await buildLimited(t, { max: 3, perTenant: true }, {
    tenantId: () => 'same/id', keyLookup: ({ key }) => ({ id: key, scopes: ['jobs:read'] })
  })
  const remaining: unknown[] = []
  for (const [slug, key] of [['acme', 'one'], ['globex', 'two'], ['acme', 'two']] as const) {
    remaining.push((await app.inject({ url: `/api/v1/public/${slug}/jobs`, headers: bearer(key) })).headers['ratelimit-remaining'])
  }
  t.same(remaining, [2, 1, 0])
})
