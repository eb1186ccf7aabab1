import t from 'tap'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { allScopes, apiKeys, bearer, keys, tenants } from '../fixtures/api/app.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { buildAppWithRoutes, requestTo, titleOf, urlOf } from '../fixtures/api/routes.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { recordEvents, storeWebhook } from '../fixtures/api/webhooks.js'

const withoutAccess = [
  { key: 'expired-key', tenantSlug: 'acme', scopes: allScopes, expiresAt: '2020-01-01T00:00:00Z' },
  { key: 'revoked-key', tenantSlug: 'acme', scopes: allScopes, revoked: true }
]

const strangers = [
  { what: 'no key', tenant: 'acme', headers: {} },
  { what: 'a malformed key', tenant: 'acme', headers: { authorization: 'Bearer a key' } },
  { what: 'the key of another tenant', tenant: 'acme', headers: bearer(keys.globex) },
  { what: 'this key on the path of another tenant', tenant: 'globex', headers: bearer(keys.full) },
  { what: 'an expired key', tenant: 'acme', headers: bearer('expired-key') },
  { what: 'a revoked key', tenant: 'acme', headers: bearer('revoked-key') },
  { what: 'a good key on an unknown tenant', tenant: 'initech', headers: bearer(keys.full) },
  { what: 'an unknown key on an unknown tenant', tenant: 'initech', headers: bearer('unknown') },
  { what: 'no key on an unknown tenant', tenant: 'initech', headers: {} },
  { what: 'a good key on the tenant in capitals', tenant: 'ACME', headers: bearer(keys.full) },
  { what: 'a good key on the tenant with a space', tenant: 'acme%20', headers: bearer(keys.full) },
  { what: 'a good key on the tenant with a NUL', tenant: 'acme%00', headers: bearer(keys.full) },
  { what: 'a good key on the tenant with a line feed', tenant: 'acme%0a', headers: bearer(keys.full) },
  { what: 'a good key on the tenant with a slash', tenant: 'acme%2f', headers: bearer(keys.full) },
  { what: 'a good key on a tenant named like the prototype', tenant: '__proto__', headers: bearer(keys.full) },
  { what: 'a good key on a tenant of 100 characters', tenant: 'a'.repeat(100), headers: bearer(keys.full) }
]

t.test('every operation returns the same 401 for every invalid key', async (t) => {
  const { storage, calls } = spyStorage()
  const keyLookup = memoryKeyLookup([...apiKeys, ...withoutAccess])
  const { app, routes } = await buildAppWithRoutes(t, { storage, keyLookup })
  t.ok(routes.length >= 12, 'operations exist')

  for (const route of routes) {
    const method = route.method as 'GET'
    const unknown = await app.inject({ method, url: urlOf(route), headers: bearer('unknown') })
    if (method as string !== 'HEAD') checkError(t, unknown, 401, titleOf(route))
    for (const { what, tenant, headers } of strangers) {
      const answer = await app.inject({ method, url: urlOf(route, { tenant }), headers })
      t.equal(comparable(answer), comparable(unknown), `${titleOf(route)} with ${what}`)
    }
  }
  t.same(calls, [], 'the storage is not called')
})

t.test('every operation treats another tenant\'s resource as missing', async (t) => {
  const storage = memoryStorage({ tenants })
  storage.candidates.save('globex', { id: 4, full_name: 'Frank Grimes' })
  storage.jobs.save('globex', { id: 4, name: 'Sidekick', status: 'published' })
  for (let id = 1; id < 4; id++) await storeWebhook(storage, 'globex')
  const foreign = await storeWebhook(storage, 'globex')
  await recordEvents(storage, 'globex', 1)
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  const before = await storage.webhooks.find('globex', foreign.id)
  const withId = routes.filter(({ path }) => path.includes('/:id'))
  t.ok(withId.length >= 11, 'operations with an id exist')
  t.equal(foreign.id, 4, 'each resource has the id 4 in globex')
  const theirs = await app.inject({ url: '/api/v1/public/globex/api_keys', headers: bearer(keys.globex) })
  t.match(theirs.json().data, [{ id: 'key_10' }])

  for (const route of withId) {
    const id = route.path.startsWith('/api_keys') ? 'key_10' : route.path.startsWith('/events') ? 'evt_globex_1' : '4'
    const unknown = await app.inject(requestTo(route, { id: `${id}999` }))
    const answer = await app.inject(requestTo(route, { id }))
    if (route.method !== 'HEAD') checkError(t, unknown, 404, titleOf(route))
    t.equal(comparable(answer), comparable(unknown), titleOf(route))
  }
  t.same(await storage.webhooks.find('globex', foreign.id), before, 'the foreign webhook does not change')
  const { statusCode } = await app.inject({ url: '/api/v1/public/globex/jobs', headers: bearer(keys.globex) })
  t.equal(statusCode, 200, 'the foreign key is valid')
})

t.test('the tenant in the path is the first argument of every storage call', async (t) => {
  const { storage, calls } = spyStorage()
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  await storeWebhook(storage, 'acme')
  calls.length = 0

  // The catalogue is the host's, and the same for all tenants; keys have their own store.
  for (const route of routes.filter(({ path }) => path !== '/event_types' && !path.startsWith('/api_key'))) {
    const from = calls.length
    await app.inject(requestTo(route))
    t.ok(calls.length > from, `${titleOf(route)} calls the storage`)
  }
  const ofAllTenants = ['changes.begin', 'changes.tokenSecret', 'changes.stats', 'feed.tokenSecret', 'feed.stats']
  t.same(calls.filter(({ method, args }) => args[0] !== 'acme' && !ofAllTenants.includes(method)), [])
})
