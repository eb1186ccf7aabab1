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
