import type { Delivery, Webhook } from '../../ports/index.js'
import { benchCases, eventIds, progress, statuses } from '../support/driver.js'
import type { StorageDriver } from '../support/driver.js'
import { exactly, given, same } from '../support/expect.js'
import { delivered, disableAtOnce, failed, retry } from '../support/samples.js'

const test = benchCases('deliveries')

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
  test('retry', 'a delivery that waits for its next attempt becomes due now, and its attempts count on', async (t) => {
    const { webhook, delivery } = await makeWaiting(t)
    same(await t.claim(), [], 'the deliveries due before')
    const retried = given(await t.deliveries.retry('acme', webhook.id, delivery.id), 'retry returns the delivery')
    same(retried, { ...delivery, next_attempt_at: retried.next_attempt_at }, 'the result of retry')
    same(String(retried.next_attempt_at) < String(delivery.next_attempt_at), true, 'the next attempt is earlier')
    same(await t.log(webhook), [retried], 'the log')
    const lease = await t.claimOne()
    same([lease.deliveryId, lease.attemptCount], [delivery.id, 1], 'the claimed delivery, and its attempts')
    await t.recordAttempts([failed(lease)])
    same(progress(await t.log(webhook)), [['failed', 2]], 'the log after its next attempt')
  }),

  test('retry', 'retrying a delivery that is due or leased changes nothing', async (t) => {
    const webhook = await t.addWebhook()
    await t.emit()
    const before = await t.log(webhook)
    const [{ id }] = exactly(before, 1, 'deliveries in the log')
    await t.wait(5)
    same(await t.deliveries.retry('acme', webhook.id, id), before[0], 'the result for a delivery that is due')
    const lease = await t.claimOne()
    same(await t.deliveries.retry('acme', webhook.id, id), before[0], 'the result for a leased delivery')
    same([await t.log(webhook), await t.claim()], [before, []], 'the log and the due deliveries afterwards')
    same(
      (await t.deliveries.recordAttempts([delivered(lease)], disableAtOnce)).length,
      0,
      'the results that were not written'
    )
    same(statuses(await t.log(webhook)), ['delivered'], 'the log after the attempt')
  }),

  test('retry', 'retrying a delivery that an open transaction erases does not wait for it', async (t) => {
    const { webhook, delivery } = await makeWaiting(t)
    const open = await t.harness.begin?.()
    if (open !== undefined) await t.deliveries.erase('acme', 'candidate:1', open.transaction)
    const retried = await t.deliveries.retry('acme', webhook.id, delivery.id)
    same([retried?.id, retried?.status], [delivery.id, 'pending'], 'the result of retry')
    await open?.commit()
    if (open === undefined) await t.deliveries.erase('acme', 'candidate:1')
    same(
      [statuses(await t.log(webhook)), await t.claim()],
      [['cancelled'], []],
      'the log and the due deliveries afterwards'
    )
  }),

  test('retry', 'retrying an ended delivery of any status queues its event again', async (t) => {
    const webhook = await t.addWebhook()
    await t.attempt(delivered)
    await t.attempt(failed)
    await t.webhooks.update('acme', webhook.id, { status: 'inactive' })
    await t.emit()
    await t.webhooks.update('acme', webhook.id, { status: 'active', event_types: ['job.created'] })
    await t.emit({ type: 'job.created', subject: 'job:1', tombstone: '{"erased":true}' })
    await t.deliveries.erase('acme', 'job:1')
    const ended = await t.log(webhook)
    same(statuses(ended), ['delivered', 'failed', 'skipped', 'cancelled'], 'the log before')
    for (const delivery of ended) {
      const retried = given(await t.deliveries.retry('acme', webhook.id, delivery.id), 'retry returns a delivery')
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
      same((await t.log(webhook)).at(-1), retried, 'the last delivery of the log')
    }
    same((await t.log(webhook)).slice(0, 4), ended, 'the earlier deliveries')
    await t.emit({ type: 'job.created' })
    const claimed = await t.claim()
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

  test('retry', 'retrying an ended delivery whose event is pending again retries the pending one', async (t) => {
    const webhook = await t.addWebhook()
    const other = await t.addWebhook({ event_types: ['job.created'] })
    await t.attempt(failed)
    await t.replay(webhook)
    await t.recordAttempts([retry(await t.claimOne())])
    const [first, second] = exactly(await t.log(webhook), 2, 'deliveries in the log')
    same((await t.deliveries.retry('acme', webhook.id, first.id))?.id, second.id, 'the result of retry')
    same(progress(await t.log(webhook)), [['failed', 1], ['pending', 1]], 'the log')
    same((await t.claimOne()).deliveryId, second.id, 'the claimed delivery')
    same(await t.log(other), [], 'the log of another webhook')
  }),

  test('retry',
    'a delivery of a webhook that is not active is not retried, and neither is an unknown one', async (t) => {
      const { webhook, delivery } = await makeWaiting(t)
      same(await t.deliveries.retry('acme', webhook.id, delivery.id + 1000), null, 'an unknown delivery')
      same(await t.deliveries.retry('acme', webhook.id + 1000, delivery.id), null, 'an unknown webhook')
      same(await t.log(webhook), [delivery], 'the log')
      await t.webhooks.update('acme', webhook.id, { status: 'inactive' })
      same(await t.deliveries.retry('acme', webhook.id, delivery.id), null, 'a delivery of an inactive webhook')
      same(statuses(await t.log(webhook)), ['skipped'], 'its log')
      await t.webhooks.update('acme', webhook.id, { status: 'active' })
      await t.attempt(failed, disableAtOnce)
      same(await t.deliveries.retry('acme', webhook.id, delivery.id), null, 'a delivery of a disabled webhook')
      same((await t.log(webhook)).length, 2, 'the number of deliveries in its log')
      await t.webhooks.delete('acme', webhook.id)
      same(await t.deliveries.retry('acme', webhook.id, delivery.id), null, 'a delivery of a deleted webhook')
    })
]
