import type { Delivery, Webhook } from '../../ports/index.js'
import { benchCase, eventIds, progress, statuses } from '../support/driver.js'
import type { StorageDriver } from '../support/driver.js'
import { exactly, given, same } from '../support/expect.js'
import { delivered, disableAtOnce, failed, retry } from '../support/samples.js'

// A delivery whose next attempt is due in an hour.
async function makeWaiting (driver: StorageDriver): Promise<{ webhook: Webhook, delivery: Delivery }> {
  const webhook = await driver.addWebhook()
  await driver.emit({ subject: 'candidate:1', tombstone: '{}' })
  await driver.recordAttempts([retry(await driver.claimOne())])
  const [delivery] = exactly(await driver.log(webhook), 1, 'deliveries in the log')
  return { webhook, delivery }
}

/** Cases about retrying one delivery. */
export const retryCases = [
  benchCase('deliveries', {
    port: 'deliveries.retry',
    name: 'a delivery that waits for its next attempt becomes due now, and its attempts count on'
  }, async (driver) => {
    const { webhook, delivery } = await makeWaiting(driver)
    same(await driver.claim(), [], 'the deliveries due before')
    const retried = given(await driver.deliveries.retry('acme', webhook.id, delivery.id), 'retry returns the delivery')
    same(retried, { ...delivery, next_attempt_at: retried.next_attempt_at }, 'the result of retry')
    same(String(retried.next_attempt_at) < String(delivery.next_attempt_at), true, 'the next attempt is earlier')
    same(await driver.log(webhook), [retried], 'the log')
    const lease = await driver.claimOne()
    same([lease.deliveryId, lease.attemptCount], [delivery.id, 1], 'the claimed delivery, and its attempts')
    await driver.recordAttempts([failed(lease)])
    same(progress(await driver.log(webhook)), [['failed', 2]], 'the log after its next attempt')
  }),

  benchCase('deliveries', {
    port: 'deliveries.retry', name: 'retrying a delivery that is due or leased changes nothing'
  }, async ({ deliveries, addWebhook, emit, claim, claimOne, log, wait }) => {
    const webhook = await addWebhook()
    await emit()
    const before = await log(webhook)
    const [{ id }] = exactly(before, 1, 'deliveries in the log')
    await wait(5)
    same(await deliveries.retry('acme', webhook.id, id), before[0], 'the result for a delivery that is due')
    const lease = await claimOne()
    same(await deliveries.retry('acme', webhook.id, id), before[0], 'the result for a leased delivery')
    same([await log(webhook), await claim()], [before, []], 'the log and the due deliveries afterwards')
    same(
      (await deliveries.recordAttempts([delivered(lease)], disableAtOnce)).length,
      0,
      'the results that were not written'
    )
    same(statuses(await log(webhook)), ['delivered'], 'the log after the attempt')
  }),

  benchCase('deliveries', {
    port: 'deliveries.retry', name: 'retrying a delivery that an open transaction erases does not wait for it'
  }, async (driver) => {
    const { webhook, delivery } = await makeWaiting(driver)
    const open = await driver.harness.begin?.()
    if (open !== undefined) await driver.deliveries.erase('acme', 'candidate:1', open.transaction)
    const retried = await driver.deliveries.retry('acme', webhook.id, delivery.id)
    same([retried?.id, retried?.status], [delivery.id, 'pending'], 'the result of retry')
    await open?.commit()
    if (open === undefined) await driver.deliveries.erase('acme', 'candidate:1')
    same(
      [statuses(await driver.log(webhook)), await driver.claim()],
      [['cancelled'], []],
      'the log and the due deliveries afterwards'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.retry', name: 'retrying an ended delivery of any status queues its event again'
  }, async (driver) => {
    const { deliveries, webhooks, addWebhook, emit, claimOne, recordAttempts, log } = driver
    const webhook = await addWebhook()
    await emit()
    await recordAttempts([delivered(await claimOne())])
    await emit()
    await recordAttempts([failed(await claimOne())])
    await webhooks.update('acme', webhook.id, { status: 'inactive' })
    await emit()
    await webhooks.update('acme', webhook.id, { status: 'active', event_types: ['job.created'] })
    await emit({ type: 'job.created', subject: 'job:1', tombstone: '{"erased":true}' })
    await deliveries.erase('acme', 'job:1')
    const ended = await log(webhook)
    same(statuses(ended), ['delivered', 'failed', 'skipped', 'cancelled'], 'the log before')
    for (const delivery of ended) {
      const retried = given(await deliveries.retry('acme', webhook.id, delivery.id), 'retry returns a delivery')
      same(retried, {
        ...delivery,
        id: retried.id,
        status: 'pending',
        attempt_count: 0,
        response_status: null,
        error: null,
        next_attempt_at: retried.created_at,
        created_at: retried.created_at,
        delivered_at: null
      }, `the result for the delivery that is ${delivery.status}`)
      same(ended.some(({ id }) => id >= retried.id), false, 'it has an id of its own')
      same((await log(webhook)).at(-1), retried, 'the last delivery of the log')
    }
    same((await log(webhook)).slice(0, 4), ended, 'the earlier deliveries')
    await emit({ type: 'job.created' })
    const claimed = await driver.claim()
    same(
      eventIds(claimed),
      ['evt_5', 'evt_1', 'evt_2', 'evt_3', 'evt_4'],
      'the claimed deliveries, after the first attempt of another'
    )
    same(
      claimed.map(({ body, attemptCount }) => [body, attemptCount]).slice(-2),
      [
        ['{"id":"evt_3"}', 0],
        ['{"erased":true}', 0]
      ],
      'the bodies of the last two'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.retry', name: 'retrying an ended delivery whose event is pending again retries the pending one'
  }, async (driver) => {
    const { deliveries, addWebhook, emit, claimOne, recordAttempts, log } = driver
    const webhook = await addWebhook()
    const other = await addWebhook({ event_types: ['job.created'] })
    await emit()
    await recordAttempts([failed(await claimOne())])
    await driver.replay(webhook)
    await recordAttempts([retry(await claimOne())])
    const [first, second] = exactly(await log(webhook), 2, 'deliveries in the log')
    same((await deliveries.retry('acme', webhook.id, first.id))?.id, second.id, 'the result of retry')
    same(progress(await log(webhook)), [['failed', 1], ['pending', 1]], 'the log')
    same((await claimOne()).deliveryId, second.id, 'the claimed delivery')
    same(await log(other), [], 'the log of another webhook')
  }),

  benchCase('deliveries', {
    port: 'deliveries.retry',
    name: 'a delivery of a webhook that is not active is not retried, and neither is an unknown one'
  }, async (driver) => {
    const { webhook, delivery } = await makeWaiting(driver)
    const { deliveries, webhooks, log } = driver
    same(await deliveries.retry('acme', webhook.id, delivery.id + 1000), null, 'an unknown delivery')
    same(await deliveries.retry('acme', webhook.id + 1000, delivery.id), null, 'an unknown webhook')
    same(await log(webhook), [delivery], 'the log')
    await webhooks.update('acme', webhook.id, { status: 'inactive' })
    same(await deliveries.retry('acme', webhook.id, delivery.id), null, 'a delivery of an inactive webhook')
    same(statuses(await log(webhook)), ['skipped'], 'its log')
    await webhooks.update('acme', webhook.id, { status: 'active' })
    await driver.attempt(failed, disableAtOnce)
    same(await deliveries.retry('acme', webhook.id, delivery.id), null, 'a delivery of a disabled webhook')
    same((await log(webhook)).length, 2, 'the number of deliveries in its log')
    await webhooks.delete('acme', webhook.id)
    same(await deliveries.retry('acme', webhook.id, delivery.id), null, 'a delivery of a deleted webhook')
  })
]
