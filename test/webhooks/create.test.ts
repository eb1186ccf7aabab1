import { Type } from '@sinclair/typebox'
import t from 'tap'
import { type CreateWebhookInput, defaultEvents, HttpError, type LimitedTenant } from '../../src/index.js'
import { buildWebhookApi, type Created, rejection, webhookInput } from '../fixtures/api/webhook-api.js'

t.test('create returns 201 with the six fields of a webhook, including its secret', async (t) => {
  const { call } = await buildWebhookApi(t)
  const { status, headers, body } = await call<{ data: Created }>('POST', '/webhooks', webhookInput)
  t.equal(status, 201)
  t.strictSame(body, { data: { id: body.data.id, ...webhookInput, status: 'active', secret: body.data.secret } })
  t.same(Object.keys(body.data), ['id', 'name', 'status', 'target_url', 'event_types', 'secret'])
  t.ok(Number.isSafeInteger(body.data.id) && body.data.id > 0)
  t.equal(headers.location, `/api/v1/public/acme/webhooks/${body.data.id}`)
})

const { call, create } = await buildWebhookApi(t)

t.test('a name is stored trimmed', async (t) => {
  t.equal((await create({ name: ' \t\n\u00a0CRM  sync\u3000 ' })).name, 'CRM  sync')
})

t.test('a name can have 255 characters, counted as code points', async (t) => {
  for (const name of ['n', 'n'.repeat(255), '🦊'.repeat(255), ` ${'n'.repeat(255)} `]) {
    t.equal((await create({ name })).name, name.trim())
  }
})

const longest = `https://example.com/${'p'.repeat(2048 - 'https://example.com/'.length)}`

t.test('an address is stored as its href', async (t) => {
  for (const [given, href] of [
    ['HTTPS://EXAMPLE.COM:443/a/../Hooks', 'https://example.com/Hooks'],
    ['https://example.com:8443', 'https://example.com:8443/'],
    ['https://bücher.example.com/ü?q=é', 'https://xn--bcher-kva.example.com/%C3%BC?q=%C3%A9'],
    ['https://my_hooks.example.com./', 'https://my_hooks.example.com./'],
    ['https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
    [longest, longest]
  ] as const) {
    const { id, target_url: target } = await create({ target_url: given })
    t.equal(target, href)
    const { body } = await call<{ data: { target_url: string } }>('GET', `/webhooks/${id}`)
    t.equal(body.data.target_url, href)
  }
})

const length = 'must be 1 to 255 characters'
const control = 'must not contain control characters'
const https = 'must be an https URL'
const inCatalogue = 'must be an event type of the catalogue'
const status = 'must be one of active, inactive'
const unknown = 'is not known'

const rejected: Array<[fields: Record<string, unknown>, field: string, message: string]> = [
  [{ name: '' }, 'name', 'must NOT have fewer than 1 characters'],
  [{ name: ' \t ' }, 'name', length],
  [{ name: '🦊'.repeat(256) }, 'name', length],
  [{ name: 'CRM\nsync' }, 'name', control],
  [{ name: 'CRM\u0085' }, 'name', control],
  [{ name: 'CRM\0' }, 'name', 'contains a NUL or half of a surrogate pair'],
  [{ name: 17 }, 'name', 'must be string'],
  [{ name: undefined }, 'name', 'is required'],
  [{ target_url: 'http://example.com/' }, 'target_url', https],
  [{ target_url: `${longest}p` }, 'target_url', 'must NOT have more than 2048 characters'],
  [{ target_url: `https://example.com/${'é'.repeat(400)}` }, 'target_url', 'must be at most 2048 characters'],
  [{ target_url: 'https://localhost/' }, 'target_url', 'must point to a public host'],
  [{ event_types: [] }, 'event_types', 'must NOT have fewer than 1 items'],
  [{ event_types: ['application.created', 'application.lost'] }, 'event_types[1]', inCatalogue],
  [{ event_types: ['__proto__'] }, 'event_types[0]', inCatalogue],
  [{ event_types: [null] }, 'event_types[0]', 'must be string'],
  [
    { event_types: ['job.created', 'job.created'] }, 'event_types',
    'must NOT have duplicate items (items ## 1 and 0 are identical)'
  ],
  [{ status: 'disabled' }, 'status', status],
  [{ secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }, 'secret', unknown]
]

t.test('a bad field gets a 400 that names it, and nothing is stored', async (t) => {
  const { call } = await buildWebhookApi(t)
  for (const [fields, field, message] of rejected) {
    const answer = await call('POST', '/webhooks', { ...webhookInput, ...fields })
    t.equal(answer.status, 400, JSON.stringify(fields))
    t.strictSame(answer.body, rejection(answer, { field, message }), JSON.stringify(fields))
    t.equal(answer.headers.location, undefined)
  }
  const missing = { message: 'is required' }
  for (const [body, ...faults] of [
    [[webhookInput], { field: '', message: 'must be object' }],
    [null, { field: '', message: 'must be object' }],
    [undefined, ...['name', 'target_url', 'event_types'].map((field) => ({ field, ...missing }))],
    [
      { name: '', event_types: [] }, { field: 'target_url', ...missing },
      { field: 'name', message: 'must NOT have fewer than 1 characters' },
      { field: 'event_types', message: 'must NOT have fewer than 1 items' }
    ]
  ] as Array<[body: unknown, ...faults: Array<{ field: string, message: string }>]>) {
    const answer = await call('POST', '/webhooks', body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.strictSame(answer.body, rejection(answer, ...faults), JSON.stringify(body))
  }
  t.match((await call('GET', '/webhooks')).body, { data: [], meta: { total: 0 } })
})

t.test('allowNetworks does not allow http', async (t) => {
  const { call, create } = await buildWebhookApi(t, { delivery: { allowNetworks: ['10.0.0.0/8'] } })
  t.equal((await create({ target_url: 'https://10.1.2.3/' })).target_url, 'https://10.1.2.3/')
  const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: 'http://10.1.2.3/' })
  t.strictSame(answer.body, rejection(answer, { field: 'target_url', message: 'must be an https URL' }))
})

