import t from 'tap'
import { createRecruiting, isRecruitingApiError, type RecruitingWebhooks } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { buildWebhookApi, onlyById, refusal, toLoopback, webhookInput } from '../fixtures/api/webhook-api.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

t.test('lists and single items by code are those of the API', async (t) => {
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

t.test('changes by code have the fields of the API, and the API shows them', async (t) => {
  const { app: { recruiting: { webhooks } }, call } = await buildWebhookApi(t)
  const { secret, ...created } = await webhooks.create('acme', { ...webhookInput, name: ' CRM sync ' })
  t.strictSame(created, { id: 1, ...webhookInput, status: 'active' })
  t.match(secret, /^whsec_.{44}$/)
  const updated = await webhooks.update('acme', 1, { status: 'inactive', target_url: 'https://hooks.example.com/a/../b' })
  t.strictSame((await call('GET', '/webhooks/1')).body, { data: { ...updated, ...onlyById } })
  t.match(updated, { status: 'inactive', target_url: 'https://hooks.example.com/b' })
  const { secret: rotated, previous_secret_expires_at: until, ...rest } = await webhooks.rotateSecret('acme', 1, { grace_period_seconds: 0 })
  t.strictSame([rest, until, rotated === secret], [{ ...created, status: 'inactive', target_url: updated.target_url }, null, false])
  t.type((await webhooks.rotateSecret('acme', 1)).previous_secret_expires_at, 'string', 'a day by default')
  t.equal(await webhooks.delete('acme', 1), undefined)
  t.equal(await webhooks.find('acme', 1), null)
})

t.test('a process without a server and without deliveries tests, replays and retries', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { emit, webhooks, close } = createRecruiting({ storage, logger: silentLogger, delivery: { ...toLoopback, worker: false } })
  t.teardown(close)
  const { id } = await webhooks.create('acme', { ...webhookInput, target_url: receiver.url, status: 'inactive' })
  const { id: eventId } = await emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await webhooks.update('acme', id, { status: 'active' })
  const { id: testId, duration_ms: durationMs, ...tested } = await webhooks.sendTest('acme', id, { event_type: 'job.closed' })
  t.strictSame(tested, { event_type: 'job.closed', status: 'delivered', response_status: 204, error: null })
  t.match([testId, durationMs], [/^evt_/, Number])
  t.match(await webhooks.sendTest('acme', id), { event_type: 'application.created' })
  t.match(await webhooks.replay('acme', id, { dry_run: true }), { webhook_id: id, include: 'undelivered', queued: 1, truncated: false })
  const { since, until, ...replayed } = await webhooks.replay('acme', id)
  t.strictSame(replayed, { webhook_id: id, include: 'undelivered', queued: 1, truncated: false })
  t.strictSame(await webhooks.replay('acme', id, { include: 'all', event_ids: ['evt_none'] }),
    { webhook_id: id, include: 'all', since: null, until: null, queued: 0, truncated: false })
  t.match(await webhooks.retryDelivery('acme', id, 1), { id: 2, event_id: eventId, status: 'pending' }, 'the replay is pending already')
  t.equal(receiver.requests.length, 2, 'only the tests were sent')
})

t.test('results have only the fields of the API, and changing them changes nothing', async (t) => {
  const storage = memoryStorage()
  const { find } = storage.webhooks
  storage.webhooks.find = async (tenantSlug, id) => {
    const webhook = await find(tenantSlug, id)
    return webhook && Object.assign(webhook, { secret: 'whsec_AAAA' })
  }
  const { app: { recruiting: { webhooks } } } = await buildWebhookApi(t, { storage })
  const { id } = await webhooks.create('acme', webhookInput)
  const found = await webhooks.find('acme', id)
  t.strictSame(Object.keys(found ?? {}), ['id', 'name', 'status', 'target_url', 'event_types', 'headers', 'filters', 'created_at', 'updated_at', 'health', 'previous_secret_expires_at'])
  found?.event_types.push('job.closed')
  t.strictSame((await webhooks.find('acme', id))?.event_types, webhookInput.event_types)
})

/** Calls a function as plain JavaScript can, and returns why it was refused. */
async function refused (webhooks: RecruitingWebhooks, name: keyof RecruitingWebhooks, ...args: unknown[]): Promise<unknown[]> {
  try {
    return ['was not refused', await Reflect.apply(webhooks[name], webhooks, args)]
  } catch (error) {
    return isRecruitingApiError(error) ? [error.code, error.field, error.message] : [error]
  }
}

const bad = [
  ['list', 'GET', '/webhooks?page=0', { page: 0 }],
  ['list', 'GET', '/webhooks?sort=name,-name', { sort: 'name,-name' }],
  ['list', 'GET', '/webhooks?sort=secret', { sort: 'secret' }],
  ['list', 'GET', '/webhooks?limit=1', { limit: '1' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, name: '\ud800' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, name: JSON.parse('['.repeat(100) + ']'.repeat(100)) }],
  ['create', 'POST', '/webhooks', { ...webhookInput, target_url: 'https://localhost/' }],
  ['create', 'POST', '/webhooks', [webhookInput]],
  ['update', 'PATCH', '/webhooks/1', { name: null }],
  ['rotateSecret', 'POST', '/webhooks/1/rotate_secret', { grace_period_seconds: 604801 }],
  ['sendTest', 'POST', '/webhooks/1/dispatch_test', { event_type: 'job.lost' }],
  ['replay', 'POST', '/webhooks/1/replay', { since: '2026-02-30T00:00:00Z' }],
  ['replay', 'POST', '/webhooks/1/replay', { event_ids: ['evt_1'], until: '2026-01-01T00:00:00Z' }],
  ['listDeliveries', 'GET', '/webhooks/1/deliveries?filter[event_id]=', { 'filter[event_id]': '' }]
] as const

t.test('bad input by code is rejected with the field and message of the API', async (t) => {
  const { app: { recruiting: { webhooks } }, call, create } = await buildWebhookApi(t)
  await create()
  for (const [name, method, path, input] of bad) {
    const ids = path.startsWith('/webhooks/1') ? [1] : []
    const answer = await call(method, path, method === 'GET' ? undefined : input)
    const [code, field, message] = await refused(webhooks, name, 'acme', ...ids, input)
    t.equal(code, 'invalid_input', `${name} ${JSON.stringify(input)}`)
    const problem = String(message).replace(`${field === '' ? 'input' : String(field)}: `, '')
    const place = method === 'GET' ? { in: 'query' as const } : {}
    t.strictSame(answer.body, refusal(answer, { field: String(field), message: problem, ...place }), String(message))
  }
  t.equal((await webhooks.list('acme')).meta.total, 1)
})

t.test('the arguments themselves are checked', async (t) => {
  const { app: { recruiting: { webhooks } }, create } = await buildWebhookApi(t)
  await create()
  for (const tenantSlug of ['', 'a\n', 'x'.repeat(101), 5, null, undefined]) {
    t.match(await refused(webhooks, 'list', tenantSlug), ['invalid_input', 'tenantSlug', /^tenantSlug: expected a tenant slug of 1 to 100 characters without control characters, got /])
  }
  for (const id of ['1', 1.5, Number.NaN, null, undefined, 1n]) {
    t.match(await refused(webhooks, 'find', 'acme', id), ['invalid_input', 'id', 'id: must be integer'])
    t.match(await refused(webhooks, 'retryDelivery', 'acme', 1, id), ['invalid_input', 'deliveryId', 'deliveryId: must be integer'])
  }
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  for (const input of [cyclic, 1n, () => {}, Symbol('input'), { toJSON () { throw new Error('secret') } }]) {
    t.match(await refused(webhooks, 'create', 'acme', input), ['invalid_input', '', 'input: is not JSON'])
  }
  for (const input of [null, 'text', 5]) {
    t.match(await refused(webhooks, 'update', 'acme', 1, input), ['invalid_input', '', 'input: must be object'])
  }
})

t.test('changing what is not there, or another tenant has, is not_found, and finding it gives null', async (t) => {
  const { app: { recruiting: { webhooks } }, emit, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  for (const [tenantSlug, id] of [['globex', webhook.id], ['acme', 99], ['acme', 0], ['acme', -1], ['acme', 2 ** 53], ['acme', 1e300]] as const) {
    t.equal(await webhooks.find(tenantSlug, id), null)
    t.equal(await webhooks.findDelivery(tenantSlug, id, 1), null)
    t.equal(await webhooks.findDelivery('acme', webhook.id, id === webhook.id ? 7 : id), null)
    const calls: Array<[keyof RecruitingWebhooks, ...unknown[]]> = [
      ['update', { name: 'x' }], ['delete'], ['rotateSecret'], ['sendTest'], ['replay'], ['listDeliveries'], ['retryDelivery', 1]
    ]
    for (const [name, ...input] of calls) {
      const message = name === 'retryDelivery'
        ? `deliveryId: webhook ${id} of the tenant has no delivery 1`
        : `id: the tenant has no webhook ${id}`
      t.strictSame(await refused(webhooks, name, tenantSlug, id, ...input),
        ['not_found', name === 'retryDelivery' ? 'deliveryId' : 'id', message], `${name} ${tenantSlug} ${id}`)
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

t.test('the vendor sees failing and disabled webhooks of all tenants, the longest failing first', async (t) => {
  const { app: { recruiting: { webhooks, emit, drain } }, clock, create, receiver, webhook, emit: emitToAcme } = await startDelivering(t)
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
  t.strictSame(first, { tenantId: 'acme', tenantSlug: 'acme', webhook: shown, health, lastError: 'http_status', lastResponseStatus: 500, pending: 1 })
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

t.test('the number of failing webhooks to list is checked', async (t) => {
  const { app } = await buildWebhookApi(t)
  const { webhooks } = app.recruiting
  for (const limit of [0, 1001, 1.5]) await t.rejects(webhooks.failing({ limit }), { code: 'invalid_input', field: 'limit' })
  await t.rejects(webhooks.failing({ max: 5 } as object), { code: 'invalid_input', field: 'max', message: 'max: is not known' })
  await app.close()
  await t.rejects(webhooks.failing(), { code: 'closed' })
})
