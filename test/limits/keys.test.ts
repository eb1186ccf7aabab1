import t from 'tap'
import { keys } from '../fixtures/api/app.js'
import { buildLimited, checkLimited, moveTime } from '../fixtures/api/limits.js'

t.test('the requests of a key are counted, and those over its budget get 429', async (t) => {
  const { ask } = await buildLimited(t, { max: 2 })
  for (const remaining of [1, 0]) {
    const { statusCode, headers } = await ask()
    t.equal(statusCode, 200)
    t.match(headers, { 'ratelimit-limit': 2, 'ratelimit-remaining': remaining, 'ratelimit-reset': 60 })
    t.equal(headers['retry-after'], undefined)
  }
  checkLimited(t, await ask(), 2)
})

t.test('each key has a budget of its own, whatever address it comes from', async (t) => {
  const { ask } = await buildLimited(t, { max: 1 })
  t.equal((await ask(keys.full)).statusCode, 200)
  checkLimited(t, await ask(keys.full, '/jobs', '192.0.2.2'), 1)
  t.equal((await ask(keys.jobsRead)).statusCode, 200)
})

t.test('refused requests count too: for a missing scope, an invalid query or an unknown path', async (t) => {
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

t.test('a key has 1000 requests a minute unless the host says otherwise', async (t) => {
  const { ask } = await buildLimited(t, {})
  t.match((await ask()).headers, { 'ratelimit-limit': 1000, 'ratelimit-remaining': 999, 'ratelimit-reset': 60 })
})

t.test('a time window may be text', async (t) => {
  const times = [['1 minute', 60], ['90s', 90], ['2 hours', 7200], ['1.5 mins', 90], ['3 HRS', 10_800], ['1 day', 86_400], ['5000', 5], ['2000ms', 2]] as const
  for (const [timeWindow, seconds] of times) {
    const { ask } = await buildLimited(t, { timeWindow })
    t.equal((await ask()).headers['ratelimit-reset'], String(seconds), timeWindow)
  }
})

t.test('true is the default limits, and false is none', async (t) => {
  const { ask } = await buildLimited(t, true)
  t.equal((await ask()).headers['ratelimit-limit'], '1000')
  const { ask: askFreely } = await buildLimited(t, false)
  t.notMatch(Object.keys((await askFreely()).headers).join(), /ratelimit/)
})

t.test('without the option nothing is counted', async (t) => {
  const { ask } = await buildLimited(t, {}, { rateLimit: undefined } as object)
  t.notMatch(Object.keys((await ask()).headers).join(), /ratelimit/)
})

t.test('a host that limits its own routes by the same package has other counts and other answers', async (t) => {
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