t.test('the default catalogue is that of the contract', async (t) => {
  const catalogue = [
    ...['created', 'updated', 'stage_changed', 'rejected', 'hired', 'withdrawn', 'deleted'].map((name) => `application.${name}`),
    ...['created', 'updated', 'deleted', 'anonymized', 'merged'].map((name) => `candidate.${name}`),
    ...['created', 'updated', 'published', 'closed', 'archived', 'deleted'].map((name) => `job.${name}`)
  ]
  t.same(Object.keys(defaultEvents), catalogue)
  t.strictSame((await create({ event_types: catalogue })).event_types, catalogue)
})

t.test('the host\'s catalogue replaces the default', async (t) => {
  const { call, create } = await buildWebhookApi(t, { events: { 'offer.sent': Type.Object({ id: Type.Integer() }) } })
  t.strictSame((await create({ event_types: ['offer.sent'] })).event_types, ['offer.sent'])
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, rejection(answer, { field: 'event_types[0]', message: 'must be an event type of the catalogue' }))
})

const tooMany = (limit: number) => ({ field: '', message: `the tenant already has the maximum of ${limit} webhooks` })

t.test('a tenant can have 50 webhooks, including inactive ones', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  for (let count = 0; count < 50; count++) await create({ status: count % 2 === 0 ? 'active' : 'inactive' })
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, rejection(answer, tooMany(50)))
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 50)
})

t.test('a key can create as many webhooks as maxWebhooksPerCreator allows, code as many as the tenant can have', async (t) => {
  const { call, app } = await buildWebhookApi(t, { maxWebhooksPerCreator: 1, maxWebhooksPerTenant: 3 })
  t.equal((await call('POST', '/webhooks', webhookInput)).status, 201)
  const answer = await call('POST', '/webhooks', webhookInput)
  t.strictSame([answer.status, answer.body], [400, rejection(answer, { field: '', message: 'the key already has the maximum of 1 webhooks' })])
  for (let count = 0; count < 2; count++) await app.recruiting.webhooks.create('acme', webhookInput as CreateWebhookInput)
  const full = await call('POST', '/webhooks', webhookInput)
  t.strictSame(full.body, rejection(full, tooMany(3)))
})

t.test('a function returns each tenant\'s limit, which is cached for a minute', async (t) => {
  const tenants: LimitedTenant[] = []
  let max = 1
  const { call, callAsGlobex, clock, app } = await buildWebhookApi(t, {
    maxWebhooksPerTenant: async (tenant) => {
      tenants.push(tenant)
      return tenant.tenantSlug === 'acme' ? max : 2
    }
  })
  const statuses = async (create: typeof call): Promise<number> => (await create('POST', '/webhooks', webhookInput)).status
  t.strictSame([await statuses(call), await statuses(call)], [201, 400])
  for (const status of [201, 201, 400]) t.equal(await statuses(callAsGlobex), status)
  t.strictSame(tenants, [{ tenantSlug: 'acme', tenantId: 'acme' }, { tenantSlug: 'globex', tenantId: 'globex' }])
  max = 2
  const answer = await call('POST', '/webhooks', webhookInput)
  t.strictSame(answer.body, rejection(answer, tooMany(1)))
  await clock.advance(60_000)
  t.strictSame([await statuses(call), await statuses(call)], [201, 400])
  max = 1
  await clock.advance(60_000)
  t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 2, 'a lower limit deletes no webhook')
})

t.test('if the function fails, clients get a 500, code gets its error, and nothing is created', async (t) => {
  for (const [maxWebhooksPerTenant, message] of [
    [() => { throw new Error('no plan') }, 'maxWebhooksPerTenant: the function failed'],
    [async () => { throw new HttpError('not_found') }, 'maxWebhooksPerTenant: the function failed'],
    [() => 0, 'maxWebhooksPerTenant: expected a function that returns an integer from 1 to 10000, got 0']
  ] as Array<[() => number, string]>) {
    const { call, app, storage } = await buildWebhookApi(t, { maxWebhooksPerTenant })
    const before = await storage.webhooks.nextId('acme')
    t.equal((await call('POST', '/webhooks', webhookInput)).status, 500)
    t.equal((await call('POST', '/webhooks', { ...webhookInput, event_types: ['unknown.type'] })).status, 400, 'input is checked first')
    await t.rejects(app.recruiting.webhooks.create('acme', webhookInput as CreateWebhookInput), { message })
    t.equal(await storage.webhooks.nextId('acme'), before + 1, 'no id was taken')
    t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 0)
  }
})
