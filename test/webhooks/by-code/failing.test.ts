import t from 'tap'
import { buildWebhookApi } from '../../fixtures/api/webhook-api.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'

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
