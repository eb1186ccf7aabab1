import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, tenants } from '../../fixtures/api/app.js'
import { checkError, comparable } from '../../fixtures/api/answers.js'
import { recordEvents, storeWebhook } from '../../fixtures/api/webhooks.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../../fixtures/api/routes.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'
import { createToken, portal } from '../../fixtures/portal/sessions.js'

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
  t.same(calls.filter(({ args }) => args[0] !== 'acme'), [])
})
