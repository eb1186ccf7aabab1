import t from 'tap'
import { createDeliveryKit, delivered, failed, retry } from './fixtures/delivery-kit.js'

const dayMs = 86_400_000
const monthly = { retentionDays: 30, limit: 100 }

t.test('deliveries that ended are kept for the time of retention, and not a millisecond longer', async (t) => {
  const { deliveries, addWebhook, emit, claim, complete, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  const inactive = await addWebhook({ status: 'inactive' })
  await emit()
  await emit()
  const [first, second] = await claim()
  if (!first || !second) throw new Error('nothing is due')
  await complete(delivered(first), failed(second))

  await clock.advance(30 * dayMs)
  t.equal(await deliveries.prune(monthly), 0)
  t.equal((await log(webhook)).length, 2)
  await clock.advance(1)
  t.equal(await deliveries.prune(monthly), 6, 'two deliveries of each webhook, and two events')
  t.equal(await deliveries.prune(monthly), 0)

  t.strictSame(await log(webhook), [])
  t.strictSame(await log(inactive), [])
  t.equal(await deliveries.find('acme', webhook.id, 1), null)
})

t.test('a pending delivery stays, and so does its event', async (t) => {
  const { deliveries, addWebhook, emit, claim, claimOne, complete, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await emit()
  await complete(retry(await claimOne()))
  await claimOne()
  await clock.advance(31 * dayMs)

  t.equal(await deliveries.prune(monthly), 0)
  t.equal((await log(webhook)).length, 2)
  t.equal((await claim()).length, 2)
})

t.test('an event stays while a delivery of it is left', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete, replay, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit({ idempotencyKey: 'once' })
  await complete(delivered(await claimOne()))
  await clock.advance(20 * dayMs)
  await replay(webhook, { include: 'all' })
  await complete(delivered(await claimOne()))

  await clock.advance(11 * dayMs)
  t.equal(await deliveries.prune(monthly), 1)
  t.equal((await emit({ idempotencyKey: 'once' })).id, 'evt_1')
  await clock.advance(20 * dayMs)
  t.equal(await deliveries.prune(monthly), 2)
  t.equal((await emit({ idempotencyKey: 'once' })).id, 'evt_3')
})

t.test('a newer delivery of an event is still the last one when an older one is gone', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete, replay, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await complete(failed(await claimOne()))
  await clock.advance(31 * dayMs)
  await replay(webhook)

  t.equal(await deliveries.prune(monthly), 1)
  t.strictSame(await replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'it is pending')
  await complete(failed(await claimOne()))
  t.strictSame(await replay(webhook), { queued: 1, truncated: false })
})

t.test('no more deliveries than the limit go at once, the oldest first', async (t) => {
  const { deliveries, addWebhook, emit, claim, complete, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  for (let i = 0; i < 5; i++) await emit()
  await complete(...(await claim()).map(delivered))
  await clock.advance(31 * dayMs)

  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 4)
  t.strictSame((await log(webhook)).map(({ id }) => id), [3, 4, 5])
  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 4)
  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 2)
  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 0)
})

t.test('events without any delivery go, and those of a deleted webhook', async (t) => {
  const { deliveries, webhooks, addWebhook, emit, clock } = createDeliveryKit()
  await emit()
  await addWebhook()
  await emit()
  await webhooks.delete('acme', 1)
  await clock.advance(30 * dayMs)
  t.equal(await deliveries.prune(monthly), 0)
  await clock.advance(1)

  t.equal(await deliveries.prune(monthly), 3)
})

t.test('a result for a delivery that is gone changes nothing', async (t) => {
  const { deliveries, webhooks, addWebhook, emit, claimOne, complete, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  const lease = await claimOne()
  await webhooks.update('acme', 1, { status: 'inactive' })
  await clock.advance(31 * dayMs)
  await deliveries.prune(monthly)
  await complete(delivered(lease))

  t.equal(await deliveries.count('acme', 1, {}), 0)
})

t.test('a pruned event is not replayed', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete, replay, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await complete(failed(await claimOne()))
  await clock.advance(31 * dayMs)
  await deliveries.prune(monthly)

  t.strictSame(await replay(webhook, { include: 'all' }), { queued: 0, truncated: false })
})
