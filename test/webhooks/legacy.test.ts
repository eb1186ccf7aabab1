import { createHmac } from 'node:crypto'
import t from 'tap'
import { type ImportWebhookInput, createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { type Teardown, buildApp } from '../fixtures/api/app.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

type Legacy = NonNullable<ImportWebhookInput['legacy']>

const bytes = Buffer.alloc(24, 7)
const secret = `whsec_${bytes.toString('base64')}`
const until = '2030-03-01T00:00:00Z'
const github: Legacy = { header: 'X-Hub-Signature-256', template: 'sha256={signature}', secret: "It's a Secret", until }
const input = { name: 'CRM', target_url: 'https://hooks.example.com/recruiting', event_types: ['application.created' as const] }

async function start (t: Teardown, fields: Partial<ImportWebhookInput> & { legacy: Legacy }) {
  const clock = createManualClock('2030-01-01T00:00:00.500Z')
  const receiver = await startReceiver(t)
  const storage = memoryStorage({ clock })
  const delivery = { ...toLoopback, worker: false, clock }
  const recruiting = createRecruiting({ storage, delivery, secretKeys: [Buffer.alloc(32, 1)] })
  t.teardown(() => recruiting.close())
  const target = { ...input, target_url: receiver.url }
  const webhook = await recruiting.webhooks.import('acme', { ...target, ...fields })
  async function send () {
    await recruiting.webhooks.sendTest('acme', webhook.id)
    const [{ body = '', headers = {} } = {}] = receiver.requests.splice(0)
    return { body, headers }
  }
  return { clock, storage, recruiting, webhooks: recruiting.webhooks, webhook, target, send }
}

t.test('the previous signature is sent beside that of Standard Webhooks', async (t) => {
  const key = (from: string | Buffer, content: string, encoding: 'hex' | 'base64' = 'hex', algorithm = 'sha256') =>
    createHmac(algorithm, from).update(content).digest(encoding)
  const time = '1893456000'
  const cases: Array<[string, Partial<Legacy>, (body: string, id: string) => Record<string, string>]> = [
    ['GitHub', github, (body) => ({ 'x-hub-signature-256': `sha256=${key("It's a Secret", body)}` })],
    ['Shopify', { header: 'X-Shopify-Hmac-SHA256', encoding: 'base64', secret: 'shpss_1' }, (body) => ({ 'x-shopify-hmac-sha256': key('shpss_1', body, 'base64') })],
    ['Stripe, whose key is the text of the secret', { header: 'Stripe-Signature', template: 't={timestamp},v1={signature}', content: '{timestamp}.{body}' },
      (body) => ({ 'stripe-signature': `t=${time},v1=${key(secret, `${time}.${body}`)}` })],
    ['Outpost', { header: 'X-Outpost-Signature', template: 'v0={signature}', secret: 'ab01', secret_encoding: 'hex', id_header: 'X-Outpost-Event-Id', timestamp_header: 'X-Outpost-Timestamp' },
      (body, id) => ({ 'x-outpost-signature': `v0=${key(Buffer.from('ab01', 'hex'), body)}`, 'x-outpost-event-id': id, 'x-outpost-timestamp': time })],
    ['code that reads the headers of Svix', { header: 'svix-signature', template: 'v1,{signature}', content: '{id}.{timestamp}.{body}', encoding: 'base64', secret_encoding: 'base64', id_header: 'svix-id', timestamp_header: 'svix-timestamp' },
      (body, id) => ({ 'svix-signature': `v1,${key(bytes, `${id}.${time}.${body}`, 'base64')}`, 'svix-id': id, 'svix-timestamp': time })],
    ['SHA-1', { algorithm: 'sha1' }, (body) => ({ 'x-signature': key(secret, body, 'hex', 'sha1') })],
    ['SHA-512', { algorithm: 'sha512' }, (body) => ({ 'x-signature': key(secret, body, 'hex', 'sha512') })]
  ]
  for (const [name, legacy, expected] of cases) {
    const { send } = await start(t, { secret, headers: { 'X-Api-Key': 'gateway' }, legacy: { header: 'X-Signature', until, ...legacy } })
    const { body, headers } = await send()
    t.match(headers, { ...expected(body, String(headers['webhook-id'])), 'x-api-key': 'gateway', 'webhook-signature': /^v1,/ }, name)
  }
})

t.test('a worker sends the previous signature until its end', async (t) => {
  const clock = createManualClock('2030-02-28T23:59:59Z')
  const receiver = await startReceiver(t)
  const recruiting = createRecruiting({ storage: memoryStorage({ clock }), delivery: { ...toLoopback, clock } })
  t.teardown(() => recruiting.close())
  await recruiting.webhooks.import('acme', { ...input, target_url: receiver.url, secret, legacy: github })
  const emit = async () => {
    await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })
    await recruiting.drain()
    return receiver.requests.splice(0).map(({ headers }) => ['x-hub-signature-256' in headers, 'webhook-signature' in headers])
  }
  t.same(await emit(), [[true, true]])
  await clock.advance(1000)
  t.same(await emit(), [[false, true]])
})

