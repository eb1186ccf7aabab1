import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { AuditEntry, RateLimitCaller, RecruitingRoutes } from '../../src/index.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { base, buildLimited, checkLimited } from '../fixtures/api/limits.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { operationRules } from '../fixtures/api/operation-rules.js'
import { buildAppWithRoutes, titleInDocument, titleOf, urlOf } from '../fixtures/api/routes.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { all, createToken, portal, sealToken } from '../fixtures/portal/sessions.js'
import type { OpenApi } from '../fixtures/api/document.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { interviewRoutes } from '../fixtures/hosts/host-routes.js'
import { assertRejectedByPlugin } from '../fixtures/rejected-option.js'

t.test("with another tenant's slug, a session gets the same 401 as an unknown key", async (t) => {
  const { storage, calls } = spyStorage()
  const { app, routes } = await buildAppWithRoutes(t, { storage, portal })
  const headers = bearer(await createToken(app))
  t.ok(routes.length >= 12, 'there are operations')
  calls.length = 0
  for (const route of routes) {
    const method = route.method as 'GET'
    for (const tenant of ['globex', 'initech', 'ACME', 'acme%20', '__proto__', 'portal']) {
      const unknown = await app.inject({ method, url: urlOf(route, { tenant }), headers: bearer('unknown') })
      const answer = await app.inject({ method, url: urlOf(route, { tenant }), headers })
      if (route.method !== 'HEAD') checkError(t, unknown, 401, titleOf(route))
      t.equal(comparable(answer), comparable(unknown), `${titleOf(route)} of ${tenant}`)
    }
  }
  t.same(calls, [], 'no storage call')
})

t.test('all sessions of an actor share one rate limit, separate from other actors and keys, even with perTenant', async (t) => {
  const seen: RateLimitCaller[] = []
  const max = (caller: RateLimitCaller): number => {
    seen.push(caller)
    return 2
  }
  const keyLookup = async () => ({ id: 'ada', scopes: ['webhooks:read', 'webhooks:write'] })
  const { app, ask } = await buildLimited(t, { max, perTenant: true }, { portal, keyLookup })
  const [first, second, other] = await Promise.all(['ada', 'ada', 'grace'].map((actor) => createToken(app, ['read'], { actor })))
  for (const token of [first, second]) t.equal((await ask(token, '/webhooks')).statusCode, 200)
  checkLimited(t, await ask(first, '/webhooks'), 2)
  checkLimited(t, await ask(second, '/webhooks'), 2)
  t.strictSame(seen[0], { tenantSlug: 'acme', tenantId: 'acme', keyId: null, scopes: ['webhooks:read', 'webhooks:write'] })
  for (const key of [other, 'a-key']) t.match(await ask(key, '/webhooks'), { statusCode: 200, headers: { 'ratelimit-remaining': '1' } })
})

t.test('tenants have separate rate limits, even with slashes in slugs, actors and key ids', async (t) => {
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

t.test('invalid tokens count as failed keys of their address, but valid sessions from there still work', async (t) => {
  const { ask, app } = await buildLimited(t, { failedKeys: { max: 2 } }, { portal })
  checkError(t, await ask('unknown'), 401)
  checkError(t, await ask(sealToken({ tenantSlug: 'globex' })), 401)
  checkLimited(t, await ask(sealToken({ until: -1 })), 2)
  t.equal((await ask(await createToken(app), '/webhooks')).statusCode, 200, 'a session that was never used')
})

t.test("an audit entry has the session's actor or the key id", async (t) => {
  const entries: AuditEntry[] = []
  const app = await buildApp(t, { portal, onAudit: (entry) => { entries.push(entry) } })
  const token = await createToken(app, ['read'], { actor: 'Ada <ada@example.com>' })
  for (const key of [token, keys.full, sealToken({ until: -1 }), 'unknown']) await app.inject({ url: `${base}/webhooks`, headers: bearer(key) })
  await app.inject({ method: 'POST', url: `${base}/webhooks`, headers: bearer(token) })
  await app.inject({ url: `${base}/nothing`, headers: bearer(token) })
  const { keyId } = entries[2] ?? {}
  t.type(keyId, 'string')
  const actor = 'Ada <ada@example.com>'
  t.same(
    entries.map((entry) => [entry.status, entry.keyId, entry.actor]),
    [
      [null, null, actor],
      [200, null, actor],
      [200, keyId, null],
      [401, null, null],
      [401, null, null],
      [403, null, actor],
      [404, null, actor]
    ]
  )
})

t.test('no log line, response or audit entry contains a token, whether its request succeeds or fails', async (t) => {
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
  const parts = tokens.flatMap((token) => [token, token.slice(4, 24), token.slice(-20)])
  for (const part of parts) t.notOk(text.includes(part))
})

/** Every set of capabilities. A session with the empty set can only read. */
const grants = Array.from({ length: 2 ** (all.length - 1) }, (_, bits) =>
  all.filter((_name, index) => index > 0 && (bits >> (index - 1)) % 2 === 1))

t.test('every operation accepts or rejects each of the 64 sets of capabilities as documented', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t, { portal })
  const tokens = await Promise.all(grants.map(async (capabilities) =>
    ({ capabilities, headers: bearer(await createToken(app, capabilities)) })))
  t.equal(tokens.length, 64)
  for (const route of routes) {
    const title = titleOf(route)
    const isReading = route.method === 'GET' || route.method === 'HEAD'
    const isForWebhooks = /^\/(webhooks|event_types|events|api_keys)\b/.test(route.path)
    const rule = operationRules[title.replace('HEAD', 'GET')]
    t.equal(rule === undefined, isReading && !/^\/(events|api_keys)\b/.test(route.path), `${title} has a rule`)
    const wrong: string[] = []
    for (const { capabilities, headers } of tokens) {
      const isAllowed = isForWebhooks && (rule?.capabilities ?? []).every((name) => capabilities.includes(name))
      const answer = await app.inject({ method: route.method as 'GET', url: urlOf(route), headers })
      if ((answer.statusCode !== 403) !== isAllowed || answer.statusCode === 401) wrong.push(`[${capabilities.join()}] gets ${answer.statusCode}`)
      if (!isAllowed && route.method !== 'HEAD') checkError(t, answer, 403, title)
    }
    t.same(wrong, [], title)
  }
})

