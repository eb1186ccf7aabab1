import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'
import { type AppOverrides, allScopes, bearer, buildApp, tenants } from '../../fixtures/api/app.js'
import { checkError, comparable } from '../../fixtures/api/answers.js'
import { buildAppWithRoutes, urlOf } from '../../fixtures/api/routes.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { probe, sendProbes } from '../../fixtures/fuzz/probes.js'
import { addHostRoutes, hostRequests } from '../../fixtures/hosts/own-site.js'
import { base, listFiles } from '../../fixtures/portal/files.js'
import { createToken, portal } from '../../fixtures/portal/sessions.js'

/** A host with the tenant portal alone. */
async function buildTwin (t: Test, options: AppOverrides) {
  const storage = memoryStorage({ tenants: { portal: tenants.acme ?? {} } })
  await storeWebhook(storage, 'portal')
  return buildAppWithRoutes(t, { storage, keyLookup: memoryKeyLookup([{ key: 'a-key', tenantSlug: 'portal', scopes: allScopes }]), ...options })
}

t.test('a tenant named portal has the same API as without the option', async (t) => {
  const { app, routes } = await buildTwin(t, { portal })
  const { app: without } = await buildTwin(t, {})
  const requests = routes.map((route) => [route.method, urlOf(route, { tenant: 'portal' })])
  for (const path of ['nothing', 'assets', 'assets/', 'assets/nothing.js', 'assets/portal.js', 'assets/element.js/x', '/']) requests.push(['GET', base + path])
  for (const path of ['', 'assets/element.js']) requests.push(['POST', base + path])
  for (const [method = '', url = ''] of requests) {
    for (const key of ['a-key', 'unknown']) {
      const [answer, expected] = await Promise.all([app, without].map(async (one) => {
        const answer = comparable(await one.inject({ method: method as 'GET', url, headers: bearer(key) }))
        return answer.replaceAll(/whsec_[\w+/=]+|T[\d:.]+Z|"next_token\\":\\"[\w.-]+/g, '')
      }))
      t.equal(answer, expected, `${method} ${url} with ${key}`)
    }
  }
  const headers = bearer(await createToken(app, ['read'], { tenantSlug: 'portal' }))
  t.equal((await app.inject({ url: '/api/v1/public/portal/webhooks', headers })).statusCode, 200)
})

t.test('other paths near the page are what they are without it', async (t) => {
  const without = await buildApp(t)
  const app = await buildApp(t, { portal })
  const urls = ['/api/v1/public/portal', '/api/v1/public/portal/x', '/api/v1/public/portals/', '/portal/', '/assets/element.js', `${base}index.html`, `${base}assets/../element.js`, `${base}%2e%2e/`]
  for (const url of urls) t.equal(comparable(await app.inject(url)), comparable(await without.inject(url)), url)
  checkError(t, await without.inject(base), 401, 'the page without the option')
})

t.test('the option changes no answer to a key, and none of the host', async (t) => {
  t.same(await probe(t, { portal }), await probe(t, {}))
  const alone = Fastify()
  t.teardown(() => alone.close())
  addHostRoutes(alone)
  t.same(await sendProbes(await buildApp(t, { portal, before: addHostRoutes }), hostRequests), await sendProbes(alone, hostRequests))
})

t.test('the page is in no document', async (t) => {
  for (const inHostDocument of [false, true]) {
    const app = await buildApp(t, { portal, openapi: { inHostDocument }, before: async (app) => { await app.register(swagger, { openapi: {} }) } })
    t.notMatch(JSON.stringify(app.swagger()), '/portal/')
    t.notMatch((await app.inject('/api/v1/public/openapi.json')).body, '/portal/')
  }
})

t.test('a hook of the host can step aside for the page, as for the API', async (t) => {
  const app = await buildApp(t, {
    portal,
    before (app) {
      app.addHook('onRequest', async (request, reply) => { if (request.routeOptions.config.recruitingApi !== true) return reply.code(401).send() })
    }
  })
  for (const path of (await listFiles(app)).all) t.equal((await app.inject(`${base}${path}`)).statusCode, 200, path)
})
