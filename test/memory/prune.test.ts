import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'
import { delivered, failed } from '../../src/testing/support/samples.js'

const dayMs = 86_400_000
const monthly = { retentionDays: 30, limit: 100 }

t.test('deliveries that ended are kept for the time of retention, and not a millisecond longer', async (t) => {
  const { deliveries, addWebhook, emit, claim, recordAttempts, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  const inactive = await addWebhook({ status: 'inactive' })
  await emit()
  await emit()
  const [first, second] = await claim()
  if (!first || !second) throw new Error('nothing is due')
  await recordAttempts(delivered(first), failed(second))

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

t.test('at most limit deliveries are deleted at once, oldest first', async (t) => {
  const { deliveries, addWebhook, emit, claim, recordAttempts, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  for (let i = 0; i < 5; i++) await emit()
  await recordAttempts(...(await claim()).map(delivered))
  await clock.advance(31 * dayMs)

  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 4)
  t.strictSame((await log(webhook)).map(({ id }) => id), [3, 4, 5])
  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 4)
  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 2)
  t.equal(await deliveries.prune({ retentionDays: 30, limit: 2 }), 0)
})
