import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { type CreateWebhookInput, defaultEvents, HttpError, type LimitedTenant } from '../../src/index.js'
import {
  buildWebhookApi, type Created, onlyById, refusal, type Reply, timeOf, toLoopback, type WebhookApi, webhookInput
} from '../fixtures/api/webhook-api.js'

t.test('a create answers 201 with the six fields of a webhook, its secret among them', async (t) => {
  const { call } = await buildWebhookApi(t)
  const { status, headers, body } = await call<{ data: Created }>('POST', '/webhooks', webhookInput)
  t.equal(status, 201)
  t.strictSame(body, { data: { id: body.data.id, ...webhookInput, status: 'active', secret: body.data.secret } })
  t.same(Object.keys(body.data), ['id', 'name', 'status', 'target_url', 'event_types', 'secret'])
  t.ok(Number.isSafeInteger(body.data.id) && body.data.id > 0)
  t.equal(headers.location, `/api/v1/public/acme/webhooks/${body.data.id}`)
})

t.test('Location leads to the webhook', async (t) => {
  const { app, call, clock } = await buildWebhookApi(t)
  const { headers, body: { data } } = await call<{ data: Created }>('POST', '/webhooks', webhookInput)
  const answer = await app.inject({ url: String(headers.location), headers: { authorization: 'Bearer acme-full-key' } })
  t.strictSame(answer.json(), {
    data: { id: data.id, ...webhookInput, status: 'active', headers: null, filters: null, created_at: timeOf(clock), updated_at: timeOf(clock), ...onlyById }
  })
})

t.test('Location has the prefix that the host has chosen', async (t) => {
  const { app } = await buildWebhookApi(t, { prefix: '/ats' })
  const { statusCode, headers } = await app.inject({
    method: 'POST', url: '/ats/acme/webhooks', headers: { authorization: 'Bearer acme-full-key' }, payload: webhookInput
  })
  t.equal(statusCode, 201)
  t.equal(headers.location, '/ats/acme/webhooks/1')
})

t.test('a webhook is created inactive if the client says so', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id, status } = await create({ status: 'inactive' })
  t.equal(status, 'inactive')
  const { body } = await call<{ data: { status: string } }>('GET', `/webhooks/${id}`)
  t.equal(body.data.status, 'inactive')
})

t.test('a secret is whsec_ and base64 of 32 bytes, another one for every webhook', async (t) => {
  const { create } = await buildWebhookApi(t)
  const secrets = [await create(), await create(), await create()].map(({ secret }) => secret)
  for (const secret of secrets) {
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    t.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32)
  }
  t.equal(new Set(secrets).size, 3)
})

t.test('ids are never given twice, not even after a delete and not to another tenant', async (t) => {
  const { call, callAsGlobex, create } = await buildWebhookApi(t)
  const first = await create()
  await call('DELETE', `/webhooks/${first.id}`)
  const second = await create()
  const { body: { data: third } } = await callAsGlobex<{ data: Created }>('POST', '/webhooks', webhookInput)
  t.equal(new Set([first.id, second.id, third.id]).size, 3)
})

t.test('two webhooks may be the same in everything but id and secret', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const [one, two] = [await create(), await create()]
  t.strictSame({ ...one, id: 0, secret: '' }, { ...two, id: 0, secret: '' })
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 2)
})

const { call, create } = await buildWebhookApi(t)

t.test('a name is stored trimmed', async (t) => {
  const { id, name } = await create({ name: ' \t\n\u00a0CRM  sync\u3000 ' })
  t.equal(name, 'CRM  sync')
  const { body } = await call<{ data: { name: string } }>('GET', `/webhooks/${id}`)
  t.equal(body.data.name, 'CRM  sync')
})

t.test('a name may have 255 characters, however many units of UTF-16 these are', async (t) => {
  for (const name of ['n', 'n'.repeat(255), 'é'.repeat(255), '🦊'.repeat(255), ` ${'n'.repeat(255)} `]) {
    t.equal((await create({ name })).name, name.trim())
  }
})

const length = 'must be 1 to 255 characters'
const control = 'must not contain control characters'
const refused: Array<[title: string, name: unknown, message: string]> = [
  ['an empty name', '', 'must NOT have fewer than 1 characters'],
  ['a blank name', ' \t ', length],
  ['a name of 256 characters', 'n'.repeat(256), length],
  ['a name of 256 characters beyond U+FFFF', '🦊'.repeat(256), length],
  ['a name with a line break', 'CRM\nsync', control],
  ['a name with an escape', 'CRM\u001b[31m', control],
  ['a name with a delete character', 'CRM\u007f', control],
  ['a name with a C1 control character at its end', 'CRM\u0085', control],
  ['a name that is null', null, 'must be string'],
  ['a name that is a number', 17, 'must be string'],
  ['a name that is an array', ['CRM'], 'must be string'],
  ['a name that is missing', undefined, 'is required']
]

