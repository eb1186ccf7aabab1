import t from 'tap'
import { bearer, keys } from '../fixtures/api/app.js'
import { base, buildLimited, checkLimited } from '../fixtures/api/limits.js'

for (const path of ['dispatch_test', 'replay']) {
  t.test(`${path} has a budget of its own, of 10 a minute`, async (t) => {
    const { app, ask } = await buildLimited(t, { max: 2 })
    const post = () => app.inject({ method: 'POST', url: `${base}/webhooks/9/${path}`, headers: bearer(keys.full) })
    for (let remaining = 9; remaining >= 0; remaining--) {
      const { statusCode, headers } = await post()
      t.same([statusCode, headers['ratelimit-remaining'], headers['ratelimit-limit']], [404, remaining, 10])
    }
    checkLimited(t, await post(), 10)
    t.match((await ask()).headers, { 'ratelimit-limit': 2, 'ratelimit-remaining': 1 }, 'the others are counted apart')
  })
}

t.test('a host gives any operation a budget, by its operationId', async (t) => {
  const { app, ask } = await buildLimited(t, { max: 5, operations: { listCandidates: { max: 1, timeWindow: 3_600_000 }, replayWebhook: { max: 1 } } })
  t.match((await ask(keys.full, '/candidates')).headers, { 'ratelimit-limit': 1, 'ratelimit-reset': 3600 })
  checkLimited(t, await ask(keys.full, '/candidates'), 1, 3_600_000)
  t.equal((await ask()).headers['ratelimit-limit'], '5')
  const { headers } = await app.inject({ method: 'POST', url: `${base}/webhooks/9/replay`, headers: bearer(keys.full) })
  t.equal(headers['ratelimit-limit'], '1')
})
