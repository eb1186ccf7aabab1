import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'

t.test('a webhook has one secret until it is rotated', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  await addWebhook({ secret: 'first' })

  t.strictSame(await webhooks.findSecrets('acme', 1), ['first'])
  t.equal(await webhooks.findSecrets('acme', 2), null)
})

t.test('both secrets are valid during the grace period, the newest first', async (t) => {
  const { webhooks, addWebhook, clock } = createDeliveryKit()
  const webhook = await addWebhook({ secret: 'first' })
  await clock.advance(1000)

  t.strictSame(await webhooks.rotateSecret('acme', 1, { secret: 'second', gracePeriodSeconds: 60 }), {
    ...webhook,
    updated_at: '2026-01-01T00:00:01.000Z',
    previous_secret_expires_at: '2026-01-01T00:01:01.000Z'
  })
  t.strictSame(await webhooks.findSecrets('acme', 1), ['second', 'first'])
  await clock.advance(59_999)
  t.strictSame(await webhooks.findSecrets('acme', 1), ['second', 'first'])
  await clock.advance(1)
  t.strictSame(await webhooks.findSecrets('acme', 1), ['second'])
})

t.test('without a grace period the secret of before is dropped at once', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  const webhook = await addWebhook({ secret: 'first' })

  t.strictSame(await webhooks.rotateSecret('acme', 1, { secret: 'second', gracePeriodSeconds: 0 }), {
    ...webhook, previous_secret_expires_at: null
  })
  t.strictSame(await webhooks.findSecrets('acme', 1), ['second'])
})

t.test('rotating again drops the older secret at once', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  await addWebhook({ secret: 'first' })
  await webhooks.rotateSecret('acme', 1, { secret: 'second', gracePeriodSeconds: 60 })
  await webhooks.rotateSecret('acme', 1, { secret: 'third', gracePeriodSeconds: 60 })
  t.strictSame(await webhooks.findSecrets('acme', 1), ['third', 'second'])

  await webhooks.rotateSecret('acme', 1, { secret: 'fourth', gracePeriodSeconds: 0 })
  t.strictSame(await webhooks.findSecrets('acme', 1), ['fourth'])
})

t.test('a claim has the secrets that are valid then', async (t) => {
  const { webhooks, addWebhook, emit, claimOne, clock } = createDeliveryKit()
  await addWebhook({ secret: 'first' })
  await emit()
  await emit()
  await webhooks.rotateSecret('acme', 1, { secret: 'second', gracePeriodSeconds: 60 })

  t.strictSame((await claimOne()).secrets, ['second', 'first'])
  await clock.advance(60_000)
  t.strictSame((await claimOne()).secrets, ['second'])
})

t.test('the secrets of all tenants are listed by ascending id, those that are valid now', async (t) => {
  const { webhooks, addWebhook, clock } = createDeliveryKit()
  await addWebhook({ secret: 'a' })
  await addWebhook({ secret: 'b', tenantSlug: 'other' })
  await addWebhook({ secret: 'c' })
  await addWebhook({ secret: 'd', tenantSlug: 'other', status: 'inactive' })
  await addWebhook({ secret: 'e' })
  await webhooks.delete('acme', 3)
  await webhooks.rotateSecret('acme', 1, { secret: 'a2', gracePeriodSeconds: 60 })
  const first = { tenantSlug: 'acme', webhookId: 1, secrets: ['a2', 'a'] }
  const second = { tenantSlug: 'other', webhookId: 2, secrets: ['b'] }
  const fourth = { tenantSlug: 'other', webhookId: 4, secrets: ['d'] }
  const fifth = { tenantSlug: 'acme', webhookId: 5, secrets: ['e'] }

  t.strictSame(await webhooks.listSecrets({ afterId: 0, limit: 10 }), [first, second, fourth, fifth])
  t.strictSame(await webhooks.listSecrets({ afterId: 0, limit: 2 }), [first, second])
  t.strictSame(await webhooks.listSecrets({ afterId: 2, limit: 2 }), [fourth, fifth])
  t.strictSame(await webhooks.listSecrets({ afterId: 5, limit: 2 }), [])
  await clock.advance(60_000)
  t.strictSame(await webhooks.listSecrets({ afterId: 0, limit: 1 }), [{ ...first, secrets: ['a2'] }])
})

t.test('a stored secret is replaced in its place, and nothing else changes', async (t) => {
  const { webhooks, addWebhook, clock } = createDeliveryKit()
  await addWebhook({ secret: 'first' })
  await addWebhook({ secret: 'second' })
  await webhooks.rotateSecret('acme', 1, { secret: 'second', gracePeriodSeconds: 60 })
  const before = await webhooks.find('acme', 1)
  await clock.advance(1000)

  t.equal(await webhooks.replaceSecret('acme', 1, { from: 'first', to: 'first, sealed' }), true)
  t.equal(await webhooks.replaceSecret('acme', 1, { from: 'second', to: 'second, sealed' }), true)
  t.strictSame(await webhooks.findSecrets('acme', 1), ['second, sealed', 'first, sealed'])
  t.strictSame(await webhooks.findSecrets('acme', 2), ['second'])
  t.strictSame(await webhooks.find('acme', 1), before)
  await clock.advance(59_000)
  t.strictSame(await webhooks.findSecrets('acme', 1), ['second, sealed'])
})

t.test('a secret that the webhook does not have is not replaced', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  await addWebhook({ secret: 'first' })
  await webhooks.rotateSecret('acme', 1, { secret: 'second', gracePeriodSeconds: 0 })

  t.equal(await webhooks.replaceSecret('acme', 1, { from: 'first', to: 'changed' }), false)
  t.equal(await webhooks.replaceSecret('acme', 2, { from: 'second', to: 'changed' }), false)
  t.equal(await webhooks.replaceSecret('other', 1, { from: 'second', to: 'changed' }), false)
  t.strictSame(await webhooks.findSecrets('acme', 1), ['second'])
})
