import t from 'tap'
import { createRecruiting, isRecruitingApiError, type RecruitingWebhooks } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { callOperations } from '../../src/core/api/calls.js'
import type { WebhookCall } from '../../src/core/webhooks/recruiting.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { operationRules } from '../fixtures/api/operation-rules.js'
import { buildWebhookApi, onlyById, rejection, timeOf, toLoopback, webhookInput } from '../fixtures/api/webhook-api.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

t.test('calls by code return the same lists and items as the API', async (t) => {
  const { app: { recruiting: { webhooks } }, call, create, drain, emit, receiver, webhook } = await startDelivering(t)
  await create({ name: 'Second', status: 'inactive' })
  receiver.answer(503, 204)
  await emit()
  await drain()
  await emit()
  await drain()
  const path = `/webhooks/${webhook.id}`
  t.strictSame(await webhooks.list('acme'), (await call('GET', '/webhooks')).body)
  t.strictSame(
    await webhooks.list('acme', { page: 2, per_page: 1, sort: '-name', 'filter[status]': 'active' }),
    (await call('GET', '/webhooks?page=2&per_page=1&sort=-name&filter[status]=active')).body
  )
  t.strictSame({ data: await webhooks.find('acme', webhook.id) }, (await call('GET', path)).body)
  t.strictSame(await webhooks.listDeliveries('acme', webhook.id), (await call('GET', `${path}/deliveries`)).body)
  t.strictSame(
    await webhooks.listDeliveries('acme', webhook.id, { sort: 'created_at', 'filter[status]': 'pending' }),
    (await call('GET', `${path}/deliveries?sort=created_at&filter[status]=pending`)).body
  )
  t.strictSame({ data: await webhooks.findDelivery('acme', webhook.id, 1) }, (await call('GET', `${path}/deliveries/1`)).body)
})

t.test('changes by code use the fields of the API and appear in the API', async (t) => {
  const { app: { recruiting: { webhooks } }, call, clock } = await buildWebhookApi(t)
  const { secret, ...created } = await webhooks.create('acme', { ...webhookInput, name: ' CRM sync ' })
  t.strictSame(created, { id: 1, ...webhookInput, status: 'active' })
  t.match(secret, /^whsec_.{44}$/)
  const updated = await webhooks.update('acme', 1, {
    status: 'inactive', target_url: 'https://hooks.example.com/a/../b', headers: { 'X-Token': '1' }
  })
  t.strictSame((await call('GET', '/webhooks/1')).body, { data: { ...updated, ...onlyById } })
  t.match(updated, { status: 'inactive', target_url: 'https://hooks.example.com/b', headers: { 'X-Token': null } })
  const { secret: rotated, previous_secret_expires_at: until, ...rest } = await webhooks.rotateSecret('acme', 1, { grace_period_seconds: 0 })
  t.strictSame([rest, until, rotated === secret], [{ ...created, status: 'inactive', target_url: updated.target_url, headers: updated.headers }, null, false])
  const { previous_secret_expires_at: end } = await webhooks.rotateSecret('acme', 1)
  t.equal(end, timeOf(clock, 86_400_000), 'a day by default')
  t.equal(await webhooks.delete('acme', 1), undefined)
  t.equal(await webhooks.find('acme', 1), null)
})

t.test('a process without a server that does not deliver can test, replay and retry', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const delivery = { ...toLoopback, worker: false }
  const { emit, webhooks, close } = createRecruiting({ storage, logger: silentLogger, delivery })
  t.teardown(close)
  const { id } = await webhooks.create('acme', { ...webhookInput, target_url: receiver.url, status: 'inactive' })
  const { id: eventId } = await emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await webhooks.update('acme', id, { status: 'active' })
  const { id: testId, duration_ms: durationMs, ...tested } = await webhooks.sendTest('acme', id, { event_type: 'job.closed' })
  t.strictSame(tested, { event_type: 'job.closed', status: 'delivered', response_status: 204, error: null, detail: null })
  t.match([testId, durationMs], [/^evt_/, Number])
  t.match(await webhooks.sendTest('acme', id), { event_type: 'application.created' })
  t.match(await webhooks.replay('acme', id, { dry_run: true }), { webhook_id: id, include: 'undelivered', queued: 1, truncated: false })
  const { since, until, ...replayed } = await webhooks.replay('acme', id)
  t.strictSame(replayed, { webhook_id: id, include: 'undelivered', queued: 1, truncated: false })
  t.strictSame(await webhooks.replay('acme', id, { include: 'all', event_ids: ['evt_none'] }),
    { webhook_id: id, include: 'all', since: null, until: null, queued: 0, truncated: false })
  t.match(await webhooks.retryDelivery('acme', id, 1), { id: 2, event_id: eventId, status: 'pending' }, 'the replay is already pending')
  t.equal(receiver.requests.length, 2, 'only the tests were sent')
})

