import t from 'tap'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { allScopes, bearer, buildApp } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../../fixtures/api/routes.js'

/** Every set of the six scopes, each with a key that has exactly these. */
const grants = Array.from({ length: 2 ** allScopes.length }, (_, bits) => ({
  key: `key-${bits}`,
  tenantSlug: 'acme',
  scopes: allScopes.filter((_, index) => (bits >> index) % 2 === 1)
}))

/** The rule of the contract, written out a second time. */
function isAllowed (path: string, scopes: readonly string[]): boolean {
  if (path === '/events') return scopes.includes('webhooks:read')
  if (/^\/(webhooks|event_types)/.test(path)) return scopes.includes('webhooks:read') && scopes.includes('webhooks:write')
  const resource = path.startsWith('/candidates') ? 'candidates' : 'jobs'
  return scopes.includes(`${resource}:read`) || scopes.includes(`${resource}:write`)
}

t.test('every operation answers each of the 64 sets of scopes with 403 or lets it in, as the contract has it', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t, { keyLookup: memoryKeyLookup(grants) })
  for (const route of routes) {
    const { method, path } = route
    t.ok(/^\/(candidates|jobs|webhooks|event_types|events)(\/|$)/.test(path), `the rule of ${titleOf(route)} is known`)
    const wrong: string[] = []
    for (const { key, scopes } of grants) {
      const { statusCode } = await app.inject({ method: method as 'GET', url: urlOf(route), headers: bearer(key) })
      if ((statusCode !== 403) !== isAllowed(path, scopes)) wrong.push(`[${scopes.join()}] gets ${statusCode}`)
    }
    t.same(wrong, [], titleOf(route))
  }
})

t.test('scopes are compared exactly', async (t) => {
  const scopes = [
    'candidates', 'candidates:', ':read', 'candidates:*', '*', '*:*', 'CANDIDATES:READ', 'Candidates:read', 'candidates:read ',
    ' candidates:read', 'candidates:readonly', 'candidates:rea', 'candidate:read', 'candidates.read', 'candidates:read,candidates:write',
    'candidates:read candidates:write', 'candidates:delete', 'jobs:read', 'admin'
  ]
  const keyLookup = memoryKeyLookup(scopes.map((scope, index) => ({ key: `key-${index}`, tenantSlug: 'acme', scopes: [scope] })))
  const app = await buildApp(t, { keyLookup })
  for (const [index, scope] of scopes.entries()) {
    checkError(t, await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(`key-${index}`) }), 403, `"${scope}"`)
  }
})

t.test('scopes that no operation knows do no harm', async (t) => {
  const keyLookup = memoryKeyLookup([{ key: 'a-key', tenantSlug: 'acme', scopes: ['admin', 'jobs:read', 'jobs:read', ''] }])
  const app = await buildApp(t, { keyLookup })
  const answer = await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer('a-key') })
  t.equal(answer.statusCode, 200)
})
