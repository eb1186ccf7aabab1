import { benchCase, eventIds, progress, statuses } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, disableAtOnce, failed, retry } from '../support/samples.js'

/** Cases about leases, and which results count. */
export const leaseCases = [
  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'a leased delivery is not claimed'
  }, async ({ addWebhook, emitMany, claim }) => {
    await addWebhook()
    await emitMany(3)
    same([eventIds(await claim({ limit: 2 })), eventIds(await claim()), eventIds(await claim())],
      [['evt_1', 'evt_2'], ['evt_3'], []], 'three consecutive claims')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue',
    name: 'after its lease has expired, a delivery is claimed again with a greater fence'
  }, async ({ addWebhook, emitMany, claim, claimOne, wait }) => {
    await addWebhook()
    await emitMany(2)
    const first = await claimOne({ leaseMs: 50 })
    await wait(50)
    const [second, other] = await claim()
    same(second, { ...first, fence: second?.fence }, 'the claim of the same delivery, unchanged except for the fence')
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'the fence is greater, and the next claimed delivery')
    same(await claim(), [], 'the remaining deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a result with an old fence is ignored'
  }, async ({ webhooks, deliveries, addWebhook, emit, claimOne, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    await emit()
    const lost = await claimOne({ leaseMs: 50 })
    await wait(50)
    const held = await claimOne()
    const before = await deliveries.find('acme', webhook.id, lost.deliveryId)
    for (const result of [failed(lost, { isGone: true }), retry(lost, { pauseMs: 600_000 }), delivered(lost)]) {
      same(await recordAttempts([result], disableAtOnce), [], `the notices of a late ${result.outcome} result`)
      same(await deliveries.find('acme', webhook.id, lost.deliveryId), before, 'the delivery')
      same(await webhooks.find('acme', webhook.id), webhook, 'the webhook')
    }
    await deliveries.recordAttempts([delivered(held)], disableAtOnce)
    same(progress(await log(webhook)), [['delivered', 1]],
      'status and attempts after the result that counts')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'of several leases of one claim, one is lost without the others'
  }, async ({ addWebhook, emitMany, claim, claimAll, claimOne, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(4)
    const [lost, second, third] = await claimAll(4, { leaseMs: 50 })
    await wait(50)
    const held = await claimOne()
    await recordAttempts([failed(lost), delivered(second), delivered(third)])
    same(statuses(await log(webhook)), ['pending', 'delivered', 'delivered', 'pending'], 'the log after three results')
    same(eventIds(await claim()), ['evt_4'], 'the deliveries claimed afterwards')
    await recordAttempts([delivered(held)])
    same(
      statuses(await log(webhook)),
      ['delivered', 'delivered', 'delivered', 'pending'],
      'the log after the result that counts'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a lost lease stays lost when reported with another delivery of the claim that took it over'
  }, async ({ addWebhook, emitMany, claim, claimAll, claimOne, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const lost = await claimOne({ leaseMs: 50 })
    await wait(50)
    const [held, other] = await claimAll(2)
    await recordAttempts([failed(lost), delivered(other)])
    same(
      [statuses(await log(webhook)), await claim()],
      [['pending', 'delivered'], []],
      'the log, and the claimed deliveries'
    )
    await recordAttempts([delivered(held)])
    same(statuses(await log(webhook)), ['delivered', 'delivered'], 'the log after the result that counts')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a result for a nonexistent delivery is ignored'
  }, async ({ deliveries, addWebhook, emit, log, claimOne, recordAttempts }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    const unknown = { ...lease, deliveryId: lease.deliveryId + 1000 }
    same(
      await recordAttempts([delivered(unknown), failed(unknown, { isGone: true })], disableAtOnce),
      [],
      'the notices'
    )
    await deliveries.release([unknown])
    same(statuses(await log(webhook)), ['pending'], 'the log')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a late result counts until the delivery is claimed again'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimAll, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const [one, other] = await claimAll(2, { leaseMs: 50 })
    await wait(50)
    same((await deliveries.stats()).leased, 0, 'the number of leased deliveries when both leases have expired')
    await recordAttempts([delivered(one), retry(other)])
    same(progress(await log(webhook)), [['delivered', 1], ['pending', 1]],
      'status and attempts')
    same(await claim(), [], 'the deliveries claimed afterwards')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a result counts once, however often it is reported'
  }, async ({ addWebhook, emit, claimOne, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    await recordAttempts([retry(lease), retry(lease)])
    await recordAttempts([delivered(lease)])
    same(progress(await log(webhook)), [['pending', 1]],
      'status and attempts after three reports')
  }),

  benchCase('deliveries', {
    port: 'deliveries.release',
    name: 'a released delivery is due at once, with no attempt counted'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimOne, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const first = await claimOne()
    await deliveries.release([first])
    same(progress(await log(webhook)), [['pending', 0], ['pending', 0]],
      'status and attempts')
    same((await deliveries.stats()).leased, 0, 'the number of leased deliveries')
    const [second, other] = await claim()
    same(second, { ...first, fence: second?.fence }, 'the claim of the same delivery')
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'the fence is greater, and the next claimed delivery')
    const held = { ...first, fence: Number(second?.fence) }
    await deliveries.release([held])
    await recordAttempts([delivered(held)])
    same(statuses(await log(webhook)), ['pending', 'pending'], 'the log after a result of a released lease')
  }),

  benchCase('deliveries', {
    port: 'deliveries.release',
    name: 'release ignores a lease that was lost, completed or released'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimOne, recordAttempts, wait }) => {
    await addWebhook()
    await emitMany(2)
    const lost = await claimOne({ leaseMs: 50 })
    await wait(50)
    const held = await claimOne()
    await deliveries.release([lost])
    same(
      eventIds(await claim({ limit: 1 })),
      ['evt_2'],
      'the claimed deliveries after the lost lease of evt_1 was released'
    )
    await recordAttempts([delivered(held)])
    await deliveries.release([held, held])
    same(await claim(), [], 'the claimed deliveries after the completed lease was released')
  })
]

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
