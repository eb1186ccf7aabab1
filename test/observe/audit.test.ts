import { setImmediate } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import recruitingApi, { type AuditEntry, createRecruiting, type RecruitingRoutes } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { allScopes, type AppOverrides, bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { hostileErrors } from '../fixtures/hostile/hostile-errors.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'
import { collect } from '../fixtures/collect.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)

async function buildAudited (t: Teardown, overrides: AppOverrides = {}) {
  const entries: AuditEntry[] = []
  const app = await buildApp(t, { onAudit: (entry) => { entries.push(entry) }, ...overrides })
  return { app, entries }
}

t.test('a list request is audited with its key, filter names and row count, without filter values', async (t) => {
  const { app, entries } = await buildAudited(t)
  const answer = await app.inject({ url: `${base}/candidates?filter[q]=ada&filter[recruiter_id]=11&page=1`, headers })
  t.strictSame(entries, [{
    source: 'request',
    time: entries[0]?.time,
    requestId: answer.headers['x-request-id'],
    tenantSlug: 'acme',
    tenantId: 'acme',
    address: '127.0.0.1',
    keyId: entries[0]?.keyId,
    actor: null,
    operationId: 'listCandidates',
    isDeprecated: false,
    isRepeated: false,
    resource: null,
    method: 'GET',
    filters: ['filter[recruiter_id]', 'filter[q]'],
    status: 200,
    rowCount: 1
  }])
  t.type(entries[0]?.keyId, 'string')
  t.notMatch(JSON.stringify({ ...entries[0], requestId: '', time: '' }), /ada|11|full-key/)
})

t.test('an entry has the time, tenant id, address and key id, even if the key is used outside its networks', async (t) => {
  const clock = createManualClock('2026-01-01T00:00:00Z')
  const { app, entries } = await buildAudited(t, {
    tenantId: () => 41,
    keyLookup: ({ key }) => key === 'unknown' ? null : { id: key, scopes: allScopes, allowedIps: ['203.0.113.0/24'] },
    portal: { secretKeys: [Buffer.alloc(32, 1)] },
    delivery: { worker: false, clock }
  })
  for (const [key, remoteAddress] of [
    ['k1', '203.0.113.9'],
    ['k1', '::ffff:192.0.2.1'],
    ['unknown', '2001:db8::1']
  ] as const) {
    await app.inject({ url: `${base}/jobs`, headers: bearer(key), remoteAddress })
    await clock.advance(1000)
  }
  await app.recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'ada' })
  await app.recruiting.as('ops').prune()
  t.strictSame(entries.map(({ time, status, operationId, tenantSlug, tenantId, address, keyId, actor }) =>
    [time, status, operationId, tenantSlug, tenantId, address, keyId, actor]), [
    ['2026-01-01T00:00:00.000Z', 200, 'listJobs', 'acme', '41', '203.0.113.9', 'k1', null],
    ['2026-01-01T00:00:01.000Z', 401, 'listJobs', 'acme', '41', '192.0.2.1', 'k1', null],
    ['2026-01-01T00:00:02.000Z', 401, 'listJobs', 'acme', null, '2001:db8::1', null, null],
    ['2026-01-01T00:00:03.000Z', null, 'createSession', 'acme', '41', null, null, 'ada'],
    ['2026-01-01T00:00:03.000Z', null, 'prune', null, null, null, null, 'ops']
  ])
})

t.test('close waits up to 10 seconds for entries that are being written', async (t) => {
  const clock = createManualClock()
  const logs = captureLogs()
  let write = (): void => {}
  const onAudit = (): Promise<void> => new Promise((resolve) => { write = resolve })
  for (const isWritten of [true, false]) {
    const app = await buildApp(t, { onAudit, delivery: { worker: false, clock }, server: { logger: logs.logger } })
    await app.inject({ url: `${base}/jobs`, headers })
    let isClosed = false
    const closing = app.close().then(() => { isClosed = true })
    await clock.advance(9999)
    t.notOk(isClosed)
    if (isWritten) write()
    else await clock.advance(1)
    await closing
  }
  t.match(await logs.waitFor('audit entries were not written before the close'), { entries: 1 })
})

t.test('an onClose hook that was added before the API runs after the last entry was written', async (t) => {
  const steps: string[] = []
  const app = Fastify()
  app.addHook('onClose', async () => { steps.push('pool ended') })
  const onAudit = async (): Promise<void> => {
    await setImmediate()
    steps.push('entry written')
  }
  await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: async () => null, onAudit })
  await app.inject(`${base}/jobs`)
  await app.close()
  t.same(steps, ['entry written', 'pool ended'])
})