t.test('results have only the fields of the API, and changing them does not change the webhook', async (t) => {
  const storage = memoryStorage()
  const { find } = storage.webhooks
  storage.webhooks.find = async (tenantSlug, id) => {
    const webhook = await find(tenantSlug, id)
    return webhook && Object.assign(webhook, { secret: 'whsec_AAAA' })
  }
  const { app: { recruiting: { webhooks } } } = await buildWebhookApi(t, { storage })
  const { id } = await webhooks.create('acme', webhookInput)
  const found = await webhooks.find('acme', id)
  t.strictSame(Object.keys(found ?? {}), ['id', 'name', 'status', 'target_url', 'event_types', 'headers', 'filters', 'changed', 'contact', 'created_by', 'created_at', 'updated_at', 'health', 'previous_secret_expires_at'])
  found?.event_types.push('job.closed')
  t.strictSame((await webhooks.find('acme', id))?.event_types, webhookInput.event_types)
})

/** Calls a function with any arguments and returns the error. */
async function rejected (
  webhooks: RecruitingWebhooks, name: keyof RecruitingWebhooks, ...args: unknown[]
): Promise<unknown[]> {
  try {
    return ['was not rejected', await Reflect.apply(webhooks[name], webhooks, args)]
  } catch (error) {
    return isRecruitingApiError(error) ? [error.code, error.field, error.message] : [error]
  }
}

const sort = 'must be up to 3 of id, created_at, separated by commas; a leading minus sign sorts descending'
const date = 'must match format "date-time"'
const year = 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z'
const inCatalogue = 'must be an event type of the catalogue'
const notAfter = 'must not be after until'
const ids = Array.from({ length: 101 }, (_, n) => `evt_${n}`)

type Bad = [name: keyof RecruitingWebhooks, path: string, input: unknown, field: string, message: string]

