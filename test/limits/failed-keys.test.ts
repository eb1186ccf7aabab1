import t from 'tap'
import { checkError } from '../fixtures/answers.js'
import { apiKeys, keys } from '../fixtures/app.js'
import { base, buildLimited, checkLimited, moveTime } from '../fixtures/limits.js'
import { memoryKeyLookup } from '../../src/memory/index.js'

t.test('an address whose keys failed too often gets 429, and no key of it is looked up', async (t) => {
  const move = moveTime(t)
  const lookup = memoryKeyLookup(apiKeys)
  const tried: string[] = []
  const { ask } = await buildLimited(t, { failedKeys: { max: 2, timeWindow: 10_000 } }, {
    keyLookup (credentials) {
      tried.push(credentials.key)
      return lookup(credentials)
    }
  })
  checkError(t, await ask('guess-1'), 401)
  t.equal((await ask()).statusCode, 200, 'a good key is no failure')
  checkError(t, await ask('guess-2'), 401)
  checkLimited(t, await ask('guess-3'), 2, 10_000)
  checkLimited(t, await ask(keys.full), 2, 10_000)
  t.same(tried, ['guess-1', keys.full, 'guess-2'])
  t.equal((await ask(keys.full, '/jobs', '192.0.2.2')).statusCode, 200, 'another address')
  move(10_000)
  t.equal((await ask()).statusCode, 200)
})

t.test('a 401 is the same as without limits, and what is no key at all is not counted', async (t) => {
  const { app, ask } = await buildLimited(t, { failedKeys: { max: 1 } })
  for (let count = 0; count < 3; count++) checkError(t, await app.inject({ url: `${base}/jobs`, remoteAddress: '192.0.2.1' }), 401)
  const answer = await ask('unknown')
  checkError(t, answer, 401)
  t.notMatch(Object.keys(answer.headers).join(), /ratelimit|retry/)
})

t.test('an address may try 20 keys a minute, and an IPv6 address counts as its /64', async (t) => {
  const { ask } = await buildLimited(t, {})
  for (let guess = 0; guess < 20; guess++) checkError(t, await ask(`guess-${guess}`, '/jobs', `2001:db8::${guess + 1}`), 401)
  checkLimited(t, await ask('guess', '/jobs', '2001:db8::ffff'), 20)
  checkError(t, await ask('guess', '/jobs', '2001:db8:0:1::1'), 401)
})

t.test('a lookup that says undefined has failed', async (t) => {
  const { ask } = await buildLimited(t, { failedKeys: { max: 1 } }, { keyLookup: async () => undefined as unknown as null })
  checkError(t, await ask(), 401)
  checkLimited(t, await ask(), 1)
})

t.test('with failedKeys false any number of keys may be tried', async (t) => {
  const { ask } = await buildLimited(t, { failedKeys: false })
  for (let guess = 0; guess < 25; guess++) checkError(t, await ask(`guess-${guess}`), 401)
})
