import t from 'tap'
import { bearer, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { base, buildLimited, checkLimited } from '../../fixtures/api/limits.js'
import { createToken, portal, sealToken } from '../../fixtures/portal/sessions.js'

t.test('the requests of an actor count together, whatever the session, and apart from those of other actors and keys', async (t) => {
  const keyLookup = async () => ({ id: 'ada', scopes: ['webhooks:read', 'webhooks:write'] })
  const { app, ask } = await buildLimited(t, { max: 2 }, { portal, keyLookup })
  const [first, second, other] = await Promise.all(['ada', 'ada', 'grace'].map((actor) => createToken(app, ['read'], { actor })))
  for (const token of [first, second]) t.equal((await ask(token, '/webhooks')).statusCode, 200)
  checkLimited(t, await ask(first, '/webhooks'), 2)
  checkLimited(t, await ask(second, '/webhooks'), 2)
  for (const key of [other, 'a-key']) t.match(await ask(key, '/webhooks'), { statusCode: 200, headers: { 'ratelimit-remaining': '1' } })
})

t.test('the same actor of two tenants is two', async (t) => {
  const { app } = await buildLimited(t, { max: 1 }, { portal })
  for (const tenantSlug of ['acme', 'globex']) {
    const headers = bearer(await createToken(app, ['read'], { tenantSlug }))
    t.equal((await app.inject({ url: `/api/v1/public/${tenantSlug}/webhooks`, headers })).statusCode, 200)
  }
})

t.test('operations with a budget of their own have one for each actor', async (t) => {
  const { app } = await buildLimited(t, { operations: { replayWebhook: { max: 1 } } }, { portal })
  const replay = async (key: string) => app.inject({ method: 'POST', url: `${base}/webhooks/1/replay`, headers: bearer(key) })
  const token = await createToken(app)
  t.equal((await replay(token)).statusCode, 404)
  checkLimited(t, await replay(token), 1)
  t.equal((await replay(keys.full)).statusCode, 404)
})

t.test('tokens that are not valid count as failed keys of their address', async (t) => {
  const { ask, app } = await buildLimited(t, { failedKeys: { max: 2 } }, { portal })
  const token = await createToken(app)
  t.equal((await ask(token, '/webhooks')).statusCode, 200)
  checkError(t, await ask('unknown'), 401)
  checkError(t, await ask(sealToken({ tenantSlug: 'globex' })), 401)
  checkLimited(t, await ask(sealToken({ until: -1 })), 2)
  t.equal((await ask(token, '/webhooks')).statusCode, 200, 'one that was valid lately keeps working')
})
