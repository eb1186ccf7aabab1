import t from 'tap'
import { createDeliveryKit, delivered, retry } from './fixtures/delivery-kit.js'

t.test('without deliveries nothing is pending', async (t) => {
  const { deliveries } = createDeliveryKit()

  t.equal(await deliveries.hasPending(1e12), false)
  t.strictSame(await deliveries.stats(), { pending: 0, due: 0, leased: 0, oldestDueMs: 0 })
})

t.test('what falls due within the time asked for is pending', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete } = createDeliveryKit()
  await addWebhook()
  await emit()
  t.equal(await deliveries.hasPending(0), true)
  await complete(retry(await claimOne(), { retryInMs: 5000 }))

  t.equal(await deliveries.hasPending(0), false)
  t.equal(await deliveries.hasPending(4999), false)
  t.equal(await deliveries.hasPending(5000), true)
})

t.test('what is leased is pending until it ends', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete } = createDeliveryKit()
  await addWebhook()
  await emit()
  const lease = await claimOne()

  t.equal(await deliveries.hasPending(0), true)
  await complete(delivered(lease))
  t.equal(await deliveries.hasPending(1e12), false)
})

t.test('nothing of a webhook that is not active is pending', async (t) => {
  const { webhooks, deliveries, addWebhook, emit, claimOne } = createDeliveryKit()
  await addWebhook()
  await emit()
  await emit()
  await claimOne()
  await webhooks.update('acme', 1, { status: 'inactive' })

  t.equal(await deliveries.hasPending(1e12), false)
})

t.test('the figures tell what waits, what is due, what is leased and for how long the oldest has been due', async (t) => {
  const { deliveries, addWebhook, emit, claim, complete, clock } = createDeliveryKit()
  await addWebhook()
  await addWebhook({ tenantSlug: 'other' })
  for (let i = 0; i < 3; i++) await emit()
  await clock.advance(1000)
  await emit({ tenantSlug: 'other' })
  await clock.advance(500)
  t.strictSame(await deliveries.stats(), { pending: 4, due: 4, leased: 0, oldestDueMs: 1500 })

  const [first, second, third] = await claim({ limit: 3, leaseMs: 2000 })
  if (!first || !second || !third) throw new Error('nothing is due')
  t.strictSame(await deliveries.stats(), { pending: 4, due: 4, leased: 3, oldestDueMs: 1500 })
  await complete(delivered(first), retry(second), retry(third, { retryInMs: 1000 }))
  t.strictSame(await deliveries.stats(), { pending: 3, due: 1, leased: 0, oldestDueMs: 1500 })

  await clock.advance(1000)
  t.strictSame(await deliveries.stats(), { pending: 3, due: 2, leased: 0, oldestDueMs: 2500 })
  await claim({ leaseMs: 2000 })
  t.strictSame(await deliveries.stats(), { pending: 3, due: 2, leased: 2, oldestDueMs: 2500 })
  await clock.advance(2000)
  t.strictSame(await deliveries.stats(), { pending: 3, due: 2, leased: 0, oldestDueMs: 4500 })
})
