import { benchCase, eventIds, statuses } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const everything = { retentionDays: 0, limit: 100 }
const monthly = { retentionDays: 30, limit: 100 }

/** Cases about deleting old events and deliveries. */
export const pruneCases = [
  benchCase('deliveries', {
    port: 'deliveries.prune', name: 'ended deliveries are deleted after the retention period, not before'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    const inactive = await addWebhook({ status: 'inactive' })
    await emitMany(2)
    const [first, second] = await claimAll(2)
    await recordAttempts([delivered(first), failed(second)])
    await wait(5)
    same([await deliveries.prune(monthly), (await log(webhook)).length], [0, 2],
      'the number deleted with a retention of 30 days, and the number left')
    same([await deliveries.prune(everything), await deliveries.prune(everything)], [6, 0],
      'the numbers deleted by two calls without retention: two deliveries of each webhook and two events, then none')
    same(
      [await log(webhook), await log(inactive), await deliveries.count('acme', webhook.id, {})],
      [[], [], 0],
      'the logs'
    )
    same(await deliveries.find('acme', webhook.id, first.deliveryId), null, 'a deleted delivery')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune', name: 'a pending delivery and its event are kept'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimOne, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(3)
    await recordAttempts([retry(await claimOne())])
    await claimOne({ leaseMs: 10 })
    await wait(10)
    same([await deliveries.prune(everything), statuses(await log(webhook))], [0, ['pending', 'pending', 'pending']],
      'the number deleted, and the log')
    same((await claim()).map(({ body }) => body), ['{"id":"evt_2"}', '{"id":"evt_3"}'], 'the claimed deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune',
    name: 'an event is kept while it has a delivery, and its idempotency key is deleted with it'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, replay, wait }) => {
    const webhook = await addWebhook()
    await emit({ idempotencyKey: 'once' })
    await recordAttempts([delivered(await claimOne())])
    await replay(webhook, { include: 'all' })
    await wait(5)
    same([await deliveries.prune(everything), (await emit({ idempotencyKey: 'once' })).id], [1, 'evt_1'],
      'the number deleted while a replay is pending, and the event with the key')
    await recordAttempts([delivered(await claimOne())])
    same([await deliveries.prune(everything), (await emit({ idempotencyKey: 'once' })).id], [2, 'evt_3'],
      'the number deleted after it has ended, and the event with the key')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune',
    name: 'a newer delivery of an event remains the last one after an older one is deleted'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, replay, wait }) => {
    const webhook = await addWebhook()
    await emit()
    await recordAttempts([failed(await claimOne())])
    await replay(webhook)
    await wait(5)
    same(await deliveries.prune(everything), 1, 'the number deleted while a replay is pending')
    same(await replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'another replay')
    await recordAttempts([failed(await claimOne())])
    same(await replay(webhook), { queued: 1, truncated: false }, 'another replay, when the first one failed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune',
    name: 'pruning in batches respects the limit and finally deletes everything'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(5)
    await recordAttempts((await claimAll(5)).map(delivered))
    await emitMany(3, { type: 'job.created' })
    await wait(5)
    const counts: number[] = []
    for (let i = 0; i < 20 && counts.at(-1) !== 0; i++) {
      counts.push(await deliveries.prune({ retentionDays: 0, limit: 2 }))
    }
    same(counts.reduce((sum, count) => sum + count, 0), 13, `the total deleted in batches of ${counts.join(', ')}`)
    same(counts.filter((count) => count > 4), [], 'the batches of more than two deliveries and two events')
    same([counts.at(-1), await log(webhook)], [0, []], 'the last batch, and the log')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune', name: 'events without deliveries are deleted, including those of a deleted webhook'
  }, async ({ deliveries, webhooks, addWebhook, emitMany, replay, wait }) => {
    await emitMany(1)
    const { id } = await addWebhook()
    await emitMany(1)
    await webhooks.delete('acme', id)
    await wait(5)
    let count = 0
    for (let i = 0; i < 3; i++) count += await deliveries.prune(everything)
    same(
      [count >= 2, await deliveries.prune(everything)],
      [true, 0],
      'both events were deleted, and the number deleted next'
    )
    const webhook = await addWebhook()
    same(await replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'a replay of all events')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a result for a pruned delivery is ignored'
  }, async ({ deliveries, webhooks, addWebhook, emit, emitMany, claim, claimOne, recordAttempts, wait }) => {
    const { id } = await addWebhook()
    await emit()
    const lease = await claimOne()
    await webhooks.update('acme', id, { status: 'inactive' })
    await webhooks.update('acme', id, { status: 'active' })
    await wait(5)
    await deliveries.prune(everything)
    await emitMany(1)
    same(await recordAttempts([delivered(lease), retry(lease)]), [], 'the notices')
    same([await deliveries.count('acme', id, {}), eventIds(await claim())], [1, ['evt_2']],
      'the number of deliveries, and the claimed deliveries')
  })
]
