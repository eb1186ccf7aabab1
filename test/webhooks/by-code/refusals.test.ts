import t from 'tap'
import { type RecruitingWebhooks, isRecruitingApiError } from '../../../src/index.js'
import { buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'

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
  ['list', 'GET', '/webhooks?per_page=201', { per_page: 201 }],
  ['list', 'GET', '/webhooks?sort=name,-name', { sort: 'name,-name' }],
  ['list', 'GET', '/webhooks?sort=secret', { sort: 'secret' }],
  ['list', 'GET', '/webhooks?filter[status]=lost', { 'filter[status]': 'lost' }],
  ['list', 'GET', '/webhooks?limit=1', { limit: '1' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, name: undefined }],
  ['create', 'POST', '/webhooks', { ...webhookInput, secret: 'whsec_AAAA' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, name: '\u0007' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, name: 'a\0' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, name: '\ud800' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, event_types: ['job.closed', 'job.\0'] }],
  ['create', 'POST', '/webhooks', { ...webhookInput, name: JSON.parse('['.repeat(100) + ']'.repeat(100)) }],
  ['create', 'POST', '/webhooks', { ...webhookInput, target_url: 'https://localhost/' }],
  ['create', 'POST', '/webhooks', { ...webhookInput, event_types: ['job.closed', 'job.lost'] }],
  ['create', 'POST', '/webhooks', { ...webhookInput, status: 'disabled' }],
  ['create', 'POST', '/webhooks', [webhookInput]],
  ['update', 'PATCH', '/webhooks/1', {}],
  ['update', 'PATCH', '/webhooks/1', { name: null }],
  ['rotateSecret', 'POST', '/webhooks/1/rotate_secret', { grace_period_seconds: 604801 }],
  ['rotateSecret', 'POST', '/webhooks/1/rotate_secret', { grace_period_seconds: '60' }],
  ['sendTest', 'POST', '/webhooks/1/dispatch_test', { event_type: 'job.lost' }],
  ['replay', 'POST', '/webhooks/1/replay', { include: 'some' }],
  ['replay', 'POST', '/webhooks/1/replay', { since: '2026-02-30T00:00:00Z' }],
  ['replay', 'POST', '/webhooks/1/replay', { since: '0000-01-01T00:00:00Z' }],
  ['replay', 'POST', '/webhooks/1/replay', { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }],
  ['replay', 'POST', '/webhooks/1/replay', { event_ids: ['evt_1'], until: '2026-01-01T00:00:00Z' }],
  ['listDeliveries', 'GET', '/webhooks/1/deliveries?sort=-id,id', { sort: '-id,id' }],
  ['listDeliveries', 'GET', '/webhooks/1/deliveries?filter[event_id]=', { 'filter[event_id]': '' }]
] as const

t.test('bad input is refused for the reason that the API gives', async (t) => {
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
    t.match(await refused(webhooks, 'list', tenantSlug), ['invalid_input', 'tenantSlug', 'tenantSlug: must be a tenant slug of 1 to 100 characters without control characters'])
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

t.test('text that no storage can keep is refused with its field', async (t) => {
  const { app: { recruiting: { webhooks } } } = await buildWebhookApi(t)
  const problem = 'holds a NUL or half of a surrogate pair'
  t.same(await refused(webhooks, 'create', 'acme', { ...webhookInput, name: 'a\0b' }), ['invalid_input', 'name', `name: ${problem}`])
  t.same(await refused(webhooks, 'create', 'acme', { ...webhookInput, event_types: ['job.closed', '\ud800'] }),
    ['invalid_input', 'event_types[1]', `event_types[1]: ${problem}`])
  t.same(await refused(webhooks, 'update', 'acme', 1, { 'a\0': 1 }), ['invalid_input', '', `input: ${problem}`])
  t.same(await refused(webhooks, 'list', 'acme', { sort: 'na\0me' }), ['invalid_input', 'sort', `sort: ${problem}`])
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

t.test('a webhook that is not active refuses replays and retries', async (t) => {
  const { app: { recruiting: { webhooks } }, emit, webhook } = await startDelivering(t, { delivery: { worker: false } })
  await emit()
  await webhooks.update('acme', webhook.id, { status: 'inactive' })
  t.strictSame(await refused(webhooks, 'replay', 'acme', webhook.id), ['invalid_input', '', 'input: the webhook is not active'])
  t.strictSame(await refused(webhooks, 'retryDelivery', 'acme', webhook.id, 1), ['invalid_input', '', 'input: the webhook is not active'])
})

t.test('the limit of webhooks holds by code', async (t) => {
  const { app: { recruiting: { webhooks } }, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  await create()
  t.strictSame(await refused(webhooks, 'create', 'acme', webhookInput),
    ['invalid_input', '', 'input: the tenant already has the maximum of 1 webhooks'])
})

t.test('errors of the storage reach the caller as they are, and a closed engine refuses', async (t) => {
  const { app, storage } = await buildWebhookApi(t)
  const { webhooks } = app.recruiting
  storage.webhooks.find = async () => { throw new Error('the database is gone') }
  await t.rejects(webhooks.find('acme', 1), { message: 'the database is gone' })
  await app.close()
  await t.rejects(webhooks.list('acme'), { code: 'closed' })
})