for (const [title, name, message] of refused) {
  t.test(`${title} is refused`, async (t) => {
    const answer = await call('POST', '/webhooks', { ...webhookInput, name })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field: 'name', message }))
    t.equal(answer.headers.location, undefined)
  })
}

t.test('a name with a NUL is refused', async (t) => {
  const answer = await call('POST', '/webhooks', { ...webhookInput, name: 'CRM\0' })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'name', message: 'holds a NUL or half of a surrogate pair' }))
})

const longest = `https://example.com/${'p'.repeat(2048 - 'https://example.com/'.length)}`

const stored: Array<[title: string, given: string, href: string]> = [
  ['an address', 'https://example.com/hooks?tenant=acme', 'https://example.com/hooks?tenant=acme'],
  ['an address without a path', 'https://example.com', 'https://example.com/'],
  ['an address in capitals', 'HTTPS://EXAMPLE.COM/Hooks', 'https://example.com/Hooks'],
  ['an address with the default port', 'https://example.com:443/', 'https://example.com/'],
  ['an address with a port', 'https://example.com:8443/', 'https://example.com:8443/'],
  ['an address with dots in its path', 'https://example.com/a/../b/./c', 'https://example.com/b/c'],
  ['an address with letters beyond ASCII', 'https://bücher.example.com/ü?q=é', 'https://xn--bcher-kva.example.com/%C3%BC?q=%C3%A9'],
  ['an address with an underscore in its host', 'https://my_hooks.example.com/', 'https://my_hooks.example.com/'],
  ['an address with a full stop after its host', 'https://example.com./', 'https://example.com./'],
  ['a public IPv4 address', 'https://8.8.8.8/', 'https://8.8.8.8/'],
  ['a public IPv6 address', 'https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
  ['an address of 2048 characters', longest, longest]
]

for (const [title, given, href] of stored) {
  t.test(`${title} is stored as its href`, async (t) => {
    const { id, target_url: target } = await create({ target_url: given })
    t.equal(target, href)
    const { body } = await call<{ data: { target_url: string } }>('GET', `/webhooks/${id}`)
    t.equal(body.data.target_url, href)
  })
}

const refusedTargetUrl: Array<[title: string, target: unknown, message: string]> = [
  ['an http address', 'http://example.com/', 'must be an https URL'],
  ['an ftp address', 'ftp://example.com/', 'must be an https URL'],
  ['a file address', 'file:///etc/passwd', 'must be an https URL'],
  ['a script', 'javascript:alert(1)', 'must be an https URL'],
  ['a path', '/hooks', 'must be an absolute URL'],
  ['an address without a scheme', '//example.com/hooks', 'must be an absolute URL'],
  ['an address without a host', 'https://', 'must be an absolute URL'],
  ['an empty address', '', 'must be an absolute URL'],
  ['an address with a user name', 'https://ada@example.com/', 'must not contain a user name or password'],
  ['an address with a password', 'https://:secret@example.com/', 'must not contain a user name or password'],
  ['an address with a fragment', 'https://example.com/#top', 'must not contain a fragment'],
  ['an address with an empty fragment', 'https://example.com/#', 'must not contain a fragment'],
  ['an address with port 0', 'https://example.com:0/', 'must not use port 0'],
  ['an address with port 65536', 'https://example.com:65536/', 'must be an absolute URL'],
  ['an address of 2049 characters', `${longest}p`, 'must NOT have more than 2048 characters'],
  ['an address whose href is longer than 2048', `https://example.com/${'é'.repeat(400)}`, 'must be at most 2048 characters'],
  ['an address after a space', ' https://example.com/', 'must not contain white space or control characters'],
  ['an address with a space within', 'https://example.com/a b', 'must not contain white space or control characters'],
  ['an address with a line break', 'https://example.com/a\nb', 'must not contain white space or control characters'],
  ['an address with a tab in its host', 'https://exam\tple.com/', 'must not contain white space or control characters'],
  ['an address with a control character', 'https://example.com/\u0001', 'must not contain white space or control characters'],
  ['an address that is null', null, 'must be string'],
  ['an address that is an object', { href: 'https://example.com/' }, 'must be string'],
  ['an address that is missing', undefined, 'is required']
]

for (const [title, target, message] of refusedTargetUrl) {
  t.test(`${title} is refused`, async (t) => {
    const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: target })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field: 'target_url', message }))
  })
}

