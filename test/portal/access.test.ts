import t from 'tap'
import type { AuditEntry, RateLimitCaller } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { base, buildLimited, checkLimited } from '../fixtures/api/limits.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../fixtures/api/routes.js'
import { recordEvents, storeWebhook } from '../fixtures/api/webhooks.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { createToken, portal, sealToken } from '../fixtures/portal/sessions.js'

t.test('a session reaches no operation of another tenant: the same 401 as an unknown key', async (t) => {
  const { storage, calls } = spyStorage()
  const { app, routes } = await buildAppWithRoutes(t, { storage, portal })
  const headers = bearer(await createToken(app))
  t.ok(routes.length >= 12, 'there are operations')
  for (const route of routes) {
    const method = route.method as 'GET'
    for (const tenant of ['globex', 'initech', 'ACME', 'acme%20', '__proto__', 'portal']) {
      const unknown = await app.inject({ method, url: urlOf(route, { tenant }), headers: bearer('unknown') })
      const answer = await app.inject({ method, url: urlOf(route, { tenant }), headers })
      if (route.method !== 'HEAD') checkError(t, unknown, 401, titleOf(route))
      t.equal(comparable(answer), comparable(unknown), `${titleOf(route)} of ${tenant}`)
    }
  }
  t.same(calls, [], 'the storage is not asked')
})

t.test('a session finds no resource of another tenant below its own', async (t) => {
  const storage = memoryStorage({ tenants })
  for (let id = 1; id < 4; id++) await storeWebhook(storage, 'globex')
  const foreign = await storeWebhook(storage, 'globex')
  await recordEvents(storage, 'globex', 1)
  const { app, routes } = await buildAppWithRoutes(t, { storage, portal })
  const headers = bearer(await createToken(app))
  const before = await storage.webhooks.find('globex', foreign.id)
  for (const route of routes.filter(({ path }) => path.startsWith('/webhooks/:id'))) {
    const request = (id: string) => ({
      method: route.method as 'GET', url: urlOf(route, { id }), headers, ...(route.method === 'PATCH' ? { payload: { name: 'Renamed' } } : {})
    })
    const unknown = await app.inject(request('999'))
    t.equal(unknown.statusCode, 404, titleOf(route))
    t.equal(comparable(await app.inject(request(String(foreign.id)))), comparable(unknown), titleOf(route))
  }
  t.same(await storage.webhooks.find('globex', foreign.id), before)
})

t.test('the tenant of the path is the first argument of every call of the storage for a session', async (t) => {
  const { storage, calls } = spyStorage()
  const { app, routes } = await buildAppWithRoutes(t, { storage, portal })
  await storeWebhook(storage, 'acme')
  const headers = bearer(await createToken(app))
  calls.length = 0
  for (const route of routes) await app.inject({ method: route.method as 'GET', url: urlOf(route), headers })
  t.ok(calls.length > 0)
  t.same(calls.filter(({ method, args }) => args[0] !== 'acme' && method !== 'feed.tokenSecret'), [])
})

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