t.test('an entry has the record and row count, or neither if the request was rejected earlier', async (t) => {
  const routes: RecruitingRoutes = async (app) => {
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
  const shown = { ...webhook, createdBy: { type: 'key', id: 'key_1' } }
  const candidate = { kind: 'candidate', id: 1 }
  const logged = { kind: 'delivery', id: delivery.id }
  t.strictSame(entries.map(({ status, resource, rowCount }) => [status, resource, rowCount]), [
    [201, shown, 1], [200, webhook, 1],
    [200, null, 3], [200, candidate, 1], [404, { kind: 'candidate', id: 999 }, null], [400, null, null],
    [200, { kind: 'job', id: 1 }, null], [200, { kind: 'job', id: 1 }, 1],
    [200, null, 1], [200, shown, 1], [200, shown, 1], [200, shown, 1], [202, webhook, 1],
    [200, logged, 1], [202, logged, 1], [204, webhook, null],
    [200, { kind: 'interview', id: 'a b' }, 1], [200, { kind: 'interview', id: 'i-7' }, 1], [204, null, null],
    [403, null, null], [401, null, null]
  ])
})

t.test('rejected requests are audited', async (t) => {
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

for (const [what, thrown] of Object.entries({ 'an error': new Error('canary'), ...hostileErrors })) {
  t.test(`a listener that throws ${what}, or rejects with it, is logged and does not change the response`, async (t) => {
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

t.test('a successful request is audited once, even if the client disconnects before the response', async (t) => {
  const storage = memoryStorage({ tenants: { acme: {} } })
  let remove = (): void => {}
  const isHeld = new Promise<void>((resolve) => { remove = resolve })
  const { webhooks } = storage
  let begun = (): void => {}
  const hasBegun = new Promise<void>((resolve) => { begun = resolve })
  const slow: typeof webhooks = {
    ...webhooks,
    async delete (...args) {
      begun()
      await isHeld
      return webhooks.delete(...args)
    }
  }
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

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 }, subject: 'candidate:42' } as const

function startAudited (t: Teardown) {
  const entries: AuditEntry[] = []
  const recruiting = createRecruiting({
    storage: memoryStorage(), onAudit: (entry) => { entries.push(entry) }, delivery: false, logger: silentLogger
  })
  t.teardown(() => recruiting.close())
  return { recruiting, entries }
}

t.test('webhook calls are audited with the actor and the operation ids of the API', async (t) => {
  const { recruiting, entries } = startAudited(t)
  const { webhooks } = recruiting.as('support:ann')
  const createdBy = { type: 'code', id: 'support:ann' } as const
  const { id } = await webhooks.create('acme', { ...webhookInput, event_types: ['application.created'] })
  t.strictSame(entries, [{
    source: 'code',
    time: entries[0]?.time,
    requestId: null,
    tenantSlug: 'acme',
    tenantId: 'acme',
    address: null,
    keyId: null,
    actor: 'support:ann',
    operationId: 'createWebhook',
    isDeprecated: false,
    isRepeated: false,
    resource: { kind: 'webhook', id, createdBy },
    method: null,
    filters: [],
    status: null,
    rowCount: 1
  }])
  const { id: imported } = await webhooks.import('acme', { ...webhookInput, secret: `whsec_${Buffer.alloc(32).toString('base64')}` })
  await webhooks.delete('acme', imported)
  await recruiting.emit(event)
  await webhooks.list('acme', { 'filter[status]': 'active', page: 1 })
  await webhooks.list('acme')
  await webhooks.find('acme', id)
  await webhooks.find('acme', id + 1)
  await webhooks.update('acme', id, { name: 'CRM' })
  await webhooks.rotateSecret('acme', id)
  await webhooks.sendTest('acme', id)
  await webhooks.replay('acme', id)
  const { data: [delivery] } = await webhooks.listDeliveries('acme', id, { 'filter[status]': 'pending' })
  const deliveryId = Number(delivery?.id)
  await webhooks.findDelivery('acme', id, deliveryId)
  await webhooks.retryDelivery('acme', id, deliveryId)
  await webhooks.failing()
  await webhooks.delete('acme', id)
  await t.rejects(webhooks.delete('acme', id), { code: 'not_found' })
  await t.rejects(webhooks.update('acme', id, { name: '' }), { code: 'invalid_input' })
  const webhook = { kind: 'webhook', id }
  const logged = { kind: 'delivery', id: deliveryId }
  const columns = ['tenantSlug', 'operationId', 'resource', 'filters', 'rowCount'] as const
  t.strictSame(entries.slice(1).map((entry) => columns.map((column) => entry[column])), [
    ['acme', 'importWebhook', { kind: 'webhook', id: imported, createdBy }, [], 1],
    ['acme', 'deleteWebhook', { kind: 'webhook', id: imported }, [], null],
    ['acme', 'listWebhooks', null, ['filter[status]'], 1],
    ['acme', 'listWebhooks', null, [], 1],
    ['acme', 'getWebhook', { ...webhook, createdBy }, [], 1],
    ['acme', 'updateWebhook', { ...webhook, createdBy }, [], 1],
    ['acme', 'rotateWebhookSecret', { ...webhook, createdBy }, [], 1],
    ['acme', 'dispatchWebhookTest', webhook, [], 1],
    ['acme', 'replayWebhook', webhook, [], 1],
    ['acme', 'listWebhookDeliveries', webhook, ['filter[status]'], 1],
    ['acme', 'getWebhookDelivery', logged, [], 1],
    ['acme', 'retryWebhookDelivery', logged, [], 1],
    [null, 'listFailingWebhooks', null, [], 0],
    ['acme', 'deleteWebhook', webhook, [], null]
  ])
  t.ok(entries.every(({ actor, tenantSlug, tenantId }) => actor === 'support:ann' && tenantId === tenantSlug))
})

t.test('calls about subjects, tenants and secrets are audited; without `as`, the actor is null', async (t) => {
  const { recruiting, entries } = startAudited(t)
  await recruiting.emit(event)
  await recruiting.emit(event)
  await collect(recruiting.findSubject('acme', 'candidate:42'))
  const stopped = recruiting.findSubject('acme', 'candidate:42')
  await stopped.next()
  await stopped.return?.()
  await collect(recruiting.findSubject('acme', 'candidate:43'))
  await t.rejects(collect(recruiting.findSubject('', 'candidate:42')))
  await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:42' })
  await recruiting.resealSecrets()
  await recruiting.adopt({ pending: 'deliver' })
  await recruiting.renameTenant('acme', 'acme-new')
  await recruiting.suspendTenant({ tenantId: 'acme-new' })
  await recruiting.resumeTenant('acme-new', { pending: 'skip' })
  await recruiting.removeTenant('acme-new')
  const subject = { kind: 'subject', id: 'candidate:42' }
  t.strictSame(
    entries.map((entry) => [entry.actor, entry.tenantId, entry.operationId, entry.resource, entry.rowCount]),
    [
      [null, 'acme', 'findSubject', subject, 2],
      [null, 'acme', 'findSubject', subject, 1],
      [null, 'acme', 'findSubject', { kind: 'subject', id: 'candidate:43' }, 0],
      [null, 'acme', 'erase', subject, 2],
      [null, null, 'resealSecrets', null, 0],
      [null, null, 'adopt', null, null],
      [null, 'acme', 'renameTenant', { kind: 'tenant', id: 'acme-new' }, null],
      [null, 'acme-new', 'suspendTenant', { kind: 'tenant', id: 'acme-new' }, null],
      [null, 'acme-new', 'resumeTenant', { kind: 'tenant', id: 'acme-new' }, null],
      [null, 'acme-new', 'removeTenant', { kind: 'tenant', id: 'acme-new' }, null]
    ]
  )
})

t.test('an actor must be text, and has no effect without onAudit', async (t) => {
  const { recruiting } = startAudited(t)
  for (const actor of ['', 'x'.repeat(129), 'a\nb', 7]) {
    t.throws(() => recruiting.as(actor as string), { code: 'invalid_input', field: 'actor', message: /^actor: expected text of 1 to 128 characters without control characters, got / })
  }
  const silent = createRecruiting({ storage: memoryStorage(), delivery: false })
  t.teardown(() => silent.close())
  t.strictSame((await silent.as('support:ann').webhooks.list('acme')).data, [])
})

t.test('a listener that throws is logged and fails no call; calls through the plugin are audited', async (t) => {
  const lines: unknown[] = []
  const logger = { ...silentLogger, error: (fields: object, message: string) => { lines.push(message) } }
  const recruiting = createRecruiting({ storage: memoryStorage(), onAudit () { throw new Error('canary') }, delivery: false, logger })
  t.teardown(() => recruiting.close())
  t.strictSame((await recruiting.webhooks.list('acme')).data, [])
  t.strictSame(lines, ['the onAudit option failed'])
  const entries: AuditEntry[] = []
  const app = await buildApp(t, { onAudit: (entry) => { entries.push(entry) } })
  await app.recruiting.as('user:1').webhooks.list('acme')
  t.match(entries, [{ source: 'code', actor: 'user:1', operationId: 'listWebhooks' }])
})
