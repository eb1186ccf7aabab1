import t, { type Test } from 'tap'
import type { AuditEntry } from '../../src/index.js'
import { memoryKeyLookup } from '../../src/storages/memory/index.js'
import { allScopes, bearer, buildApp } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { createToken, portal } from '../fixtures/portal/sessions.js'

const target = { name: 'CRM', target_url: 'https://hooks.example.com/in', event_types: ['job.created'] }
const rights = { name: 'Sync', scopes: allScopes }
const disabling = '?children=true&webhooks=disable'

/** A host whose customers can create keys with every scope. `acme` and `globex` each have a key with all of them. */
async function build (t: Test) {
  const entries: AuditEntry[] = []
  const logs = captureLogs()
  const app = await buildApp(t, {
    portal: { ...portal, keys: { scopes: allScopes } },
    keyLookup: memoryKeyLookup([
      { key: 'acme', tenantSlug: 'acme', scopes: allScopes, id: 'key_acme' },
      { key: 'manager', tenantSlug: 'acme', scopes: ['api_keys:manage'], id: 'key_manager' },
      { key: 'short', tenantSlug: 'acme', scopes: allScopes, id: 'key_short', expiresAt: new Date(Date.now() + 86_400_000) },
      { key: 'globex', tenantSlug: 'globex', scopes: allScopes, id: 'key_globex' }
    ]),
    server: { logger: logs.logger },
    errorDetails: true,
    onAudit: (entry) => { entries.push(entry) }
  })
  const send = (key: string, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object, tenant = 'acme') =>
    app.inject({
      method, url: `/api/v1/public/${tenant}${path}`, headers: bearer(key), ...(payload === undefined ? {} : { payload })
    })
  return {
    app,
    entries,
    logs,
    send,
    create: async (key: string, tenant?: string) => (await send(key, 'POST', '/api_keys', rights, tenant)).json().data,
    addWebhook: async (key: string, tenant?: string): Promise<number> =>
      (await send(key, 'POST', '/webhooks', target, tenant)).json().data.id,
    /** The statuses of a tenant's webhooks. */
    statuses: async (key = 'acme', tenant = 'acme'): Promise<string[]> =>
      (await send(key, 'GET', '/webhooks', undefined, tenant)).json().data.map(({ status }: { status: string }) => status)
  }
}

t.test('a webhook shows who created it: a key, a session or code', async (t) => {
  const { app, entries, send, addWebhook } = await build(t)
  const session = await createToken(app)
  const created = await send('acme', 'POST', '/webhooks', target)
  const { id } = created.json().data
  t.strictSame(Object.keys(created.json().data), ['id', 'name', 'status', 'target_url', 'event_types', 'secret'])
  await addWebhook(session)
  await app.recruiting.webhooks.create('acme', target)
  await app.recruiting.as('ops:ann').webhooks.create('acme', target)
  const creators = [
    { type: 'key', id: 'key_acme' }, { type: 'session', id: 'user:17' }, { type: 'code', id: null },
    { type: 'code', id: 'ops:ann' }
  ]
  const list = (await send('acme', 'GET', '/webhooks')).json().data
  t.strictSame(list.map((webhook: { created_by: object }) => webhook.created_by), creators)
  for (const answer of [
    await send(session, 'GET', `/webhooks/${id}`), await send(session, 'PATCH', `/webhooks/${id}`, { name: 'New' })
  ]) t.strictSame(answer.json().data.created_by, creators[0])
  const resources = entries.filter(({ operationId }) => operationId === 'createWebhook').map(({ resource }) => resource)
  t.strictSame(resources.map((resource) => resource?.createdBy), creators, 'the audit has it too')
})

t.test('revoking a key can end the keys and webhooks that it created, also before it was rotated', async (t) => {
  const { send, create, addWebhook, statuses } = await build(t)
  const first = await create('acme')
  await addWebhook(first.key)
  const child = await create(first.key)
  await addWebhook(child.key)
  await addWebhook('acme')
  const second = (await send(first.key, 'POST', `/api_keys/${first.id}/rotate`)).json().data
  await addWebhook(second.key)

  const alone = (await send('acme', 'DELETE', `/api_keys/${second.id}`)).json().data
  t.match(alone, { id: second.id, children_count: 1, webhooks_count: 2, revoked_at: /Z$/ })
  t.equal((await send(child.key, 'GET', '/jobs')).statusCode, 200)
  t.strictSame(await statuses(), ['active', 'active', 'active', 'active'])

  const all = (await send('acme', 'DELETE', `/api_keys/${second.id}${disabling}`)).json().data
  t.match(all, { id: second.id, children_count: 1, webhooks_count: 3, revoked_at: alone.revoked_at })
  t.equal((await send(child.key, 'GET', '/jobs')).statusCode, 401)
  t.strictSame(await statuses(), ['inactive', 'inactive', 'active', 'inactive'])
})