t.test('only sessions with bodies get event bodies and response excerpts', async (t) => {
  const delivery = { responseExcerptBytes: 100 }
  const { app, drain, emit, receiver, webhook } = await startDelivering(t, { portal, delivery })
  receiver.answer({ status: 500, headers: { 'content-type': 'text/plain' }, body: 'inner text' })
  await emit({ text: 'canary' })
  await drain()
  const url = `/api/v1/public/acme/webhooks/${webhook.id}/deliveries/1`
  const shown = async (key: string) => (await app.inject({ url, headers: bearer(key) })).json().data
  const whole = await shown(keys.full)
  t.match(whole, { body: /canary/, attempts: [{ response_excerpt: 'inner text' }] })
  t.same(await shown(await createToken(app, ['bodies'])), whole)
  const others = all.filter((name) => name !== 'bodies')
  t.strictSame(await shown(await createToken(app, others)), {
    ...whole, body: null, attempts: whole.attempts.map((attempt: object) => ({ ...attempt, response_excerpt: null }))
  })
})

t.test('a session without bodies gets 403 if it changes target_url, and nothing is changed', async (t) => {
  const app = await buildApp(t, { portal })
  const url = '/api/v1/public/acme/webhooks'
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] }
  await app.inject({ method: 'POST', url, headers: bearer(keys.full), payload })
  const change = async (key: string, changes: object) => app.inject({ method: 'PATCH', url: `${url}/1`, headers: bearer(key), payload: changes })
  const [without, withBodies] = await Promise.all([createToken(app, all.filter((name) => name !== 'bodies')), createToken(app, ['write', 'bodies'])])
  checkError(t, await change(without, { name: 'CRM', target_url: 'https://example.org/' }), 403)
  t.match(await app.recruiting.webhooks.find('acme', 1), { name: 'ATS', target_url: 'https://example.com/' })
  t.equal((await change(without, { name: 'CRM', event_types: ['job.closed'], status: 'inactive' })).statusCode, 200)
  for (const key of [withBodies, keys.full]) t.equal((await change(key, { target_url: 'https://example.org/' })).statusCode, 200)
})

t.test('a session without bodies cannot set filters, because match counts would reveal event data', async (t) => {
  const app = await buildApp(t, { portal })
  const url = '/api/v1/public/acme/webhooks'
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] }
  const filters = { 'data.salary': [50_000] }
  const send = async (method: 'POST' | 'PATCH', key: string, changes: object) =>
    app.inject({ method, url: method === 'POST' ? url : `${url}/1`, headers: bearer(key), payload: changes })
  const without = await createToken(app, all.filter((name) => name !== 'bodies'))
  checkError(t, await send('POST', without, { ...payload, filters }), 403)
  for (const method of ['POST', 'PATCH'] as const) checkError(t, await send(method, without, { ...method === 'POST' && payload, changed: ['salary'] }), 403)
  t.equal((await send('POST', without, { ...payload, filters: null })).statusCode, 201)
  for (const changed of [filters, null]) checkError(t, await send('PATCH', without, { filters: changed }), 403)
  t.equal((await send('PATCH', await createToken(app, ['write', 'bodies']), { filters })).statusCode, 200)
})

const schema = { response: { 200: Type.Object({}) } }

/** Operations of a host with their scopes and capabilities. */
const routes: RecruitingRoutes = async (app) => {
  app.get('/reads', { config: { scopes: [] }, schema }, async () => ({}))
  app.get('/reads-bodies', { config: { scopes: ['webhooks:read'], capabilities: ['bodies'] }, schema }, async () => ({}))
  app.get('/candidates-too', { config: { scopes: ['candidates:read'] }, schema }, async () => ({}))
  app.post('/changes', { config: { scopes: [] }, schema }, async () => ({}))
  app.route({ method: ['GET', 'POST'], url: '/both', config: { scopes: [] }, schema, handler: async () => ({}) })
  app.post('/searches', { config: { scopes: [], capabilities: ['read'] }, schema }, async () => ({}))
  app.delete('/replays', { config: { scopes: [], capabilities: ['replay', 'write'] }, schema }, async () => ({}))
}

