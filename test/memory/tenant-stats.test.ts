import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'
import { delivered, failed } from '../../src/testing/support/samples.js'

t.test('a delivery counts for an hour after it ended, and not a millisecond longer', async (t) => {
  const { deliveries, addWebhook, emit, claim, recordAttempts, clock } = createDeliveryKit()
  await addWebhook()
  await addWebhook({ status: 'inactive' })
  await emit()
  await emit()
  const [first, second] = await claim()
  if (!first || !second) throw new Error('nothing is due')
  await clock.advance(50_000)
  await recordAttempts(delivered(first), failed(second))
  await clock.advance(3_599_999)
  t.match(await deliveries.tenantStats('acme'), { pending: 0, delivered: 1, failed: 1, failing: 1 })
  await clock.advance(1)
  t.match(await deliveries.tenantStats('acme'), { pending: 0, delivered: 0, failed: 0, failing: 1 })
})