/** Hosts that no webhook may have, each in an address that is right otherwise. */
const refusedTargetHost: Record<string, string[]> = {
  'a name of a single label': ['intranet', 'intranet.', 'INTRANET', 'com'],
  localhost: ['localhost', 'localhost.', 'LocalHost', 'api.localhost', 'api.localhost.'],
  'a name under .local': ['printer.local', 'printer.LOCAL', 'a.b.local.'],
  'a name under .internal': ['metadata.google.internal', 'db.internal.'],
  'an IPv4 address that is not public': [
    '127.0.0.1', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '0.0.0.0', '100.64.0.1',
    '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '168.63.129.16'
  ],
  'an IPv4 address in disguise': [
    '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '127.1', '127.0.0.1.', '１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', '10.1'
  ],
  'an IPv6 address that is not public': [
    '[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[fc00::1]', '[ff02::1]', '[2001:db8::1]', '[2002:7f00:1::]', '[64:ff9b::7f00:1]',
    '[::ffff:127.0.0.1]', '[::ffff:a00:1]', '[::127.0.0.1]', '[fd00:ec2::254]'
  ],
  'what is no proper name': [
    'a..example.com', '.example.com', 'example.com..', '-a.example.com', 'a-.example.com', '*.example.com', 'a!b.example.com',
    `${'l'.repeat(64)}.example.com`, `${'l.'.repeat(124)}example.com`
  ]
}

for (const [title, hosts] of Object.entries(refusedTargetHost)) {
  t.test(`${title} is refused as the host of a webhook`, async (t) => {
    const { call } = await buildWebhookApi(t)
    for (const host of hosts) {
      const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: `https://${host}/hooks` })
      t.equal(answer.status, 400, host)
      t.strictSame(answer.body, refusal(answer, { field: 'target_url', message: 'must point to a public host' }), host)
    }
  })
}

t.test('names that only look private are public', async (t) => {
  const { create } = await buildWebhookApi(t)
  for (const host of ['localhost.example.com', 'local.example.com', 'mylocalhost.com', 'notinternal.com', '10.0.0.1.example.com']) {
    const { target_url: target } = await create({ target_url: `https://${host}/` })
    t.equal(target, `https://${host}/`)
  }
})

t.test('http and the networks that the host has opened are accepted, and no others', async (t) => {
  const { call, create } = await buildWebhookApi(t, { delivery: toLoopback })
  for (const target of ['http://127.0.0.1:3000/', 'https://127.0.0.1/', 'http://localhost/', 'https://example.com/']) {
    t.equal((await create({ target_url: target })).target_url, target)
  }
  for (const target of ['http://127.0.0.2/', 'http://10.0.0.1/', 'http://169.254.169.254/', 'http://[::1]/']) {
    t.equal((await call('POST', '/webhooks', { ...webhookInput, target_url: target })).status, 400, target)
  }
})

t.test('a network of the host does not make http acceptable', async (t) => {
  const { call, create } = await buildWebhookApi(t, { delivery: { allowNetworks: ['10.0.0.0/8'] } })
  t.equal((await create({ target_url: 'https://10.1.2.3/' })).target_url, 'https://10.1.2.3/')
  const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: 'http://10.1.2.3/' })
  t.strictSame(answer.body, refusal(answer, { field: 'target_url', message: 'must be an https URL' }))
})

t.test('event types are kept in the order given', async (t) => {
  const eventTypes = ['job.published', 'application.created', 'candidate.merged']
  const { id, event_types: created } = await create({ event_types: eventTypes })
  t.strictSame(created, eventTypes)
  const { body } = await call<{ data: { event_types: string[] } }>('GET', `/webhooks/${id}`)
  t.strictSame(body.data.event_types, eventTypes)
})

t.test('the catalogue is the one of the contract unless the host has its own', async (t) => {
  const catalogue = [
    ...['created', 'updated', 'stage_changed', 'rejected', 'hired', 'withdrawn', 'deleted'].map((name) => `application.${name}`),
    ...['created', 'updated', 'deleted', 'anonymized', 'merged'].map((name) => `candidate.${name}`),
    ...['created', 'updated', 'published', 'closed', 'archived', 'deleted'].map((name) => `job.${name}`)
  ]
  t.same(Object.keys(defaultEvents), catalogue)
  t.strictSame((await create({ event_types: catalogue })).event_types, catalogue)
})