const requests = [
  ['GET', '/reads'], ['HEAD', '/reads'], ['GET', '/reads-bodies'], ['GET', '/candidates-too'], ['POST', '/changes'], ['GET', '/both'], ['POST', '/both'],
  ['POST', '/searches'], ['DELETE', '/replays']
] as const

t.test("the host's operations need their declared capabilities, and by default `write` if they change data", async (t) => {
  const app = await buildApp(t, { portal, routes })
  const open = async (key: string): Promise<string[]> => {
    const answers = await Promise.all(requests.map(([method, path]) => app.inject({ method, url: `/api/v1/public/acme${path}`, headers: bearer(key) })))
    t.same(answers.filter(({ statusCode }) => ![200, 403].includes(statusCode)), [])
    return requests.filter((_request, index) => answers[index]?.statusCode === 200).map((request) => request.join(' '))
  }
  const reading = ['GET /reads', 'HEAD /reads', 'POST /searches']
  t.same((await open(await createToken(app, ['read']))).sort(), reading)
  t.same((await open(await createToken(app, ['bodies']))).sort(), ['GET /reads', 'GET /reads-bodies', 'HEAD /reads', 'POST /searches'])
  t.same((await open(await createToken(app, ['replay']))).sort(), reading)
  t.same((await open(await createToken(app, ['write']))).sort(), ['GET /both', 'GET /reads', 'HEAD /reads', 'POST /both', 'POST /changes', 'POST /searches'])
  t.same((await open(await createToken(app))).sort(), [
    'DELETE /replays', 'GET /both', 'GET /reads', 'GET /reads-bodies', 'HEAD /reads', 'POST /both', 'POST /changes', 'POST /searches'
  ])
  t.equal((await open(keys.full)).length, requests.length, 'a key needs no capabilities')
})

t.test('unknown capabilities fail the registration', async (t) => {
  const names = 'read, write, secrets, bodies, test, replay, keys'
  for (const [capabilities, shown] of [['write', '"write"'], [['writes'], 'an array'], [null, 'null']] as const) {
    const wrong: RecruitingRoutes = async (app) => {
      const config: object = { scopes: [], capabilities }
      app.get('/x', { config, schema }, async () => ({}))
    }
    await assertRejectedByPlugin(t, [
      { routes: wrong }, 'routes', `config.capabilities of GET /api/v1/public/:tenant_slug/x to be an array of ${names}`, shown
    ])
  }
})

const tenant = '/api/v1/public/{tenant_slug}'
const needs = /A portal session needs (.*)\./

async function readDocument (options: object): Promise<OpenApi> {
  const app = await buildApp(t, options)
  return (await app.inject('/api/v1/public/openapi.json')).json()
}

t.test('with the portal, the document lists the capabilities of each operation', async (t) => {
  const { paths } = await readDocument({ portal, routes: interviewRoutes })
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => {
      return [titleInDocument(method, path), needs.exec(description)?.[1]?.replaceAll('`', '').split(' and ')] as const
    }))
  const documented = Object.entries(operationRules).map(([title, { capabilities }]) => [title, capabilities])
  t.same(Object.fromEntries(operations.filter(([, names]) => names !== undefined)), {
    ...Object.fromEntries(documented), 'POST /interviews': ['write']
  })
  t.match(paths[`${tenant}/webhooks`]?.post?.description, /It is not shown again\.\n\nA portal session .*\n\nNeeds `webhooks:read` and `webhooks:write`\.$/)
  t.match(
    paths[`${tenant}/webhooks/{id}`]?.patch?.description,
    /can change `target_url`, `filters` and `changed` only with the capability `bodies`/
  )
  t.equal(paths[`${tenant}/interviews`]?.post?.description, 'A portal session needs `write`.\n\nNeeds no scope.')
})

t.test("with the portal, the document declares that a delivery's body can be null", async (t) => {
  const bodyOf = ({ components }: OpenApi): unknown =>
    (components.schemas.DeliveryWithAttempts as { properties: { body: unknown } }).properties.body
  t.match(bodyOf(await readDocument({ portal })), { anyOf: [{ type: 'string' }, { type: 'null' }], description: /Its data is null after .*\. null only for portal sessions without the capability `bodies`$/ })
  t.match(bodyOf(await readDocument({})), { type: 'string', description: /Its data is null after the event's subject was erased$/ })
})

t.test('without the portal, the document does not mention sessions', async (t) => {
  // A type of creator has this name.
  const text = JSON.stringify(await readDocument({ routes: interviewRoutes })).replaceAll('"session"', '')
  t.notMatch(text, /session|capabilit/i)
})
