import t from 'tap'
import { bearer, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../../fixtures/api/routes.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'

t.test('an empty tenant slug gets 401 from every operation, and nobody is asked', async (t) => {
  const { storage, calls } = spyStorage()
  const asked: unknown[] = []
  const { app, routes } = await buildAppWithRoutes(t, {
    storage,
    // Lets everybody in, so that the guard before it is what is tested.
    keyLookup: async (credentials) => { asked.push(credentials); return { id: 'any', scopes: ['candidates:read'] } }
  })
  for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
    const url = urlOf(route, { tenant: '' })
    checkError(t, await app.inject({ method: route.method as 'GET', url, headers: bearer(keys.full) }), 401, titleOf(route))
  }
  checkError(t, await app.inject({ url: '/api/v1/public//nothing', headers: bearer(keys.full) }), 401, 'an unknown path')
  checkError(t, await app.inject({ url: '/api/v1/public//', headers: bearer(keys.full) }), 401, 'no path')
  t.same(asked, [])
  t.same(calls, [])
})

t.test('a slug with control characters gets 401, and nobody is asked', async (t) => {
  const asked: unknown[] = []
  const { app, routes } = await buildAppWithRoutes(t, {
    keyLookup: async (credentials) => { asked.push(credentials); return null }
  })
  for (const tenant of ['%00', 'acme%00', '%0d%0a', 'acme%7f', 'acme%c2%80', '%1b']) {
    for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
      const url = urlOf(route, { tenant })
      checkError(t, await app.inject({ method: route.method as 'GET', url, headers: bearer(keys.full) }), 401, `${tenant} ${titleOf(route)}`)
    }
  }
  t.same(asked, [])
})
