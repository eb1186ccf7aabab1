import t from 'tap'
import { createDeliveryKit, delivered, eventIds, retry } from './fixtures/delivery-kit.js'

t.test('a hold keeps back the other deliveries of the webhook, and of no other webhook', async (t) => {
  const { addWebhook, emit, claim, claimOne, complete, clock } = createDeliveryKit()
  await addWebhook()
  await addWebhook({ tenantSlug: 'other' })
  await emit()
  await complete(retry(await claimOne(), { retryInMs: 5000, holdMs: 1000 }))
  await emit()
  await emit({ tenantSlug: 'other' })

  t.strictSame(eventIds(await claim()), ['evt_3'])
  await clock.advance(999)
  t.strictSame(await claim(), [])
  await clock.advance(1)
  t.strictSame(eventIds(await claim()), ['evt_2'])
  await clock.advance(4000)
  t.strictSame(eventIds(await claim()), ['evt_1'])
})

t.test('a shorter hold, or none, does not shorten a longer one', async (t) => {
  const { addWebhook, emit, claim, complete, clock } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 4; i++) await emit()
  const [first, second, third] = await claim({ limit: 3 })
  if (!first || !second || !third) throw new Error('nothing is due')
  await complete(retry(first, { holdMs: 3000 }), retry(second, { holdMs: 1000 }), retry(third, { holdMs: 0 }))

  await clock.advance(2999)
  t.strictSame(await claim(), [])
  await clock.advance(1)
  t.strictSame(eventIds(await claim()), ['evt_4'])
})

t.test('a delivery that arrives ends the hold, and whoever listens is told', async (t) => {
  const { deliveries, addWebhook, emit, claim, complete } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 4; i++) await emit()
  const [first, second, third] = await claim({ limit: 3 })
  if (!first || !second || !third) throw new Error('nothing is due')
  await complete(retry(first, { holdMs: 1000 }))
  t.strictSame(await claim(), [])

  let calls = 0
  deliveries.onDue(() => { calls++ })
  await complete(delivered(second))
  await complete(delivered(third))
  t.equal(calls, 1)
  t.strictSame(eventIds(await claim()), ['evt_4'])
})

t.test('a webhook made active is held back no longer', async (t) => {
  const { webhooks, addWebhook, emit, claim, claimOne, complete } = createDeliveryKit()
  await addWebhook()
  await emit()
  await complete(retry(await claimOne(), { holdMs: 1e6 }))
  await emit()
  await webhooks.update('acme', 1, { name: 'Still held' })
  t.strictSame(await claim(), [])

  await webhooks.update('acme', 1, { status: 'active' })
  t.strictSame(eventIds(await claim()), ['evt_2'])
})

t.test('what is held back is neither due nor pending before the hold ends', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  await complete(retry(await claimOne(), { retryInMs: 5000, holdMs: 2000 }))
  await emit()

  t.strictSame(await deliveries.stats(), { pending: 2, due: 0, leased: 0, oldestDueMs: 0 })
  t.equal(await deliveries.hasPending(1999), false)
  t.equal(await deliveries.hasPending(2000), true)
  await clock.advance(2000)
  t.strictSame(await deliveries.stats(), { pending: 2, due: 1, leased: 0, oldestDueMs: 2000 })
})