/** Input that a method and its operation reject, in addition to the fields of `create`. */
const bad: Bad[] = [
  ['list', 'GET /webhooks', { page: 0 }, 'page', 'must be >= 1'],
  ['list', 'GET /webhooks', { sort: 'name,-name' }, 'sort', 'names name more than once'],
  ['list', 'GET /webhooks', { limit: '1' }, 'limit', 'is not known'],
  [
    'create', 'POST /webhooks', { name: JSON.parse('['.repeat(100) + ']'.repeat(100)) }, '',
    'is nested more than 100 levels deep'
  ],
  ['create', 'POST /webhooks', [webhookInput], '', 'must be object'],
  ['update', 'PATCH /webhooks/1', {}, '', 'must NOT have fewer than 1 properties'],
  ['update', 'PATCH /webhooks/1', null, '', 'must be object'],
  ['update', 'PATCH /webhooks/1', { name: null }, 'name', 'must be string'],
  ['update', 'PATCH /webhooks/1', { status: 'disabled' }, 'status', 'must be one of active, inactive'],
  ['update', 'PATCH /webhooks/1', { id: 17, name: 'New name' }, 'id', 'is not known'],
  ['update', 'PATCH /webhooks/1', { name: 'A', target_url: 'https://localhost/' }, 'target_url', 'must point to a public host'],
  ['update', 'PATCH /webhooks/1', { status: 'inactive', event_types: ['x'] }, 'event_types[0]', inCatalogue],
  ['rotateSecret', 'POST /webhooks/1/rotate_secret', { grace_period_seconds: -1 }, 'grace_period_seconds', 'must be >= 0'],
  ['rotateSecret', 'POST /webhooks/1/rotate_secret', { grace_period_seconds: 604801 }, 'grace_period_seconds', 'must be <= 604800'],
  ['rotateSecret', 'POST /webhooks/1/rotate_secret', { secret: 'whsec_AAAA' }, 'secret', 'is not known'],
  ['sendTest', 'POST /webhooks/1/dispatch_test', { event_type: 'constructor' }, 'event_type', inCatalogue],
  ['sendTest', 'POST /webhooks/1/dispatch_test', { data: {} }, 'data', 'is not known'],
  ['replay', 'POST /webhooks/1/replay', { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }, 'since', notAfter],
  ['replay', 'POST /webhooks/1/replay', { since: '9990-01-01T00:00:00Z' }, 'since', notAfter],
  ['replay', 'POST /webhooks/1/replay', { since: '2026-02-30T00:00:00Z' }, 'since', date],
  ['replay', 'POST /webhooks/1/replay', { since: '0001-01-01T00:00:00+01:00' }, 'since', year],
  ['replay', 'POST /webhooks/1/replay', { until: '9999-12-31T23:59:59-01:00' }, 'until', year],
  ['replay', 'POST /webhooks/1/replay', { include: 'failed' }, 'include', 'must be one of undelivered, all'],
  ['replay', 'POST /webhooks/1/replay', { event_types: ['job.lost'] }, 'event_types[0]', inCatalogue],
  ['replay', 'POST /webhooks/1/replay', { event_ids: ids }, 'event_ids', 'must NOT have more than 100 items'],
  [
    'replay', 'POST /webhooks/1/replay', { event_ids: ['evt_1'], until: '2026-01-01T00:00:00Z' }, 'event_ids',
    'must not be combined with since or until'
  ],
  [
    'listDeliveries', 'GET /webhooks/1/deliveries', { 'filter[status]': 'lost' }, 'filter[status]',
    'must be one of pending, delivered, failed, skipped, cancelled'
  ],
  ['listDeliveries', 'GET /webhooks/1/deliveries', { 'filter[event_id]': '' }, 'filter[event_id]', 'must NOT have fewer than 1 characters'],
  ['listDeliveries', 'GET /webhooks/1/deliveries', { 'filter[q]': 'x' }, 'filter[q]', 'is not known'],
  ['listDeliveries', 'GET /webhooks/1/deliveries', { sort: 'status' }, 'sort', sort]
]

t.test('bad input gets a 400, or an error by code with the same field and message, and changes nothing', async (t) => {
  const { app: { recruiting: { webhooks } }, call, create, storage } = await buildWebhookApi(t)
  const { secret } = await create()
  const before = await webhooks.list('acme')
  for (const [name, operation, input, field, message] of bad) {
    const [method = '', path = ''] = operation.split(' ')
    const isQuery = method === 'GET'
    const query = new URLSearchParams(isQuery ? input as Record<string, string> : {})
    const answer = await call(method as 'GET', isQuery ? `${path}?${query}` : path, isQuery ? undefined : input)
    const title = `${name} ${JSON.stringify(input)}`
    t.equal(answer.status, 400, title)
    t.strictSame(answer.body, rejection(answer, { field, message, ...(isQuery ? { in: 'query' as const } : {}) }), title)
    const expected = ['invalid_input', field, `${field === '' ? 'input' : field}: ${message}`]
    t.strictSame(await rejected(webhooks, name, 'acme', ...(path === '/webhooks' ? [] : [1]), input), expected, title)
  }
  t.strictSame(await webhooks.list('acme'), before)
  t.same(await storage.webhooks.findSecrets('acme', 1), [secret])
  t.match(await webhooks.replay('acme', 1, { event_ids: ids.slice(1) }), { queued: 0 }, '100 event ids are accepted')
})

t.test('the arguments are checked', async (t) => {
  const { app: { recruiting: { webhooks } }, create } = await buildWebhookApi(t)
  await create()
  for (const tenantSlug of ['', 'a\n', 'x'.repeat(101), 5, null, undefined]) {
    t.match(await rejected(webhooks, 'list', tenantSlug), ['invalid_input', 'tenantSlug', /^tenantSlug: expected a tenant slug of 1 to 100 characters without control characters, got /])
  }
  for (const id of ['1', 1.5, Number.NaN, null, undefined, 1n]) {
    t.match(await rejected(webhooks, 'find', 'acme', id), ['invalid_input', 'id', 'id: must be integer'])
    t.match(await rejected(webhooks, 'retryDelivery', 'acme', 1, id), ['invalid_input', 'deliveryId', 'deliveryId: must be integer'])
  }
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  for (const input of [cyclic, 1n, () => {}, Symbol('input'), { toJSON () { throw new Error('secret') } }]) {
    t.match(await rejected(webhooks, 'create', 'acme', input), ['invalid_input', '', 'input: is not JSON'])
  }
  for (const input of [null, 'text', 5]) {
    t.match(await rejected(webhooks, 'update', 'acme', 1, input), ['invalid_input', '', 'input: must be object'])
  }
})