t.test('a catalogue of the host replaces the default', async (t) => {
  const { call, create } = await buildWebhookApi(t, { events: { 'offer.sent': Type.Object({ id: Type.Integer() }) } })
  t.strictSame((await create({ event_types: ['offer.sent'] })).event_types, ['offer.sent'])
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'event_types[0]', message: 'must be an event type of the catalogue' }))
})

t.test('a webhook subscribes to 100 event types at most', async (t) => {
  const names = Array.from({ length: 101 }, (_, index) => `custom.event_${index}`)
  const events = Object.fromEntries(names.map((name) => [name, Type.Object({})]))
  const { call, create } = await buildWebhookApi(t, { events })
  t.strictSame((await create({ event_types: names.slice(0, 100) })).event_types, names.slice(0, 100))
  const answer = await call('POST', '/webhooks', { ...webhookInput, event_types: names })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'event_types', message: 'must NOT have more than 100 items' }))
})

const catalogue = 'must be an event type of the catalogue'
const refusedEventTypes: Array<[title: string, eventTypes: unknown, field: string, message: string]> = [
  ['no event type', [], 'event_types', 'must NOT have fewer than 1 items'],
  ['an event type outside the catalogue', ['application.created', 'application.lost'], 'event_types[1]', catalogue],
  ['an event type in capitals', ['Application.created'], 'event_types[0]', catalogue],
  ['an event type with a space', [' application.created'], 'event_types[0]', catalogue],
  ['a wildcard', ['application.*'], 'event_types[0]', catalogue],
  ['an empty event type', [''], 'event_types[0]', catalogue],
  ['a name that every object inherits', ['toString'], 'event_types[0]', catalogue],
  ['the name of a prototype', ['__proto__'], 'event_types[0]', catalogue],
  ['an event type that is null', [null], 'event_types[0]', 'must be string'],
  ['an event type that is a number', ['application.created', 1], 'event_types[1]', 'must be string'],
  ['event types that are a string', 'application.created', 'event_types', 'must be array'],
  ['event types that are null', null, 'event_types', 'must be array'],
  ['event types that are missing', undefined, 'event_types', 'is required'],
  ['the same event type twice', ['job.created', 'job.created'], 'event_types', 'must NOT have duplicate items (items ## 1 and 0 are identical)']
]

for (const [title, eventTypes, field, message] of refusedEventTypes) {
  t.test(`${title} is refused`, async (t) => {
    const answer = await call('POST', '/webhooks', { ...webhookInput, event_types: eventTypes })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field, message }))
  })
}

const tooMany = (limit: number) => ({ field: '', message: `the tenant already has the maximum of ${limit} webhooks` })

t.test('a tenant has 50 webhooks at most, inactive ones counted', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  for (let count = 0; count < 50; count++) await create({ status: count % 2 === 0 ? 'active' : 'inactive' })
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, tooMany(50)))
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 50)
})

t.test('of ten creates at once for the last place, exactly one succeeds', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  for (let count = 0; count < 49; count++) await create()
  const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/webhooks', webhookInput)))
  t.same(countByStatus(answers), { 201: 1, 400: 9 })
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 50)
})

t.test('the limit is the host\'s to set', async (t) => {
  const { call, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  await create()
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, tooMany(1)))
})

