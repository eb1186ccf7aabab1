import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const input = { name: 'CRM', target_url: 'https://hooks.example.com/recruiting', event_types: ['application.created' as const], secret }
const rejected = (field: string, message: string) => ({ code: 'invalid_input', field, message: `${field}: ${message}` })

t.test('receivers of an imported webhook verify notifications with their existing secret', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const recruiting = createRecruiting({ storage, delivery: toLoopback, secretKeys: [Buffer.alloc(32, 1)] })
  t.teardown(() => recruiting.close())
  const filters = { 'data.id': [1] }
  const headers = { authorization: 'Bearer gateway' }
  const webhook = await recruiting.webhooks.import('acme', { ...input, target_url: receiver.url, headers, filters })
  t.match(webhook, { name: 'CRM', status: 'active', target_url: receiver.url, event_types: input.event_types, filters })
  t.notOk('secret' in webhook)
  t.match(await storage.webhooks.findSecrets('acme', webhook.id), [/^sealed_v1:/])
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })
  await recruiting.drain()
  const [{ body = '', headers: sent = {} } = {}] = receiver.requests
  t.equal(sent.authorization, 'Bearer gateway')
  t.match(new Webhook(secret).verify(body, sent as Record<string, string>), { type: 'application.created' })
})

t.test('a repeated import creates and changes nothing', async (t) => {
  const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false })
  t.teardown(() => recruiting.close())
  const { webhooks } = recruiting
  const { id } = await webhooks.import('acme', input)
  t.match(await webhooks.import('acme', { ...input, name: 'Another name', status: 'inactive' }), { id, name: 'CRM', status: 'active' })
  const others = [
    await webhooks.import('acme', { ...input, target_url: 'https://hooks.example.com/other' }),
    await webhooks.import('acme', { ...input, secret: `whsec_${Buffer.alloc(64, 8).toString('base64')}` }),
    await webhooks.import('globex', input)
  ]
  t.equal(new Set([id, ...others.map((other) => other.id)]).size, 4, 'another address, secret or tenant is another webhook')
})

t.test('concurrent imports of one webhook create it once', async (t) => {
  const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false, maxWebhooksPerTenant: 2 })
  t.teardown(() => recruiting.close())
  const { webhooks } = recruiting
  const imported = await Promise.all(Array.from({ length: 8 }, () => webhooks.import('acme', input)))
  t.equal(new Set(imported.map(({ id }) => id)).size, 1)
  t.match(await webhooks.list('acme'), { meta: { total: 1 } })
})

t.test('a webhook that is deleted during the import is created again', async (t) => {
  const storage = memoryStorage()
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const { id } = await recruiting.webhooks.import('acme', input)
  storage.webhooks.findSecrets = async () => null
  t.not((await recruiting.webhooks.import('acme', input)).id, id)
})

t.test('malformed secrets are rejected and not shown', async (t) => {
  const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false })
  t.teardown(() => recruiting.close())
  const texts = ['', 'geheim', secret.slice('whsec_'.length), `${secret} `, 'whsec_', `whsec_${Buffer.alloc(23).toString('base64')}`,
    `whsec_${Buffer.alloc(65).toString('base64')}`, `whsec_!${secret.slice('whsec_'.length)}`]
  for (const text of texts) {
    await t.rejects(recruiting.webhooks.import('acme', { ...input, secret: text }), rejected('secret', 'must be whsec_ and 24 to 64 bytes in base64'), text)
  }
  await recruiting.webhooks.import('acme', { ...input, secret: `whsec_${Buffer.alloc(32, 9).toString('base64').replace('=', '')}` })
})

t.test('the rules of create apply', async (t) => {
  const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false, maxWebhooksPerTenant: 1 })
  t.teardown(() => recruiting.close())
  const { webhooks } = recruiting
  await t.rejects(webhooks.import('acme', { ...input, target_url: 'https://127.0.0.1/' }), { code: 'invalid_input', field: 'target_url' })
  await t.rejects(webhooks.import('acme', { ...input, name: ' ' }), { code: 'invalid_input', field: 'name' })
  await t.rejects(webhooks.import('acme', { name: 'CRM', target_url: input.target_url, event_types: input.event_types }), { code: 'invalid_input', field: 'secret' })
  await webhooks.import('acme', input)
  await t.rejects(webhooks.import('acme', { ...input, target_url: 'https://hooks.example.com/other' }), { message: 'input: the tenant already has the maximum of 1 webhooks' })
})
