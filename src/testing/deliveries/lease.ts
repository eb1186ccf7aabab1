import { benchCase, eventIds, statuses } from '../support/bench.js'
import { same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const leased =
  'A delivery is leased to one caller at a time; once its lease has expired, anybody may claim it again, with a greater fence.'
const nothing = 'A result changes nothing if its lease was lost, completed or given back.'
const late = 'A lease is lost when somebody else claims the delivery, not when it expires.'
const release = 'Gives leases back: their deliveries are due at once and no attempt is counted.'
const passed = 'One that was lost, completed or given back is passed over.'

const strict = { failingForSeconds: 0, failedDeliveries: 0, warnAfterSeconds: 0 }

/** Cases about who holds a delivery, and whose result counts. */
export const leaseCases = [
  benchCase('deliveries', {
    port: 'deliveries.claimDue', says: leased, name: 'a leased delivery is not claimed'
  }, async ({ addWebhook, emitMany, claim }) => {
    await addWebhook()
    await emitMany(3)
    same([eventIds(await claim({ limit: 2 })), eventIds(await claim()), eventIds(await claim())],
      [['evt_1', 'evt_2'], ['evt_3'], []], 'three claims one after another')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue',
    says: leased,
    name: 'once a lease has run out, the delivery is claimed again, with a greater fence'
  }, async ({ addWebhook, emitMany, claim, claimOne, wait }) => {
    await addWebhook()
    await emitMany(2)
    const first = await claimOne({ leaseMs: 50 })
    await wait(50)
    const [second, other] = await claim()
    same(second, { ...first, fence: second?.fence }, 'the claim of the same delivery, as before but for the fence')
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'whether the fence is greater, and what is claimed after it')
    same(await claim(), [], 'what is left')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: nothing, name: 'a result with an old fence changes nothing'
  }, async ({ webhooks, deliveries, addWebhook, emit, claimOne, complete, log, wait }) => {
    const webhook = await addWebhook()
    await emit()
    const lost = await claimOne({ leaseMs: 50 })
    await wait(50)
    const held = await claimOne()
    const before = await deliveries.find('acme', webhook.id, lost.deliveryId)
    for (const result of [failed(lost, { isGone: true }), retry(lost, { pauseMs: 600_000 }), delivered(lost)]) {
      same(await complete([result], strict), [], `the notices of a late ${result.outcome}`)
      same(await deliveries.find('acme', webhook.id, lost.deliveryId), before, 'the delivery')
      same(await webhooks.find('acme', webhook.id), webhook, 'the webhook')
    }
    await deliveries.complete([delivered(held)], strict)
    same((await log(webhook)).map(({ status, attempt_count: count }) => [status, count]), [['delivered', 1]],
      'status and attempts after the result that counts')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: nothing, name: 'of what was claimed at once, one lease is lost without the others'
  }, async ({ addWebhook, emitMany, claim, claimAll, claimOne, complete, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(4)
    const [lost, second, third] = await claimAll(4, { leaseMs: 50 })
    await wait(50)
    const held = await claimOne()
    await complete([failed(lost), delivered(second), delivered(third)])
    same(statuses(await log(webhook)), ['pending', 'delivered', 'delivered', 'pending'], 'the log after three results')
    same(eventIds(await claim()), ['evt_4'], 'what is claimed then')
    await complete([delivered(held)])
    same(statuses(await log(webhook)), ['delivered', 'delivered', 'delivered', 'pending'], 'the log after the result that counts')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: nothing, name: 'a lost lease stays lost beside another of the claim that took it over'
  }, async ({ addWebhook, emitMany, claim, claimAll, claimOne, complete, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const lost = await claimOne({ leaseMs: 50 })
    await wait(50)
    const [held, other] = await claimAll(2)
    await complete([failed(lost), delivered(other)])
    same([statuses(await log(webhook)), await claim()], [['pending', 'delivered'], []], 'the log, and what is claimed')
    await complete([delivered(held)])
    same(statuses(await log(webhook)), ['delivered', 'delivered'], 'the log after the result that counts')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: nothing, name: 'a result for a delivery that does not exist changes nothing'
  }, async ({ deliveries, addWebhook, emit, log, claimOne, complete }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    const unknown = { ...lease, deliveryId: lease.deliveryId + 1000 }
    same(await complete([delivered(unknown), failed(unknown, { isGone: true })], strict), [], 'the notices')
    await deliveries.release([unknown])
    same(statuses(await log(webhook)), ['pending'], 'the log')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete',
    says: late,
    name: 'a late result still counts while nobody has claimed the delivery again'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimAll, complete, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const [one, other] = await claimAll(2, { leaseMs: 50 })
    await wait(50)
    same((await deliveries.stats()).leased, 0, 'what is leased when both leases have run out')
    await complete([delivered(one), retry(other)])
    same((await log(webhook)).map(({ status, attempt_count: count }) => [status, count]), [['delivered', 1], ['pending', 1]],
      'status and attempts')
    same(await claim(), [], 'what is claimed then')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: nothing, name: 'a result counts once, however often it is reported'
  }, async ({ addWebhook, emit, claimOne, complete, log }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    await complete([retry(lease), retry(lease)])
    await complete([delivered(lease)])
    same((await log(webhook)).map(({ status, attempt_count: count }) => [status, count]), [['pending', 1]],
      'status and attempts after three reports')
  }),

  benchCase('deliveries', {
    port: 'deliveries.release',
    says: release,
    name: 'a lease given back makes its delivery due at once, with no attempt counted'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimOne, complete, log }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const first = await claimOne()
    await deliveries.release([first])
    same((await log(webhook)).map(({ status, attempt_count: count }) => [status, count]), [['pending', 0], ['pending', 0]],
      'status and attempts')
    same((await deliveries.stats()).leased, 0, 'what is leased')
    const [second, other] = await claim()
    same(second, { ...first, fence: second?.fence }, 'the claim of the same delivery')
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'whether the fence is greater, and what is claimed after it')
    const held = { ...first, fence: Number(second?.fence) }
    await deliveries.release([held])
    await complete([delivered(held)])
    same(statuses(await log(webhook)), ['pending', 'pending'], 'the log after a result of a lease that was given back')
  }),

  benchCase('deliveries', {
    port: 'deliveries.release',
    says: passed,
    name: 'a lost, completed or repeated lease that is given back is passed over'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimOne, complete, wait }) => {
    await addWebhook()
    await emitMany(2)
    const lost = await claimOne({ leaseMs: 50 })
    await wait(50)
    const held = await claimOne()
    await deliveries.release([lost])
    same(eventIds(await claim({ limit: 1 })), ['evt_2'], 'what is claimed when the lost lease of evt_1 was given back')
    await complete([delivered(held)])
    await deliveries.release([held, held])
    same(await claim(), [], 'what is claimed when the completed one was given back')
  })
]