t.test('unknown webhooks and those of other tenants are not_found for changes, and null for find', async (t) => {
  const { app: { recruiting: { webhooks } }, emit, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  for (const [tenantSlug, id] of [['globex', webhook.id], ['acme', 99], ['acme', 0], ['acme', -1], ['acme', 2 ** 53], ['acme', 1e300]] as const) {
    t.equal(await webhooks.find(tenantSlug, id), null)
    t.equal(await webhooks.findDelivery(tenantSlug, id, 1), null)
    t.equal(await webhooks.findDelivery('acme', webhook.id, id === webhook.id ? 7 : id), null)
    for (const [name, { method, path, shape }] of Object.entries(callOperations)) {
      if (!path.includes('/:id') || (method === 'GET' && shape === 'one')) continue
      const isOfDelivery = path.includes('/:delivery_id')
      const expected = isOfDelivery
        ? ['not_found', 'deliveryId', `deliveryId: webhook ${id} of the tenant has no delivery 1`]
        : ['not_found', 'id', `id: the tenant has no webhook ${id}`]
      const given = isOfDelivery ? [1] : [operationRules[`${method} ${path}`]?.body]
      t.strictSame(await rejected(webhooks, name as WebhookCall, tenantSlug, id, ...given), expected, `${name} ${tenantSlug} ${id}`)
    }
  }
  t.equal((await webhooks.list('acme')).meta.total, 1)
})

t.test('errors of the storage reach the caller unchanged, and calls after close throw', async (t) => {
  const { app, storage } = await buildWebhookApi(t)
  const { webhooks } = app.recruiting
  storage.webhooks.find = async () => { throw new Error('the database is gone') }
  await t.rejects(webhooks.find('acme', 1), { message: 'the database is gone' })
  await app.close()
  await t.rejects(webhooks.list('acme'), { code: 'closed' })
})

t.test('failing lists failing and disabled webhooks of all tenants, the longest failing first', async (t) => {
  const { app, clock, create, receiver, webhook, emit: emitToAcme } = await startDelivering(t)
  const { webhooks, emit, drain } = app.recruiting
  t.strictSame(await webhooks.failing(), [])
  const theirs = await webhooks.create('globex', { name: 'Theirs', target_url: receiver.url, event_types: ['application.created'] })
  await create({ name: 'Quiet', event_types: ['job.closed'] })
  receiver.answer(500, 410)
  await emitToAcme()
  await drain()
  await clock.advance(1000)
  await emit({ tenantSlug: 'globex', type: 'application.created', data: {} })
  await drain()
  const [first, second, ...others] = await webhooks.failing()
  const { health, previous_secret_expires_at: _, ...shown } = await webhooks.find('acme', webhook.id) ?? {}
  t.strictSame(first, { tenantId: 'acme', tenantSlug: 'acme', webhook: shown, health, lastError: 'http_status', lastDetail: null, lastResponseStatus: 500, pending: 1 })
  t.match(second, {
    tenantSlug: 'globex',
    webhook: { id: theirs.id, status: 'disabled' },
    health: { failed_deliveries: 1, disabled_reason: 'gone' },
    lastError: 'http_status',
    lastResponseStatus: 410,
    pending: 0
  })
  t.strictSame(others, [])
  t.strictSame(await webhooks.failing({ limit: 1 }), [first])
})

t.test('the limit of failing webhooks is checked', async (t) => {
  const { app } = await buildWebhookApi(t)
  const { webhooks } = app.recruiting
  for (const limit of [0, 1001, 1.5]) await t.rejects(webhooks.failing({ limit }), { code: 'invalid_input', field: 'limit' })
  await t.rejects(webhooks.failing({ max: 5 } as object), { code: 'invalid_input', field: 'max', message: 'max: is not known' })
  await app.close()
  await t.rejects(webhooks.failing(), { code: 'closed' })
})
