import { eventIds, progress, statuses, webhookCases } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, disableAtOnce, failed, retry } from '../support/samples.js'

const test = webhookCases('deliveries')

/** Cases about leases, and which results count. */
export const leaseCases = [
  test('claimDue', 'a leased delivery is not claimed', async (t) => {
    await t.emitMany(3)
    same([eventIds(await t.claim({ limit: 2 })), eventIds(await t.claim()), eventIds(await t.claim())],
      [['evt_1', 'evt_2'], ['evt_3'], []], 'three consecutive claims')
  }),

  test('claimDue', 'after its lease has expired, a delivery is claimed again with a greater fence', async (t) => {
    await t.emitMany(2)
    const first = await t.claimOne({ leaseMs: 50 })
    await t.wait(50)
    const [second, other] = await t.claim()
    same(second, { ...first, fence: second?.fence }, 'the claim of the same delivery, unchanged except for the fence')
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'the fence is greater, and the next claimed delivery')
    same(await t.claim(), [], 'the remaining deliveries')
  }),

  test('recordAttempts', 'a result with an old fence is ignored', async (t, webhook) => {
    const lost = await t.leaseOne({ leaseMs: 50 })
    await t.wait(50)
    const held = await t.claimOne()
    const before = await t.deliveries.find('acme', webhook.id, lost.deliveryId)
    for (const result of [failed(lost, { isGone: true }), retry(lost, { pauseMs: 600_000 }), delivered(lost)]) {
      same(await t.recordAttempts([result], disableAtOnce), [], `the notices of a late ${result.outcome} result`)
      same(await t.deliveries.find('acme', webhook.id, lost.deliveryId), before, 'the delivery')
      same(await t.webhooks.find('acme', webhook.id), webhook, 'the webhook')
    }
    await t.deliveries.recordAttempts([delivered(held)], disableAtOnce)
    same(progress(await t.log(webhook)), [['delivered', 1]], 'status and attempts after the result that counts')
  }),

  test('recordAttempts', 'of several leases of one claim, one is lost without the others', async (t, webhook) => {
    const [lost, second, third] = await t.lease(4, { leaseMs: 50 })
    await t.wait(50)
    const held = await t.claimOne()
    await t.recordAttempts([failed(lost), delivered(second), delivered(third)])
    same(statuses(await t.log(webhook)), ['pending', 'delivered', 'delivered', 'pending'],
      'the log after three results')
    same(eventIds(await t.claim()), ['evt_4'], 'the deliveries claimed afterwards')
    await t.recordAttempts([delivered(held)])
    same(statuses(await t.log(webhook)), ['delivered', 'delivered', 'delivered', 'pending'],
      'the log after the result that counts')
  }),

  test('recordAttempts',
    'a lost lease stays lost when reported with another delivery of the claim that took it over',
    async (t, webhook) => {
      await t.emitMany(2)
      const lost = await t.claimOne({ leaseMs: 50 })
      await t.wait(50)
      const [held, other] = await t.claimAll(2)
      await t.recordAttempts([failed(lost), delivered(other)])
      same([statuses(await t.log(webhook)), await t.claim()], [['pending', 'delivered'], []],
        'the log, and the claimed deliveries')
      await t.recordAttempts([delivered(held)])
      same(statuses(await t.log(webhook)), ['delivered', 'delivered'], 'the log after the result that counts')
    }),

  test('recordAttempts', 'a result for a nonexistent delivery is ignored', async (t, webhook) => {
    const lease = await t.leaseOne()
    const unknown = { ...lease, deliveryId: lease.deliveryId + 1000 }
    same(await t.recordAttempts([delivered(unknown), failed(unknown, { isGone: true })], disableAtOnce), [],
      'the notices')
    await t.deliveries.release([unknown])
    same(statuses(await t.log(webhook)), ['pending'], 'the log')
  }),

  test('recordAttempts', 'a late result counts until the delivery is claimed again', async (t, webhook) => {
    const [one, other] = await t.lease(2, { leaseMs: 50 })
    await t.wait(50)
    same((await t.deliveries.stats()).leased, 0, 'the number of leased deliveries when both leases have expired')
    await t.recordAttempts([delivered(one), retry(other)])
    same(progress(await t.log(webhook)), [['delivered', 1], ['pending', 1]], 'status and attempts')
    same(await t.claim(), [], 'the deliveries claimed afterwards')
  }),

  test('recordAttempts', 'a result counts once, however often it is reported', async (t, webhook) => {
    const lease = await t.leaseOne()
    await t.recordAttempts([retry(lease), retry(lease)])
    await t.recordAttempts([delivered(lease)])
    same(progress(await t.log(webhook)), [['pending', 1]], 'status and attempts after three reports')
  }),

  test('release', 'a released delivery is due at once, with no attempt counted', async (t, webhook) => {
    await t.emitMany(2)
    const first = await t.claimOne()
    await t.deliveries.release([first])
    same(progress(await t.log(webhook)), [['pending', 0], ['pending', 0]], 'status and attempts')
    same((await t.deliveries.stats()).leased, 0, 'the number of leased deliveries')
    const [second, other] = await t.claim()
    same(second, { ...first, fence: second?.fence }, 'the claim of the same delivery')
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'the fence is greater, and the next claimed delivery')
    const held = { ...first, fence: Number(second?.fence) }
    await t.deliveries.release([held])
    await t.recordAttempts([delivered(held)])
    same(statuses(await t.log(webhook)), ['pending', 'pending'], 'the log after a result of a released lease')
  }),

  test('release', 'release ignores a lease that was lost, completed or released', async (t) => {
    await t.emitMany(2)
    const lost = await t.claimOne({ leaseMs: 50 })
    await t.wait(50)
    const held = await t.claimOne()
    await t.deliveries.release([lost])
    same(eventIds(await t.claim({ limit: 1 })), ['evt_2'],
      'the claimed deliveries after the lost lease of evt_1 was released')
    await t.recordAttempts([delivered(held)])
    await t.deliveries.release([held, held])
    same(await t.claim(), [], 'the claimed deliveries after the completed lease was released')
  })
]