t.test('the webhooks of one tenant take no place from another\'s', async (t) => {
  const { callAsGlobex, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  await create()
  t.equal((await callAsGlobex('POST', '/webhooks', webhookInput)).status, 201)
})

t.test('a delete makes room', async (t) => {
  const { call, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  const { id } = await create()
  await call('DELETE', `/webhooks/${id}`)
  t.equal((await call('POST', '/webhooks', webhookInput)).status, 201)
})

function countByStatus (answers: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

t.test('a function gives the limit of each tenant, and counts for a minute', async (t) => {
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
  t.strictSame([await statuses(callAsGlobex), await statuses(callAsGlobex), await statuses(callAsGlobex)], [201, 201, 400])
  t.strictSame(tenants, [{ tenantSlug: 'acme', tenantId: 'acme' }, { tenantSlug: 'globex', tenantId: 'globex' }])
  max = 2
  const answer = await call('POST', '/webhooks', webhookInput)
  t.strictSame(answer.body, refusal(answer, tooMany(1)))
  await clock.advance(60_000)
  t.strictSame([await statuses(call), await statuses(call)], [201, 400])
  max = 1
  await clock.advance(60_000)
  t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 2, 'a lower limit deletes none')
})

t.test('a function that fails creates nothing: a 500 for clients, and its error by code', async (t) => {
  for (const [maxWebhooksPerTenant, message] of [
    [() => { throw new Error('no plan') }, 'maxWebhooksPerTenant: the function failed'],
    [async () => { throw new HttpError('not_found') }, 'maxWebhooksPerTenant: the function failed'],
    [() => 0, 'maxWebhooksPerTenant: expected a function that returns an integer from 1 to 10000, got 0'],
    [async () => 10_001, 'maxWebhooksPerTenant: expected a function that returns an integer from 1 to 10000, got 10001'],
    [() => '5' as never, 'maxWebhooksPerTenant: expected a function that returns an integer from 1 to 10000, got "5"']
  ] as Array<[() => number, string]>) {
    const { call, app, storage } = await buildWebhookApi(t, { maxWebhooksPerTenant })
    const before = await storage.webhooks.nextId('acme')
    t.equal((await call('POST', '/webhooks', webhookInput)).status, 500)
    t.equal((await call('POST', '/webhooks', { ...webhookInput, event_types: ['unknown.type'] })).status, 400, 'input is refused before')
    await t.rejects(app.recruiting.webhooks.create('acme', webhookInput as CreateWebhookInput), { message })
    t.equal(await storage.webhooks.nextId('acme'), before + 1, 'no id was taken')
    t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 0)
  }
})

t.test('a function that hangs is given up after 5 seconds', async (t) => {
  const { call, clock } = await buildWebhookApi(t, { maxWebhooksPerTenant: () => new Promise(() => {}) })
  const answering = call('POST', '/webhooks', webhookInput)
  while (clock.timerCount === 0) await new Promise(setImmediate)
  await clock.advance(5000)
  t.equal((await answering).status, 500)
})

const status = 'must be one of active, inactive'
const refusedBodies: Array<[title: string, fields: Record<string, unknown>, field: string, message: string]> = [
  ['the status disabled, which the service alone sets', { status: 'disabled' }, 'status', status],
  ['a status outside the set', { status: 'paused' }, 'status', status],
  ['a status in capitals', { status: 'Active' }, 'status', status],
  ['an empty status', { status: '' }, 'status', status],
  ['a secret of the client\'s own', { secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }, 'secret', 'is not known'],
  ['an id of the client\'s own', { id: 17 }, 'id', 'is not known'],
  ['a field that is not known', { colour: 'red' }, 'colour', 'is not known'],
  ['a field that only an answer has', { created_at: '2026-01-01T00:00:00.000Z' }, 'created_at', 'is not known']
]

for (const [title, fields, field, message] of refusedBodies) {
  t.test(`${title} is refused, and nothing is stored`, async (t) => {
    const api = await buildWebhookApi(t)
    const answer = await api.call('POST', '/webhooks', { ...webhookInput, ...fields })
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field, message }))
    await assertNothingStored(t, api)
  })
}

t.test('a status of null is refused, and nothing is stored', async (t) => {
  const api = await buildWebhookApi(t)
  const answer = await api.call('POST', '/webhooks', { ...webhookInput, status: null })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, { field: 'status', message: 'must be string' }, { field: 'status', message: status }))
  await assertNothingStored(t, api)
})

t.test('every field at fault is named', async (t) => {
  const api = await buildWebhookApi(t)
  const answer = await api.call('POST', '/webhooks', { name: '', event_types: [] })
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer,
    { field: 'target_url', message: 'is required' },
    { field: 'name', message: 'must NOT have fewer than 1 characters' },
    { field: 'event_types', message: 'must NOT have fewer than 1 items' }
  ))
  await assertNothingStored(t, api)
})

for (const body of [[], [webhookInput], 'text', 17, true, null]) {
  t.test(`a body that is ${JSON.stringify(body)} is refused, and nothing is stored`, async (t) => {
    const api = await buildWebhookApi(t)
    const answer = await api.call('POST', '/webhooks', body)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field: '', message: 'must be object' }))
    await assertNothingStored(t, api)
  })
}

t.test('a create without a body is refused', async (t) => {
  const api = await buildWebhookApi(t)
  const answer = await api.call('POST', '/webhooks')
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer,
    { field: 'name', message: 'is required' },
    { field: 'target_url', message: 'is required' },
    { field: 'event_types', message: 'is required' }
  ))
  await assertNothingStored(t, api)
})

async function assertNothingStored (t: Test, { call }: WebhookApi): Promise<void> {
  const { body } = await call('GET', '/webhooks')
  t.strictSame(body, { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
}
