import { benchCase, eventIds, statuses } from '../support/bench.js'
import { same } from '../support/expect.js'
import { delivered } from '../support/samples.js'

const waits =
  'Waits for nobody: a result whose delivery another transaction has locked changes nothing yet, and its lease is returned, ' +
  'to be told again.'
const passes = 'Deliveries that another transaction has locked are passed over.'

/** Cases about deliveries that a transaction of the host's has locked; a storage without transactions locks none. */
export const lockedCases = [
  benchCase('deliveries', {
    port: 'deliveries.complete', says: waits, name: 'an open transaction that erases a delivery keeps no other from being completed'
  }, async ({ harness, deliveries, addWebhook, emit, emitMany, claimAll, complete, log }) => {
    const webhook = await addWebhook()
    await emit({ subject: 'candidate:1', tombstone: '{}' })
    await emitMany(2)
    const leases = await claimAll(3)
    const open = await harness.begin?.()
    if (open !== undefined) await deliveries.erase('acme', 'candidate:1', open.transaction)
    const locked = await deliveries.complete(leases.map(delivered), { failingForSeconds: 1, failedDeliveries: 1, warnAfterSeconds: 1 })
    same(locked.map(({ deliveryId, fence }) => [deliveryId, fence]), open === undefined ? [] : [[leases[0].deliveryId, leases[0].fence]],
      'the leases that are to be told again')
    same(statuses(await log(webhook)).slice(1), ['delivered', 'delivered'], 'the others')
    await open?.commit()
    await complete([delivered(leases[0])])
    same((await log(webhook)).map(({ status, attempt_count: count }) => [status, count]),
      [['delivered', 1], ['delivered', 1], ['delivered', 1]], 'the log when it was told again')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue', says: passes, name: 'what an open transaction erases is not claimed, and keeps nothing else from being claimed'
  }, async ({ harness, deliveries, addWebhook, emit, claim, log }) => {
    const webhook = await addWebhook()
    await emit({ subject: 'candidate:1', tombstone: '{}' })
    await emit()
    const open = await harness.begin?.()
    await deliveries.erase('acme', 'candidate:1', open?.transaction)
    same(eventIds(await claim()), ['evt_2'], 'what is claimed meanwhile')
    await open?.commit()
    same(await claim(), [], 'what is claimed then')
    same(statuses(await log(webhook)), ['cancelled', 'pending'], 'the log')
  })
]
