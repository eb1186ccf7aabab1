import { benchCase, eventIds, progress, statuses } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered } from '../support/samples.js'

/** Cases about deliveries locked by a transaction of the host. A storage without transactions locks none. */
export const lockedCases = [
  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a transaction that erases a delivery does not block the completion of others'
  }, async ({ harness, deliveries, addWebhook, emit, emitMany, claimAll, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emit({ subject: 'candidate:1', tombstone: '{}' })
    await emitMany(2)
    const leases = await claimAll(3)
    const open = await harness.begin?.()
    if (open !== undefined) await deliveries.erase('acme', 'candidate:1', open.transaction)
    const locked = await deliveries.recordAttempts(leases.map(delivered), {
      failingForSeconds: 1,
      failedDeliveries: 1,
      warnAfterSeconds: 1
    })
    same(
      locked.map(({ deliveryId, fence }) => [deliveryId, fence]),
      open === undefined ? [] : [[leases[0].deliveryId, leases[0].fence]],
      'the returned leases'
    )
    same(statuses(await log(webhook)).slice(1), ['delivered', 'delivered'], 'the other deliveries')
    await open?.commit()
    await recordAttempts([delivered(leases[0])])
    same(progress(await log(webhook)),
      [['delivered', 1], ['delivered', 1], ['delivered', 1]], 'the log after the result was repeated')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue',
    name: 'a delivery being erased by an open transaction is not claimed and does not block other claims'
  }, async ({ harness, deliveries, addWebhook, emit, claim, log }) => {
    const webhook = await addWebhook()
    await emit({ subject: 'candidate:1', tombstone: '{}' })
    await emit()
    const open = await harness.begin?.()
    await deliveries.erase('acme', 'candidate:1', open?.transaction)
    same(eventIds(await claim()), ['evt_2'], 'the deliveries claimed during the transaction')
    await open?.commit()
    same(await claim(), [], 'the deliveries claimed afterwards')
    same(statuses(await log(webhook)), ['cancelled', 'pending'], 'the log')
  })
]