t.test('no tenant, key or session ends keys or webhooks that it may not change', async (t) => {
  const { app, send, create, addWebhook, statuses } = await build(t)
  const victim = await create('acme')
  const child = await create(victim.key)
  await addWebhook(victim.key)
  // A key of another tenant with children and webhooks, created by a key whose id acme also knows.
  const stranger = await create('globex', 'globex')
  await addWebhook(stranger.key, 'globex')
  const path = `/api_keys/${victim.id}${disabling}`
  for (const [caller, tenant, status] of [
    ['globex', 'globex', 404],
    ['globex', 'acme', 401],
    [await createToken(app, undefined, { tenantSlug: 'globex' }), 'globex', 404],
    [await createToken(app, undefined, { tenantSlug: 'globex' }), 'acme', 401],
    ['manager', 'acme', 403],
    [await createToken(app, ['read', 'write']), 'acme', 403],
    [await createToken(app, ['read', 'keys']), 'acme', 403]
  ] as const) {
    t.equal((await send(caller, 'DELETE', path, undefined, tenant)).statusCode, status, `${caller} at ${tenant}`)
  }
  for (const query of ['?children=yes', '?webhooks=delete', '?child=true']) {
    t.equal((await send('acme', 'DELETE', `/api_keys/${victim.id}${query}`)).statusCode, 400, query)
  }
  t.equal((await send(victim.key, 'GET', '/jobs')).statusCode, 200)
  t.equal((await send(child.key, 'GET', '/jobs')).statusCode, 200)
  t.strictSame(await statuses(), ['active'])

  t.equal((await send('manager', 'DELETE', `/api_keys/${victim.id}?children=true`)).statusCode, 200)
  t.equal((await send(child.key, 'GET', '/jobs')).statusCode, 401)
  t.strictSame(await statuses('globex', 'globex'), ['active'])
  t.equal((await send(stranger.key, 'GET', '/jobs', undefined, 'globex')).statusCode, 200)
})

t.test('a key passes on no more life than it has, and none once it was replaced', async (t) => {
  const { logs, send, create } = await build(t)
  const child = await create('short')
  t.ok(Date.parse(child.expires_at) <= Date.now() + 86_400_000)
  const longer = await create('acme')
  t.equal((await send('short', 'POST', `/api_keys/${longer.id}/rotate`)).json().data.expires_at, child.expires_at)

  const replaced = await create('acme')
  const next = (await send('acme', 'POST', `/api_keys/${replaced.id}/rotate`)).json().data
  t.equal((await send(replaced.key, 'GET', '/jobs')).statusCode, 200, 'it still works in its grace period')
  const message = 'has expired, or was revoked or replaced, so it can create and rotate no keys'
  for (const answer of [
    await send(replaced.key, 'POST', '/api_keys', rights), await send(replaced.key, 'POST', `/api_keys/${next.id}/rotate`),
    await send(replaced.key, 'POST', `/api_keys/${replaced.id}/rotate`)
  ]) {
    t.match([answer.statusCode, answer.json().error], [403, { details: [{ field: 'authorization', message }] }])
  }
  t.equal(logs.lines.filter(({ details }) => JSON.stringify(details)?.includes(message)).length, 3, 'the log says why')
})

t.test('valid replaced keys count against maxKeys, and a rotation without a grace period needs no place', async (t) => {
  const app = await buildApp(t, {
    portal: { ...portal, keys: { maxKeys: 2 } }, keyLookup: memoryKeyLookup([]), errorDetails: true
  })
  const session = await createToken(app)
  const send = (path: string, payload: object) => app.inject({
    method: 'POST', url: `/api/v1/public/acme/api_keys${path}`, headers: bearer(session), payload
  })
  const { id } = (await send('', { name: 'CRM', scopes: ['jobs:read'] })).json().data
  const second = (await send(`/${id}/rotate`, {})).json().data
  const full = /the maximum of 2 valid keys/
  t.match((await send('', { name: 'CRM', scopes: ['jobs:read'] })).json().error.details, [{ message: full }])
  t.match((await send(`/${second.id}/rotate`, {})).json().error.details, [{ message: /: rotate it without a grace period/ }])
  t.equal((await send(`/${second.id}/rotate`, { grace_period_seconds: 0 })).statusCode, 200)
})
