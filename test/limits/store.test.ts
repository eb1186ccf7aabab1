import t from 'tap'
import { checkError } from '../fixtures/api/answers.js'
import { keys } from '../fixtures/api/app.js'
import { buildLimited, checkLimited } from '../fixtures/api/limits.js'

type Done = (error: Error | null, result: [current: number, ttl: number] | null) => void

/** As much of ioredis as the package asks for. */
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

t.test('many machines count together in Redis', async (t) => {
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
})

t.test('names in Redis begin as the host says', async (t) => {
  const redis = createRedis()
  const { ask } = await buildLimited(t, { redis, nameSpace: 'ats:' })
  await ask()
  t.match([...redis.counts.keys()], [/^ats:key:/])
})

t.test('while the store fails requests get 500, or pass if the host says so', async (t) => {
  const redis = createRedis()
  redis.fails = true
  const { ask } = await buildLimited(t, { redis })
  for (const key of [keys.full, 'guess']) checkError(t, await ask(key), 500)
  const { ask: askAnyway } = await buildLimited(t, { redis, skipOnError: true, failedKeys: { max: 1 } })
  t.equal((await askAnyway()).statusCode, 200)
  for (const guess of ['guess-1', 'guess-2']) checkError(t, await askAnyway(guess), 401)
})

t.test('a store of the host\'s own counts', async (t) => {
  class Store {
    incr (_key: string, done: (error: null, result: object) => void) { done(null, { current: 8, ttl: 2000 }) }
  }
  const { ask } = await buildLimited(t, { max: 10, store: Store })
  t.match((await ask()).headers, { 'ratelimit-limit': 10, 'ratelimit-remaining': 2, 'ratelimit-reset': 2 })
})

t.test('memory keeps as many keys as the host says', async (t) => {
  const { ask } = await buildLimited(t, { cache: 1, max: 1 })
  await ask(keys.full)
  await ask(keys.jobsRead)
  t.equal((await ask(keys.full)).statusCode, 200, 'the first is forgotten')
  checkLimited(t, await ask(keys.full), 1)
})