t.test('changes of the address and the headers keep the previous signature, and no response shows it', async (t) => {
  const { webhooks, webhook, storage, target, send } = await start(t, { legacy: github })
  t.equal(webhook.headers, null)
  t.match(await storage.webhooks.findHeaders('acme', webhook.id), /^sealed_v1:/)
  const changed = await webhooks.update('acme', webhook.id, { target_url: `${target.target_url}other`, headers: { 'X-Token': '1' } })
  t.same(changed.headers, { 'X-Token': null })
  t.match((await send()).headers, { 'x-hub-signature-256': /^sha256=/, 'x-token': '1' })
  t.equal((await webhooks.update('acme', webhook.id, { headers: null })).headers, null)
  t.match((await send()).headers, { 'x-hub-signature-256': /^sha256=/, 'x-token': undefined })
  await t.rejects(webhooks.update('acme', webhook.id, { headers: { 'x-hub-signature-256': '1' } }), { field: 'headers.x-hub-signature-256', code: 'invalid_input' })
})

t.test('a repeated import changes the end of the previous signature; without a secret, the previous secret identifies the webhook', async (t) => {
  const { webhooks, webhook, target, send, clock } = await start(t, { legacy: github })
  t.match((await send()).headers, { 'webhook-signature': /^v1,/ }, 'the webhook has a new secret')
  const later = { ...github, until: '2030-06-01T00:00:00Z' }
  t.equal((await webhooks.import('acme', { ...target, legacy: later })).id, webhook.id)
  await clock.advance(Date.parse(until) - clock.now())
  t.match((await send()).headers, { 'x-hub-signature-256': /^sha256=/ })
  t.not((await webhooks.import('acme', { ...target, legacy: { ...later, secret: 'another' } })).id, webhook.id)
  const named = await webhooks.import('acme', { ...target, secret })
  t.equal((await webhooks.import('acme', { ...target, secret, legacy: later })).id, named.id)
})

t.test('invalid input names the field', async (t) => {
  const { webhooks } = await start(t, { legacy: github })
  const other = { ...input, target_url: 'https://hooks.example.com/' }
  const cases: Array<[string, object]> = [
    ['legacy.header', { ...github, header: 'Content-Type' }],
    ['legacy.header', { ...github, header: 'Webhook-Id' }],
    ['headers.X-Api-Key', { ...github, header: 'X-Api-Key' }],
    ['legacy.id_header', { ...github, id_header: 'x-hub-signature-256' }],
    ['legacy.timestamp_header', { ...github, timestamp_header: 'a b' }],
    ['legacy.header', { until }],
    ['legacy.until', { header: 'X-Signature' }],
    ['legacy.until', { ...github, until: 'soon' }],
    ['legacy.until', { ...github, until: '2029-12-31T00:00:00Z' }],
    ['legacy.algorithm', { ...github, algorithm: 'md5' }],
    ['legacy.encoding', { ...github, encoding: 'base32' }],
    ['legacy.template', { ...github, template: 'sha256=' }],
    ['legacy.template', { ...github, template: '{signature}{body}' }],
    ['legacy.template', { ...github, template: '{signature}\r\nX: 1' }],
    ['legacy.content', { ...github, content: '{timestamp}' }],
    ['legacy.content', { ...github, content: '{url}{body}' }],
    ['legacy.secret', { ...github, secret: 'text', secret_encoding: 'hex' }],
    ['legacy.secret', { ...github, secret: 'it is text', secret_encoding: 'base64' }],
    ['secret', { ...github, secret: undefined, secret_encoding: 'base64' }],
    ['legacy.name', { ...github, name: 'X' }]
  ]
  for (const [field, legacy] of cases) {
    const given = { ...other, headers: { 'X-Api-Key': '1' }, legacy } as ImportWebhookInput
    await t.rejects(webhooks.import('acme', given), { code: 'invalid_input', field }, JSON.stringify(legacy))
  }
  await t.rejects(webhooks.import('acme', { ...other, secret, legacy: { ...github, secret: 'x'.repeat(1025) } }), { code: 'invalid_input', field: 'legacy.secret' })
  await t.rejects(webhooks.import('acme', { ...other, secret: 'ab'.repeat(32) }), { field: 'secret', message: /it is hexadecimal, .* legacy\.secret/ })
  t.equal((await webhooks.list('acme')).meta.total, 1)
})

t.test('clients of the API cannot set a previous signature', async (t) => {
  const app = await buildApp(t)
  const answer = await app.inject({
    method: 'POST', url: '/api/v1/public/acme/webhooks', headers: { authorization: 'Bearer acme-webhooks' }, payload: { ...input, legacy: github }
  })
  t.not(answer.statusCode, 201)
})
