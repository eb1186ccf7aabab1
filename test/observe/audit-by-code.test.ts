import t from 'tap'
import { type AuditEntry, createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { collect } from '../fixtures/collect.js'
import { type Teardown, buildApp } from '../fixtures/api/app.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 }, subject: 'candidate:42' } as const

function startAudited (t: Teardown) {
  const entries: AuditEntry[] = []
  const recruiting = createRecruiting({ storage: memoryStorage(), onAudit: (entry) => { entries.push(entry) }, delivery: false, logger: silentLogger })
  t.teardown(() => recruiting.close())
  return { recruiting, entries }
}

t.test('calls about webhooks are audited under the operations of the API, with the actor', async (t) => {
  const { recruiting, entries } = startAudited(t)
  const { webhooks } = recruiting.as('support:ann')
  const { id } = await webhooks.create('acme', { ...webhookInput, event_types: ['application.created'] })
  t.strictSame(entries, [{
    source: 'code',
    requestId: null,
    tenantSlug: 'acme',
    keyId: null,
    actor: 'support:ann',
    operationId: 'createWebhook',
    isDeprecated: false,
    resource: { kind: 'webhook', id },
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
  t.strictSame(entries.slice(1).map(({ tenantSlug, operationId, resource, filters, rowCount }) => [tenantSlug, operationId, resource, filters, rowCount]), [
    ['acme', 'importWebhook', { kind: 'webhook', id: imported }, [], 1],
    ['acme', 'deleteWebhook', { kind: 'webhook', id: imported }, [], null],
    ['acme', 'listWebhooks', null, ['filter[status]'], 1],
    ['acme', 'listWebhooks', null, [], 1],
    ['acme', 'getWebhook', webhook, [], 1],
    ['acme', 'updateWebhook', webhook, [], 1],
    ['acme', 'rotateWebhookSecret', webhook, [], 1],
    ['acme', 'dispatchWebhookTest', webhook, [], 1],
    ['acme', 'replayWebhook', webhook, [], 1],
    ['acme', 'listWebhookDeliveries', webhook, ['filter[status]'], 1],
    ['acme', 'getWebhookDelivery', logged, [], 1],
    ['acme', 'retryWebhookDelivery', logged, [], 1],
    [null, 'listFailingWebhooks', null, [], 0],
    ['acme', 'deleteWebhook', webhook, [], null]
  ])
  t.ok(entries.every(({ actor, source }) => actor === 'support:ann' && source === 'code'))
})

t.test('calls about subjects, tenants and secrets are audited, without an actor if none is given', async (t) => {
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
  await recruiting.removeTenant('acme-new')
  const subject = { kind: 'subject', id: 'candidate:42' }
  t.strictSame(entries.map(({ actor, tenantSlug, operationId, resource, rowCount }) => [actor, tenantSlug, operationId, resource, rowCount]), [
    [null, 'acme', 'findSubject', subject, 2],
    [null, 'acme', 'findSubject', subject, 1],
    [null, 'acme', 'findSubject', { kind: 'subject', id: 'candidate:43' }, 0],
    [null, 'acme', 'erase', subject, 2],
    [null, null, 'resealSecrets', null, 0],
    [null, null, 'adopt', null, null],
    [null, 'acme', 'renameTenant', { kind: 'tenant', id: 'acme-new' }, null],
    [null, 'acme-new', 'removeTenant', { kind: 'tenant', id: 'acme-new' }, null]
  ])
})

t.test('an actor is text, and without onAudit it changes nothing', async (t) => {
  const { recruiting } = startAudited(t)
  for (const actor of ['', 'x'.repeat(129), 'a\nb', 7]) {
    t.throws(() => recruiting.as(actor as string), { code: 'invalid_input', field: 'actor', message: /^actor: expected text of 1 to 128 characters without control characters, got / })
  }
  const silent = createRecruiting({ storage: memoryStorage(), delivery: false })
  t.teardown(() => silent.close())
  t.strictSame((await silent.as('support:ann').webhooks.list('acme')).data, [])
})

t.test('a listener that throws fails no call and is logged; the plugin passes its own', async (t) => {
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
