import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { AuditEntry, HostRoutes } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { type AppOverrides, type Teardown, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { hostileErrors } from '../fixtures/hostile/hostile-errors.js'
import { interviewRoutes } from '../fixtures/hosts/host-routes.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)

async function buildAudited (t: Teardown, overrides: AppOverrides = {}) {
  const entries: AuditEntry[] = []
  const app = await buildApp(t, { onAudit: (entry) => { entries.push(entry) }, ...overrides })
  return { app, entries }
}

t.test('reading a list is audited with its key, filters and rows, without the values of filters', async (t) => {
  const { app, entries } = await buildAudited(t)
  const answer = await app.inject({ url: `${base}/candidates?filter[q]=ada&filter[recruiter_id]=11&page=1`, headers })
  t.strictSame(entries, [{
    source: 'request',
    requestId: answer.headers['x-request-id'],
    tenantSlug: 'acme',
    keyId: entries[0]?.keyId,
    actor: null,
    operationId: 'listCandidates',
    isDeprecated: false,
    resource: null,
    method: 'GET',
    filters: ['filter[recruiter_id]', 'filter[q]'],
    status: 200,
    rowCount: 1
  }])
  t.type(entries[0]?.keyId, 'string')
  t.notMatch(JSON.stringify({ ...entries[0], requestId: '' }), /ada|11|full-key/)
})

t.test('one resource is one row; nothing shown is none', async (t) => {
  const { app, entries } = await buildAudited(t, { routes: interviewRoutes })
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.created'] }
  const { data } = (await app.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })).json()
  await app.inject({ url: `${base}/webhooks/${data.id}`, headers })
  await app.inject({ method: 'HEAD', url: `${base}/webhooks/${data.id}`, headers })
  await app.inject({ method: 'DELETE', url: `${base}/webhooks/${data.id}`, headers })
  await app.inject({ method: 'POST', url: `${base}/interviews`, headers, payload: { place: 'Rome' } })
  t.same(entries.map(({ method, operationId, status, rowCount }) => [method, operationId, status, rowCount]), [
    ['POST', 'createWebhook', 201, 1],
    ['GET', 'getWebhook', 200, 1],
    ['HEAD', 'getWebhook', 200, null],
    ['DELETE', 'deleteWebhook', 204, null],
    ['POST', null, 201, null]
  ])
})

t.test('an entry names the record that was read or changed, also if there is none, and none if the request was refused before', async (t) => {
  const routes: HostRoutes = async (app) => {
    const config = { scopes: ['candidates:read'], resource: 'interview' }
    const response = { 200: Type.Object({ data: Type.Object({ id: Type.String() }) }) }
    app.get('/interviews/:interview_id', { config, schema: { response } }, async (request) => ({ data: { id: `interview ${Object.keys(request.params as object).length}` } }))
    app.post('/interviews', { config, schema: { response } }, async () => ({ data: { id: 'i-7' } }))
    app.delete('/interviews', { config, schema: { response: { 204: Type.Null() } } }, async () => undefined)
  }
  const { app, entries } = await buildAudited(t, { routes })
  const payload = { name: 'ATS', target_url: 'https://example.com/', event_types: ['application.created'] }
  const { data: { id } } = (await app.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload })).json()
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  const { data: [delivery] } = (await app.inject({ url: `${base}/webhooks/${id}/deliveries`, headers })).json()
  for (const [method, path] of [
    ['GET', '/candidates'], ['GET', '/candidates/1'], ['GET', '/candidates/999'], ['GET', '/candidates/x'], ['HEAD', '/jobs/1'], ['GET', '/jobs/1'],
    ['GET', '/webhooks'], ['GET', `/webhooks/${id}`], ['PATCH', `/webhooks/${id}`], ['POST', `/webhooks/${id}/rotate_secret`], ['POST', `/webhooks/${id}/replay`],
    ['GET', `/webhooks/${id}/deliveries/${delivery.id}`], ['POST', `/webhooks/${id}/deliveries/${delivery.id}/retry`], ['DELETE', `/webhooks/${id}`],
    ['GET', '/interviews/a%20b'], ['POST', '/interviews'], ['DELETE', '/interviews']
  ] as const) await app.inject({ method, url: `${base}${path}`, headers, ...(method === 'PATCH' ? { payload: { name: 'CRM' } } : {}) })
  await app.inject({ url: `${base}/candidates/1`, headers: bearer(keys.none) })
  await app.inject({ url: `${base}/candidates/1` })
  const webhook = { kind: 'webhook', id }
  const candidate = { kind: 'candidate', id: 1 }
  const logged = { kind: 'delivery', id: delivery.id }
  t.strictSame(entries.map(({ status, resource }) => [status, resource]), [
    [201, webhook], [200, webhook],
    [200, null], [200, candidate], [404, { kind: 'candidate', id: 999 }], [400, null], [200, { kind: 'job', id: 1 }], [200, { kind: 'job', id: 1 }],
    [200, null], [200, webhook], [200, webhook], [200, webhook], [202, webhook],
    [200, logged], [202, logged], [204, webhook],
    [200, { kind: 'interview', id: 'a b' }], [200, { kind: 'interview', id: 'i-7' }], [204, null],
    [403, null], [401, null]
  ])
})

