import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import type { KeyLookup } from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/storages/memory/index.js'
import { checkError } from '../../fixtures/api/answers.js'
import { apiKeys, bearer, keys } from '../../fixtures/api/app.js'
import { base, buildLimited, checkLimited, moveTime } from '../../fixtures/api/limits.js'

const one = { failedKeys: { max: 1 } }

/** The fixtures' keys, and the keys looked up so far. */
function spyOnLookup (): { keyLookup: KeyLookup, tried: string[] } {
  const lookup = memoryKeyLookup(apiKeys)
  const tried: string[] = []
  return {
    tried,
    keyLookup (credentials) {
      tried.push(credentials.key)
      return lookup(credentials)
    }
  }
}

t.test('an address with too many invalid keys gets 429, and its unknown keys are not looked up', async (t) => {
  const move = moveTime(t)
  const { keyLookup, tried } = spyOnLookup()
  const { ask } = await buildLimited(t, { failedKeys: { max: 2, timeWindow: 10_000 } }, { keyLookup })
  checkError(t, await ask('guess-1'), 401)
  t.equal((await ask(keys.jobsRead)).statusCode, 200, 'a valid key does not count')
  checkError(t, await ask('guess-2'), 401)
  checkLimited(t, await ask('guess-3'), 2, 10_000)
  checkLimited(t, await ask(keys.full), 2, 10_000)
  t.same(tried, ['guess-1', keys.jobsRead, 'guess-2'])
  t.equal((await ask(keys.full, '/jobs', '192.0.2.2')).statusCode, 200, 'another address')
  move(10_000)
  checkError(t, await ask('guess-4'), 401)
  checkError(t, await ask('guess-5'), 401)
  checkLimited(t, await ask('guess-6'), 2, 10_000)
})

t.test('a recently valid key passes, even from an address that sent invalid keys', async (t) => {
  const { ask } = await buildLimited(t, { failedKeys: { max: 1 } })
  t.equal((await ask()).statusCode, 200)
  checkError(t, await ask('guess'), 401)
  checkLimited(t, await ask('guess'), 1)
  t.equal((await ask()).statusCode, 200)
  t.equal((await ask(keys.full, '/jobs', '192.0.2.2')).statusCode, 200)
})

t.test('a key that is no longer valid is rejected and counts as a failure', async (t) => {
  const { keyLookup } = spyOnLookup()
  let isRevoked = false
  const { ask } = await buildLimited(t, one, { keyLookup: (credentials) => isRevoked ? null : keyLookup(credentials) })
  t.equal((await ask()).statusCode, 200)
  isRevoked = true
  checkError(t, await ask(), 401)
  checkLimited(t, await ask(), 1)
})

t.test('of 500 concurrent invalid keys, 20 are looked up', async (t) => {
  const { keyLookup, tried } = spyOnLookup()
  const { ask } = await buildLimited(t, {}, { keyLookup })
  const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => ask(`guess-${index}`)))
  t.equal(tried.length, 20)
  t.same([401, 429].map((status) => answers.filter(({ statusCode }) => statusCode === status).length), [20, 480])
})

t.test('a key that waits behind an invalid one is looked up if the address has lookups left', async (t) => {
  const { keyLookup, tried } = spyOnLookup()
  const { ask } = await buildLimited(t, { failedKeys: { max: 2 } }, { keyLookup })
  const answers = await Promise.all([ask('guess-1'), ask(keys.full), ask(keys.jobsRead), ask('guess-2'), ask('guess-3'), ask(keys.full)])
  t.same(answers.map(({ statusCode }) => statusCode), [401, 200, 200, 401, 429, 200])
  t.notOk(tried.includes('guess-3'))
})