/** Cases about deliveries locked by a transaction of the host. A storage without transactions locks none. */
export const lockedCases = [
  test('recordAttempts',
    'a transaction that erases a delivery does not block the completion of others', async (t, webhook) => {
      await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      await t.emitMany(2)
      const leases = await t.claimAll(3)
      const open = await t.harness.begin?.()
      if (open !== undefined) await t.deliveries.erase('acme', 'candidate:1', open.transaction)
      const locked = await t.deliveries.recordAttempts(leases.map(delivered), {
        failingForSeconds: 1,
        failedDeliveries: 1,
        warnAfterSeconds: 1
      })
      same(
        locked.map(({ deliveryId, fence }) => [deliveryId, fence]),
        open === undefined ? [] : [[leases[0].deliveryId, leases[0].fence]],
        'the returned leases'
      )
      same(statuses(await t.log(webhook)).slice(1), ['delivered', 'delivered'], 'the other deliveries')
      await open?.commit()
      await t.recordAttempts([delivered(leases[0])])
      same(progress(await t.log(webhook)),
        [['delivered', 1], ['delivered', 1], ['delivered', 1]], 'the log after the result was repeated')
    }),

  test('claimDue',
    'a delivery being erased by an open transaction is not claimed and does not block other claims',
    async (t, webhook) => {
      await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      await t.emit()
      const open = await t.harness.begin?.()
      await t.deliveries.erase('acme', 'candidate:1', open?.transaction)
      same(eventIds(await t.claim()), ['evt_2'], 'the deliveries claimed during the transaction')
      await open?.commit()
      same(await t.claim(), [], 'the deliveries claimed afterwards')
      same(statuses(await t.log(webhook)), ['cancelled', 'pending'], 'the log')
    })
]