t.test('two tenants count apart, whatever slashes are in their slugs and in the names of actors and keys', async (t) => {
  const names = [['a', 'b/c'], ['a/b', 'c']] as const
  const keyLookup = async ({ tenantSlug }: { tenantSlug: string }) => {
    return { id: tenantSlug === 'a' ? 'b/c' : 'c', scopes: ['webhooks:read', 'webhooks:write'] }
  }
  const { app } = await buildLimited(t, { max: 1 }, { portal, keyLookup })
  for (const [tenantSlug, actor] of names) {
    const url = `/api/v1/public/${encodeURIComponent(tenantSlug)}/webhooks`
    for (const key of [await createToken(app, ['read'], { tenantSlug, actor }), 'a-key']) {
      t.equal((await app.inject({ url, headers: bearer(key) })).statusCode, 200, `${tenantSlug} ${key}`)
      checkLimited(t, await app.inject({ url, headers: bearer(key) }), 1)
    }
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
  const { ask } = await buildLimited(t, { failedKeys: { max: 2 } }, { portal })
  checkError(t, await ask('unknown'), 401)
  checkError(t, await ask(sealToken({ tenantSlug: 'globex' })), 401)
  checkLimited(t, await ask(sealToken({ until: -1 })), 2)
})

t.test('invalid keys of an address lock out no session there, not even one that was never used', async (t) => {
  const { ask, app } = await buildLimited(t, { failedKeys: { max: 2 } }, { portal })
  for (let count = 0; count < 2; count++) checkError(t, await ask('unknown'), 401)
  checkLimited(t, await ask('another'), 2)
  t.equal((await ask(await createToken(app), '/webhooks')).statusCode, 200)
})

t.test('a session waits for no lookup of a key from its address', async (t) => {
  const { ask, app } = await buildLimited(t, { failedKeys: { max: 1 } }, { portal, keyLookup: () => new Promise(() => {}) })
  ask('unknown').catch(() => {})
  t.equal((await ask(await createToken(app), '/webhooks')).statusCode, 200)
})

t.test('sessions of the portal count by actor, also with perTenant, and have no key', async (t) => {
  const seen: RateLimitCaller[] = []
  const { app } = await buildLimited(t, { max: (caller) => { seen.push(caller); return 3 }, perTenant: true }, { portal })
  const ask = async (key: string): Promise<unknown> => (await app.inject({ url: `${base}/webhooks`, headers: bearer(key) })).headers['ratelimit-remaining']
  const [ada, again, grace] = [await createToken(app, ['read'], { actor: 'ada' }), await createToken(app, ['read'], { actor: 'ada' }), await createToken(app, ['read'], { actor: 'grace' })]
  t.same([await ask(keys.full), await ask(ada), await ask(again), await ask(grace), await ask(keys.webhooks)], [2, 2, 1, 2, 1])
  t.strictSame(seen[1], { tenantSlug: 'acme', tenantId: 'acme', keyId: null, scopes: ['webhooks:read', 'webhooks:write'] })
})

t.test('an entry names the actor of a session, or the id of a key', async (t) => {
  const entries: AuditEntry[] = []
  const app = await buildApp(t, { portal, onAudit: (entry) => { entries.push(entry) } })
  const token = await createToken(app, ['read'], { actor: 'Ada <ada@example.com>' })
  for (const key of [token, keys.full, sealToken({ until: -1 }), 'unknown']) await app.inject({ url: `${base}/webhooks`, headers: bearer(key) })
  await app.inject({ method: 'POST', url: `${base}/webhooks`, headers: bearer(token) })
  await app.inject({ url: `${base}/nothing`, headers: bearer(token) })
  const { keyId } = entries[1] ?? {}
  t.type(keyId, 'string')
  const actor = 'Ada <ada@example.com>'
  t.same(entries.map((entry) => [entry.status, entry.keyId, entry.actor]), [
    [200, null, actor], [200, keyId, null], [401, null, null], [401, null, null], [403, null, actor], [404, null, actor]
  ])
})

t.test('a token is in no log line, no answer and no entry, whatever becomes of its request', async (t) => {
  const logs = captureLogs()
  const seen: string[] = []
  const app = await buildApp(t, {
    server: { logger: { ...logs.logger, level: 'trace' } },
    portal,
    errorDetails: true,
    rateLimit: { max: 8, failedKeys: { max: 2 } },
    onAudit: (entry) => { seen.push(JSON.stringify(entry)) },
    async routes (routes) {
      routes.get('/fails', { config: { scopes: [] }, schema: { response: { 200: {} } } }, async () => { throw new Error('gone') })
    }
  })
  const tokens = [await createToken(app), await createToken(app, ['read']), sealToken({ until: -1 }), sealToken({ tenantSlug: 'globex' }), sealToken({ tenantSlug: 'globex' })]
  const requests = [
    ['GET', '/webhooks'], ['GET', '/webhooks?x=1'], ['POST', '/webhooks'], ['GET', '/fails'], ['GET', '/nothing'], ['GET', '/candidates'], ['HEAD', '/webhooks']
  ] as const
  for (const token of tokens) {
    for (const [method, path] of requests) {
      const { body, headers } = await app.inject({ method, url: `${base}${path}`, headers: bearer(token) })
      seen.push(body, JSON.stringify(headers))
    }
  }
  await logs.waitFor('request failed')
  const text = seen.join() + logs.text()
  t.ok(text.length > 1000)
  for (const token of tokens) for (const part of [token, token.slice(4, 24), token.slice(-20)]) t.notOk(text.includes(part))
})
