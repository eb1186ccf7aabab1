import t from 'tap'
import type { PortalCapability } from '../../../src/index.js'
import { bearer } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../../fixtures/api/routes.js'
import { all, createToken, portal } from '../../fixtures/portal/sessions.js'

/** Every set of capabilities; the empty one is a session that only reads. */
const grants = Array.from({ length: 2 ** (all.length - 1) }, (_, bits) => all.filter((_name, index) => index > 0 && (bits >> (index - 1)) % 2 === 1))

/** The rule of the contract, written out a second time: what each operation on webhooks needs. */
const needed: Record<string, readonly PortalCapability[]> = {
  'POST /webhooks': ['write', 'secrets'],
  'PATCH /webhooks/:id': ['write'],
  'DELETE /webhooks/:id': ['write'],
  'POST /webhooks/:id/rotate_secret': ['write', 'secrets'],
  'POST /webhooks/:id/dispatch_test': ['test'],
  'POST /webhooks/:id/replay': ['replay'],
  'POST /webhooks/:id/deliveries/:delivery_id/retry': ['replay']
}

t.test('every operation answers each of the 32 sets of capabilities with 403 or lets it in, as the contract has it', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t, { portal })
  const tokens = await Promise.all(grants.map(async (capabilities) => ({ capabilities, headers: bearer(await createToken(app, capabilities)) })))
  t.equal(tokens.length, 32)
  for (const route of routes) {
    const title = titleOf(route)
    const isReading = route.method === 'GET' || route.method === 'HEAD'
    const isForWebhooks = /^\/(webhooks|event_types)/.test(route.path)
    t.equal(needed[title] === undefined, isReading, `the rule of ${title} is known`)
    const wrong: string[] = []
    for (const { capabilities, headers } of tokens) {
      const isAllowed = isForWebhooks && (needed[title] ?? []).every((name) => capabilities.includes(name))
      const answer = await app.inject({ method: route.method as 'GET', url: urlOf(route), headers })
      if ((answer.statusCode !== 403) !== isAllowed || answer.statusCode === 401) wrong.push(`[${capabilities.join()}] gets ${answer.statusCode}`)
      if (!isAllowed && route.method !== 'HEAD') checkError(t, answer, 403, title)
    }
    t.same(wrong, [], title)
  }
})

t.test('a session creates, changes and deletes a webhook as a key does', async (t) => {
  const { app } = await buildAppWithRoutes(t, { portal })
  const headers = bearer(await createToken(app))
  const url = '/api/v1/public/acme/webhooks'
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] }
  const created = await app.inject({ method: 'POST', url, headers, payload })
  t.match([created.statusCode, created.json().data], [201, { id: 1, secret: /^whsec_/ }])
  const changed = await app.inject({ method: 'PATCH', url: `${url}/1`, headers, payload: { name: 'CRM' } })
  t.match([changed.statusCode, changed.json().data], [200, { name: 'CRM' }])
  t.equal((await app.inject({ method: 'POST', url: `${url}/1/rotate_secret`, headers })).statusCode, 200)
  t.equal((await app.inject({ method: 'DELETE', url: `${url}/1`, headers })).statusCode, 204)
})

t.test('an unknown path is a 404 for every session', async (t) => {
  const { app } = await buildAppWithRoutes(t, { portal })
  const headers = bearer(await createToken(app, []))
  for (const method of ['GET', 'POST', 'PUT'] as const) checkError(t, await app.inject({ method, url: '/api/v1/public/acme/nothing', headers }), 404)
})
