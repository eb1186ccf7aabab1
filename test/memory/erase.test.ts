import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'
import { delivered } from '../../src/testing/support/samples.js'

t.test('an event with a subject and no tombstone is erased to nothing', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, recordAttempts, replay } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit({ subject: 'candidate:1' })
  await recordAttempts(delivered(await claimOne()))
  await deliveries.erase('acme', 'candidate:1')
  await replay(webhook, { include: 'all' })

  t.equal((await claimOne()).body, '')
})