t.test('refused requests are audited too', async (t) => {
  const { app, entries } = await buildAudited(t)
  await app.inject({ url: `${base}/candidates?filter[q]=ada` })
  await app.inject({ url: `${base}/candidates?filter[q]=ada`, headers: bearer(keys.none) })
  await app.inject({ url: `${base}/candidates?filter[ada]=1`, headers })
  await app.inject({ url: `${base}/nothing`, headers })
  t.same(entries.map(({ status, operationId, filters, rowCount }) => [status, operationId, filters, rowCount]), [
    [401, 'listCandidates', [], null],
    [403, 'listCandidates', ['filter[q]'], null],
    [400, 'listCandidates', [], null],
    [404, null, [], null]
  ])
  t.same(entries.map(({ keyId }) => keyId === null), [true, false, false, false])
})

t.test('responses of the host itself within the scope have no id', async (t) => {
  const { app, entries } = await buildAudited(t, {
    before (app) { app.addHook('onRequest', async (_request, reply) => reply.code(204).send()) },
    openapi: false
  })
  await app.inject({ url: `${base}/jobs`, headers })
  t.match(entries, [{ requestId: '', status: 204, keyId: null, rowCount: null }])
})

for (const [what, thrown] of Object.entries({ 'an error': new Error('canary'), ...hostileErrors })) {
  t.test(`a listener that throws ${what}, or rejects with it, changes no answer and is logged`, async (t) => {
    const rejections = watchRejections(t)
    for (const onAudit of [() => { throw thrown }, async () => { throw thrown }]) {
      const logs = captureLogs()
      const { app } = await buildAudited(t, { onAudit, server: { logger: logs.logger } })
      const answer = await app.inject({ url: `${base}/jobs`, headers })
      t.equal(answer.statusCode, 200)
      t.equal((await logs.waitFor('the onAudit option failed')).request_id, answer.headers['x-request-id'])
    }
    t.same(rejections, [])
  })
}

t.test('a listener that never ends holds nothing up', async (t) => {
  const logs = captureLogs()
  const { app } = await buildAudited(t, { onAudit: () => new Promise(() => {}), server: { logger: logs.logger } })
  t.equal((await app.inject({ url: `${base}/jobs`, headers })).statusCode, 200)
  t.ok(await logs.waitFor('request completed'))
})

t.test('reading a public document is not audited', async (t) => {
  const { app, entries } = await buildAudited(t)
  await app.inject('/api/v1/public/openapi.json')
  t.same(entries, [])
})

t.test('a request that takes effect is audited once, also if the client has gone before the response', async (t) => {
  const storage = memoryStorage({ tenants: { acme: {} } })
  let remove = (): void => {}
  const isHeld = new Promise<void>((resolve) => { remove = resolve })
  const { webhooks } = storage
  let begun = (): void => {}
  const hasBegun = new Promise<void>((resolve) => { begun = resolve })
  const slow = { ...webhooks, delete: async (...args: Parameters<typeof webhooks.delete>) => { begun(); await isHeld; return webhooks.delete(...args) } }
  const { app, entries } = await buildAudited(t, { storage: { ...storage, webhooks: slow } })
  const { id } = await app.recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] })
  entries.length = 0
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const leaving = new AbortController()
  const request = fetch(`${origin}${base}/webhooks/${id}`, { method: 'DELETE', headers, signal: leaving.signal }).catch(() => null)
  await hasBegun
  leaving.abort()
  await request
  await new Promise((resolve) => { setTimeout(resolve, 50) })
  remove()
  while (entries.length === 0) await new Promise((resolve) => { setTimeout(resolve, 10) })
  await fetch(`${origin}${base}/webhooks/${id}`, { headers })
  t.match(entries, [{ operationId: 'deleteWebhook', status: 204, resource: { kind: 'webhook', id: String(id) } }, { operationId: 'getWebhook', status: 404 }])
})
