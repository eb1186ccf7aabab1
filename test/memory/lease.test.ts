import t from 'tap'
import { createDeliveryKit, delivered, eventIds, failed, retry } from './fixtures/delivery-kit.js'

t.test('once a lease has run out, anybody may claim the delivery again, with a greater fence', async (t) => {
  const { addWebhook, emit, claim, claimOne, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  const first = await claimOne({ leaseMs: 1000 })

  await clock.advance(999)
  t.strictSame(await claim(), [])
  await clock.advance(1)
  const second = await claimOne()
  t.ok(second.fence > first.fence)
  t.strictSame(second, { ...first, fence: second.fence })
  t.strictSame(await claim(), [])
})

t.test('a delivery whose lease ran out is the one due for longest', async (t) => {
  const { addWebhook, emit, claim, claimOne, clock } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 3; i++) await emit()
  await claimOne({ leaseMs: 2000 })
  await claimOne({ leaseMs: 1000 })
  await clock.advance(2000)

  t.strictSame(eventIds(await claim()), ['evt_1', 'evt_2', 'evt_3'])
})

t.test('a result whose fence is not the latest changes nothing', async (t) => {
  const { webhooks, deliveries, addWebhook, emit, claimOne, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  const lost = await claimOne({ leaseMs: 1000 })
  await clock.advance(1000)
  const held = await claimOne()
  const before = await log(webhook)

  const rule = { failingForSeconds: 0, failedDeliveries: 0, warnAfterSeconds: 0 }
  const unknown = { deliveryId: 999, fence: 1 }
  const results = [failed(lost, { isGone: true }), retry(lost, { holdMs: 1000 }), delivered(lost), delivered(unknown)]
  t.strictSame(await deliveries.complete(results, rule), [])
  t.strictSame(await log(webhook), before)
  t.strictSame(await webhooks.find('acme', webhook.id), webhook)

  await deliveries.complete([delivered(held)], rule)
  t.hasStrict(await log(webhook), [{ status: 'delivered', attempt_count: 1 }])
})

t.test('a late result still counts while nobody has claimed the delivery again', async (t) => {
  const { deliveries, addWebhook, emit, claim, claimOne, complete, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await emit()
  const first = await claimOne({ leaseMs: 1000 })
  const second = await claimOne({ leaseMs: 1000 })
  await clock.advance(5000)
  t.hasStrict(await deliveries.stats(), { leased: 0, due: 2 })
  await complete(delivered(first), retry(second))

  t.hasStrict(await log(webhook), [{ status: 'delivered', attempt_count: 1 }, { status: 'pending', attempt_count: 1 }])
  t.strictSame(await claim(), [])
  await clock.advance(5000)
  t.strictSame(eventIds(await claim()), ['evt_2'])
})

t.test('a result counts once, however often it is reported', async (t) => {
  const { addWebhook, emit, claimOne, complete, log } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  const lease = await claimOne()
  await complete(retry(lease), retry(lease))
  await complete(delivered(lease))

  t.hasStrict(await log(webhook), [{ status: 'pending', attempt_count: 1 }])
})

t.test('a lease given back is due at once, with no attempt counted', async (t) => {
  const { deliveries, addWebhook, emit, claim, claimOne, complete, log } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await emit()
  const first = await claimOne()
  const before = await log(webhook)
  await deliveries.release([first])

  t.strictSame(await log(webhook), before)
  t.strictSame(await deliveries.stats(), { pending: 2, due: 2, leased: 0, oldestDueMs: 0 })
  const second = await claimOne()
  t.strictSame(second, { ...first, fence: second.fence })
  t.ok(second.fence > first.fence)

  await deliveries.release([second])
  await complete(delivered(second))
  t.strictSame(await log(webhook), before, 'the result of a lease that was given back changes nothing')
  t.equal((await claim()).length, 2)
})

t.test('a lost lease that is given back is passed over', async (t) => {
  const { deliveries, addWebhook, emit, claim, claimOne, complete, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  const lost = await claimOne({ leaseMs: 1000 })
  await clock.advance(1000)
  const held = await claimOne()
  await deliveries.release([lost, { deliveryId: 999, fence: 1 }])
  t.strictSame(await claim(), [])

  await complete(delivered(held))
  await deliveries.release([held])
  t.strictSame(await claim(), [])
})

t.test('a lease that ran out and is given back changes nothing', async (t) => {
  const { deliveries, addWebhook, emit, claim, claimOne, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  const lease = await claimOne({ leaseMs: 1000 })
  await clock.advance(1000)
  t.hasStrict(await deliveries.stats(), { pending: 1, leased: 0 })
  await deliveries.release([lease])

  t.equal((await claim()).length, 1)
  t.strictSame(await claim(), [])
})
