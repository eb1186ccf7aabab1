import t from 'tap'
import { type ApiKey, cacheKeyLookup, type CacheKeyLookupOptions, type KeyLookup } from '../../src/index.js'
import { memoryKeyLookup } from '../../src/storages/memory/index.js'
import { type KeyHarness, keyLookupCases } from '../../src/tools/testing/index.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'

const owner: ApiKey = { id: 'key-1', scopes: ['jobs:read'] }

/** A lookup that records its calls, and its cache. */
function build (answer: KeyLookup = async ({ key }) => key.startsWith('good') ? owner : null, options: CacheKeyLookupOptions = {}) {
  const asked: string[] = []
  const clock = createManualClock()
  const lookup = cacheKeyLookup((credentials) => {
    asked.push(`${credentials.tenantSlug}/${credentials.key}`)
    return answer(credentials)
  }, { clock, ...options })
  return { asked, clock, ask: (key: string, tenantSlug = 'acme') => lookup({ tenantSlug, tenantId: tenantSlug, key }) }
}

t.test('a result is cached for ttlMs, and not a millisecond longer', async (t) => {
  const { asked, clock, ask } = build(undefined, { ttlMs: 2000 })
  for (const key of ['good', 'bad']) {
    const expected = key === 'good' ? owner : null
    asked.length = 0
    t.strictSame(await ask(key), expected)
    await clock.advance(1999)
    t.strictSame(await ask(key), expected)
    t.same(asked, [`acme/${key}`])
    await clock.advance(1)
    t.strictSame(await ask(key), expected)
    t.equal(asked.length, 2)
  }
})

t.test('a revoked key is rejected within ttlMs of the start of the lookup', async (t) => {
  let isRevoked = false
  let release = (): void => {}
  const { clock, ask } = build(async () => {
    const read = isRevoked ? null : owner
    await new Promise<void>((resolve) => { release = resolve })
    return read
  }, { ttlMs: 1000 })
  const first = ask('good')
  isRevoked = true
  await clock.advance(600)
  release()
  t.strictSame(await first, owner)
  await clock.advance(400)
  const second = ask('good')
  release()
  t.equal(await second, null)
})

t.test('a result is cached for 10 seconds by default, and not at all with 0', async (t) => {
  const usual = build()
  await usual.ask('good')
  await usual.clock.advance(9999)
  await usual.ask('good')
  t.equal(usual.asked.length, 1)
  const none = build(undefined, { ttlMs: 0 })
  await none.ask('good')
  await none.ask('good')
  t.equal(none.asked.length, 2)
})

t.test('the same key is cached separately for another tenant', async (t) => {
  const { asked, ask } = build(async ({ tenantSlug }) => tenantSlug === 'acme' ? owner : null)
  t.same([await ask('good', 'acme'), await ask('good', 'globex'), await ask('good', 'acme')], [owner, null, owner])
  t.same(asked, ['acme/good', 'globex/good'])
})

t.test('concurrent requests share one call', async (t) => {
  const { asked, ask } = build()
  t.same(await Promise.all([ask('good'), ask('good'), ask('other'), ask('good')]), [owner, owner, null, owner])
  t.same(asked, ['acme/good', 'acme/other'])
})

t.test('a failure rejects all waiting calls and is not cached', async (t) => {
  for (const fail of [async () => { throw new Error('gone') }, () => { throw new Error('gone') }]) {
    let isDown = true
    const { ask } = build((credentials) => isDown ? fail() : Promise.resolve(credentials.key === 'good' ? owner : null))
    const both = [ask('good'), ask('good')]
    for (const answer of both) await t.rejects(answer, { message: 'gone' })
    isDown = false
    t.strictSame(await ask('good'), owner)
  }
})

t.test('the number of cached invalid keys is limited, and they displace no valid key', async (t) => {
  const { asked, ask } = build(undefined, { maxInvalid: 2 })
  await ask('good')
  for (const key of ['bad-1', 'bad-2', 'bad-3']) await ask(key)
  asked.length = 0
  for (const key of ['good', 'bad-2', 'bad-3', 'bad-1']) await ask(key)
  t.same(asked, ['acme/bad-1'], 'the oldest invalid key was dropped')
})

t.test('the number of cached valid keys is limited', async (t) => {
  const { asked, ask } = build(undefined, { max: 1 })
  for (const key of ['good-1', 'good-2', 'good-2', 'good-1']) await ask(key)
  t.same(asked, ['acme/good-1', 'acme/good-2', 'acme/good-1'])
})

