import { benchCases, eventIds, statuses, webhookCases } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')

const everything = { retentionDays: 0, limit: 100 }
const monthly = { retentionDays: 30, limit: 100 }

/** Cases about deleting old events and deliveries. */
export const pruneCases = [
  test('prune', 'ended deliveries are deleted after the retention period, not before', async (t, webhook) => {
    const inactive = await t.addWebhook({ status: 'inactive' })
    const [first, second] = await t.lease(2)
    await t.recordAttempts([delivered(first), failed(second)])
    await t.wait(5)
    same([await t.deliveries.prune(monthly), (await t.log(webhook)).length], [0, 2],
      'the number deleted with a retention of 30 days, and the number left')
    same([await t.deliveries.prune(everything), await t.deliveries.prune(everything)], [6, 0],
      'the numbers deleted by two calls without retention: two deliveries of each webhook and two events, then none')
    same([await t.log(webhook), await t.log(inactive), await t.deliveries.count('acme', webhook.id, {})], [[], [], 0],
      'the logs')
    same(await t.deliveries.find('acme', webhook.id, first.deliveryId), null, 'a deleted delivery')
  }),

  test('prune', 'a pending delivery and its event are kept', async (t, webhook) => {
    await t.emitMany(3)
    await t.complete(retry)
    await t.claimOne({ leaseMs: 10 })
    await t.wait(10)
    same([await t.deliveries.prune(everything), statuses(await t.log(webhook))], [0, ['pending', 'pending', 'pending']],
      'the number deleted, and the log')
    same((await t.claim()).map(({ body }) => body), ['{"id":"evt_2"}', '{"id":"evt_3"}'], 'the claimed deliveries')
  }),

  test('prune',
    'an event is kept while it has a delivery, and its idempotency key is deleted with it', async (t, webhook) => {
      await t.emit({ idempotencyKey: 'once' })
      await t.complete(delivered)
      await t.replay(webhook, { include: 'all' })
      await t.wait(5)
      same([await t.deliveries.prune(everything), (await t.emit({ idempotencyKey: 'once' })).id], [1, 'evt_1'],
        'the number deleted while a replay is pending, and the event with the key')
      await t.complete(delivered)
      same([await t.deliveries.prune(everything), (await t.emit({ idempotencyKey: 'once' })).id], [2, 'evt_3'],
        'the number deleted after it has ended, and the event with the key')
    }),

  test('prune',
    'a newer delivery of an event remains the last one after an older one is deleted', async (t, webhook) => {
      await t.attempt(failed)
      await t.replay(webhook)
      await t.wait(5)
      same(await t.deliveries.prune(everything), 1, 'the number deleted while a replay is pending')
      same(await t.replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'another replay')
      await t.complete(failed)
      same(await t.replay(webhook), { queued: 1, truncated: false }, 'another replay, when the first one failed')
    }),

  test('prune', 'pruning in batches respects the limit and finally deletes everything', async (t, webhook) => {
    await t.recordAttempts((await t.lease(5)).map(delivered))
    await t.emitMany(3, { type: 'job.created' })
    await t.wait(5)
    const counts: number[] = []
    for (let i = 0; i < 20 && counts.at(-1) !== 0; i++) {
      counts.push(await t.deliveries.prune({ retentionDays: 0, limit: 2 }))
    }
    same(counts.reduce((sum, count) => sum + count, 0), 13, `the total deleted in batches of ${counts.join(', ')}`)
    same(counts.filter((count) => count > 4), [], 'the batches of more than two deliveries and two events')
    same([counts.at(-1), await t.log(webhook)], [0, []], 'the last batch, and the log')
  }),

  emptyTest('prune', 'events without deliveries are deleted, including those of a deleted webhook', async (t) => {
    await t.emitMany(1)
    const { id } = await t.addWebhook()
    await t.emitMany(1)
    await t.webhooks.delete('acme', id)
    await t.wait(5)
    let count = 0
    for (let i = 0; i < 3; i++) count += await t.deliveries.prune(everything)
    same([count >= 2, await t.deliveries.prune(everything)], [true, 0],
      'both events were deleted, and the number deleted next')
    const webhook = await t.addWebhook()
    same(await t.replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'a replay of all events')
  }),

  test('recordAttempts', 'a result for a pruned delivery is ignored', async (t, { id }) => {
    const lease = await t.leaseOne()
    await t.webhooks.update('acme', id, { status: 'inactive' })
    await t.webhooks.update('acme', id, { status: 'active' })
    await t.wait(5)
    await t.deliveries.prune(everything)
    await t.emitMany(1)
    same(await t.recordAttempts([delivered(lease), retry(lease)]), [], 'the notices')
    same([await t.deliveries.count('acme', id, {}), eventIds(await t.claim())], [1, ['evt_2']],
      'the number of deliveries, and the claimed deliveries')
  })
]