t.test('a failed lookup is not counted, and the next one continues', async (t) => {
  let isDown = true
  const { keyLookup } = spyOnLookup()
  const fail = (): never => { throw new Error('gone') }
  const { ask } = await buildLimited(t, one, { keyLookup: (credentials) => isDown ? fail() : keyLookup(credentials) })
  for (const answer of await Promise.all([ask(), ask()])) checkError(t, answer, 500)
  isDown = false
  t.equal((await ask()).statusCode, 200)
})

t.test('the cache option limits the number of remembered valid keys and addresses', async (t) => {
  const { ask } = await buildLimited(t, { cache: 1, failedKeys: { max: 1 } })
  for (const key of [keys.full, keys.jobsRead]) t.equal((await ask(key)).statusCode, 200)
  checkError(t, await ask('guess'), 401)
  t.equal((await ask(keys.jobsRead)).statusCode, 200)
  checkLimited(t, await ask(keys.full), 1)
  checkError(t, await ask('guess', '/jobs', '192.0.2.2'), 401)
  t.equal((await ask(keys.full)).statusCode, 200, 'the first address is forgotten')
})

t.test('a 401 is the same as without limits, and malformed keys are not counted', async (t) => {
  const { app, ask } = await buildLimited(t, { failedKeys: { max: 1 } })
  for (let count = 0; count < 3; count++) checkError(t, await app.inject({ url: `${base}/jobs`, remoteAddress: '192.0.2.1' }), 401)
  const answer = await ask('unknown')
  checkError(t, answer, 401)
  t.notMatch(Object.keys(answer.headers).join(), /ratelimit|retry/)
})

for (const [title, address, same, other] of [
  ['an IPv6 address counts as its /64', '2001:db8::1', ['2001:db8::ffff', '2001:DB8:0:0:1:2:3:4', '2001:db8:0:0:ffff::'], '2001:db8:0:1::1'],
  ['zeros within a /64 are kept', '2001:0:0:1::1', ['2001::1:0:0:0:5', '2001:0:0:1:2:3:4:5'], '2001:0:0:2::1'],
  ['the loopback of IPv6 is one address', '::1', ['::2'], '1::1'],
  ['everything that is not an address counts as one', 'unknown', ['x'.repeat(1000), '1.2.3', '256.1.1.1', '::ffff:1.2.3', 'a:b'], '1.2.3.4']
] as const) {
  t.test(title, async (t) => {
    const { ask } = await buildLimited(t, one, { server: { trustProxy: true } })
    const from = (address: string) => ask('guess', '/jobs', address)
    checkError(t, await from(address), 401)
    for (const spelling of same) checkLimited(t, await from(spelling), 1)
    checkError(t, await from(other), 401)
  })
}

/** A host on a Unix socket, whose requests have no address. */
async function listenOnSocket (t: Test, server: FastifyServerOptions) {
  const { app } = await buildLimited(t, one, { server })
  const socketPath = join(tmpdir(), `${randomUUID()}.sock`)
  t.teardown(() => rm(socketPath, { force: true }))
  await app.listen({ path: socketPath })
  return (key: string, headers: object = {}): Promise<number | undefined> => new Promise((resolve, reject) => {
    const path = `${base}/jobs`
    http.get({ socketPath, path, headers: { ...bearer(key), ...headers }, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    }).on('error', reject)
  })
}

t.test('on a Unix socket, a valid key is accepted, and all invalid keys are counted together', async (t) => {
  const ask = await listenOnSocket(t, {})
  t.equal(await ask(keys.full), 200)
  t.same([await ask('guess'), await ask('guess'), await ask(keys.full)], [401, 429, 200])
})

t.test('on a Unix socket with trustProxy, the forwarding header is the address', async (t) => {
  const ask = await listenOnSocket(t, { trustProxy: true })
  t.equal(await ask(keys.full), 200)
  t.same([await ask('guess'), await ask('guess')], [401, 429])
  t.same([await ask('guess', { 'x-forwarded-for': '192.0.2.1' }), await ask('guess', { 'x-forwarded-for': '192.0.2.1' })], [401, 429])
})