t.test('a lookup that returns undefined has found nothing', async (t) => {
  const { asked, ask } = build(async () => undefined as unknown as null)
  t.same([await ask('a'), await ask('a'), asked.length], [null, null, 1])
})

t.test('a lookup that hangs times out, and the next request starts another', async (t) => {
  const { asked, clock, ask } = build(() => new Promise(() => {}), { timeoutMs: 300 })
  const answer = ask('good')
  await clock.advance(299)
  t.equal(clock.timerCount, 1)
  await Promise.all([t.rejects(answer, { name: 'RecruitingApiError', code: 'storage_timeout', message: 'the key lookup did not answer within 300 ms' }), clock.advance(1)])
  const again = ask('good')
  await Promise.all([t.rejects(again, { code: 'storage_timeout' }), clock.advance(300)])
  t.equal(asked.length, 2)
  t.equal(clock.timerCount, 0)
})

t.test('invalid options are rejected', async (t) => {
  const rejected = (options: object, message: string): void => { t.throws(() => cacheKeyLookup(async () => null, options), { code: 'invalid_option', message }) }
  t.throws(() => cacheKeyLookup('lookup' as unknown as KeyLookup), { code: 'invalid_option', field: 'lookup', message: 'lookup: expected a function, got "lookup"' })
  rejected({ ttl: 1 }, 'ttl: expected a known name such as ttlMs, got "ttl"')
  rejected({ ttlMs: -1 }, 'ttlMs: expected an integer from 0 to 3600000, got -1')
  rejected({ max: 0 }, 'max: expected an integer from 1 to 10000000, got 0')
  rejected({ maxInvalid: 0 }, 'maxInvalid: expected an integer from 1 to 10000000, got 0')
  rejected({ timeoutMs: 0 }, 'timeoutMs: expected an integer from 1 to 120000, got 0')
})

t.test('a use of a cached key is recorded, at most once a second per key', async (t) => {
  const noted: string[] = []
  const clock = createManualClock()
  const answer = async ({ key }: { key: string }): Promise<ApiKey | null> => key === 'bad' ? null : { id: `id of ${key}`, scopes: [] }
  const ask = cacheKeyLookup(Object.assign(answer, { recordUse (id: string) { noted.push(id) } }), { clock })
  for (const key of ['one', 'two', 'bad', 'one']) await ask({ tenantSlug: 'acme', tenantId: 'acme', key })
  t.strictSame(noted, [], 'the lookup records these itself')
  await clock.advance(1000)
  for (const key of ['one', 'two', 'bad', 'one']) await ask({ tenantSlug: 'acme', tenantId: 'acme', key })
  t.strictSame(noted, ['id of one', 'id of two'])
  await clock.advance(999)
  await ask({ tenantSlug: 'acme', tenantId: 'acme', key: 'one' })
  await clock.advance(1)
  await ask({ tenantSlug: 'acme', tenantId: 'acme', key: 'one' })
  t.strictSame(noted, ['id of one', 'id of two', 'id of one'])
})

t.test('lists in a result are copies, so that changing them has no effect', async (t) => {
  const limited: ApiKey = { ...owner, allowedIps: ['203.0.113.0/24'], candidateFields: ['full_name'], jobFields: ['name'] }
  const { ask } = build(async () => limited)
  const first = await ask('good')
  for (const name of ['scopes', 'allowedIps', 'candidateFields', 'jobFields'] as const) Reflect.get(first ?? {}, name).push('other')
  t.strictSame(await ask('good'), limited)
})

function makeHarness (): KeyHarness {
  const keys: Parameters<typeof memoryKeyLookup>[0][number][] = []
  return {
    lookup: cacheKeyLookup((credentials) => memoryKeyLookup(keys)(credentials)),
    save ({ state, ...key }) {
      keys.push({ ...key, revoked: state === 'revoked', ...(state === 'expired' ? { expiresAt: '2020-01-01T00:00:00Z' } : {}) })
      return key.key
    }
  }
}

for (const { name, run } of keyLookupCases) t.test(name, () => run(makeHarness))

const lookup: KeyLookup = ({ tenantSlug, key }) => {
  return tenantSlug === 'acme' && key === keys.full ? { id: 'key-1', scopes: ['jobs:read'] } : null
}

t.test('a key lookup can return without a promise, even behind a cache', async (t) => {
  for (const keyLookup of [lookup, cacheKeyLookup(lookup)]) {
    const app = await buildApp(t, { keyLookup })
    const ask = (key: string) => app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(key) })
    t.equal((await ask(keys.full)).statusCode, 200)
    checkError(t, await ask('unknown'), 401)
  }
})
