import { benchCase, eventIds, statuses } from '../support/bench.js'
import { same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const deletes =
  'Deletes deliveries that ended and were made more than `retentionDays` ago, with their attempts, and the events of that ' +
  'age that no delivery is left of, with their idempotency keys: those of some `limit` events at a time.'
const never = 'Never a pending delivery.'
const returns = 'Returns how many deliveries and events went; 0 means that nothing is left to delete.'

const everything = { retentionDays: 0, limit: 100 }
const monthly = { retentionDays: 30, limit: 100 }

/** Cases about deleting what is old. */
export const pruneCases = [
  benchCase('deliveries', {
    port: 'deliveries.prune', says: deletes, name: 'what ended goes when the time of retention is over, not before'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, complete, log, wait }) => {
    const webhook = await addWebhook()
    const inactive = await addWebhook({ status: 'inactive' })
    await emitMany(2)
    const [first, second] = await claimAll(2)
    await complete([delivered(first), failed(second)])
    await wait(5)
    same([await deliveries.prune(monthly), (await log(webhook)).length], [0, 2],
      'how much of today goes with a retention of 30 days, and what is left')
    same([await deliveries.prune(everything), await deliveries.prune(everything)], [6, 0],
      'how much goes without any: two deliveries of each webhook and two events; and then')
    same([await log(webhook), await log(inactive), await deliveries.count('acme', webhook.id, {})], [[], [], 0], 'the logs')
    same(await deliveries.find('acme', webhook.id, first.deliveryId), null, 'one of the deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune', says: never, name: 'a pending delivery stays, and so does its event'
  }, async ({ deliveries, addWebhook, emitMany, claim, claimOne, complete, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(3)
    await complete([retry(await claimOne())])
    await claimOne({ leaseMs: 10 })
    await wait(10)
    same([await deliveries.prune(everything), statuses(await log(webhook))], [0, ['pending', 'pending', 'pending']],
      'how much goes, and the log')
    same((await claim()).map(({ body }) => body), ['{"id":"evt_2"}', '{"id":"evt_3"}'], 'what is claimed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune',
    says: deletes,
    name: 'an event stays while a delivery of it is left, and takes its idempotency key with it'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete, replay, wait }) => {
    const webhook = await addWebhook()
    await emit({ idempotencyKey: 'once' })
    await complete([delivered(await claimOne())])
    await replay(webhook, { include: 'all' })
    await wait(5)
    same([await deliveries.prune(everything), (await emit({ idempotencyKey: 'once' })).id], [1, 'evt_1'],
      'how much goes while a replay is pending, and the event of the key')
    await complete([delivered(await claimOne())])
    same([await deliveries.prune(everything), (await emit({ idempotencyKey: 'once' })).id], [2, 'evt_3'],
      'how much goes when that has ended, and the event of the key')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune',
    says: deletes,
    name: 'a newer delivery of an event is still the last one when an older one is gone'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete, replay, wait }) => {
    const webhook = await addWebhook()
    await emit()
    await complete([failed(await claimOne())])
    await replay(webhook)
    await wait(5)
    same(await deliveries.prune(everything), 1, 'how much goes while a replay is pending')
    same(await replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'another replay')
    await complete([failed(await claimOne())])
    same(await replay(webhook), { queued: 1, truncated: false }, 'another replay, when the first one failed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune',
    says: returns,
    name: 'pruning in batches deletes everything in the end, the limit of each at once'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, complete, log, wait }) => {
    const webhook = await addWebhook()
    await emitMany(5)
    await complete((await claimAll(5)).map(delivered))
    await emitMany(3, { type: 'job.created' })
    await wait(5)
    const counts: number[] = []
    for (let i = 0; i < 20 && counts.at(-1) !== 0; i++) counts.push(await deliveries.prune({ retentionDays: 0, limit: 2 }))
    same(counts.reduce((sum, count) => sum + count, 0), 13, `the sum of what went in batches of ${counts.join(', ')}`)
    same(counts.filter((count) => count > 4), [], 'the batches of more than two deliveries and two events')
    same([counts.at(-1), await log(webhook)], [0, []], 'the last batch, and the log')
  }),

  benchCase('deliveries', {
    port: 'deliveries.prune', says: deletes, name: 'events without any delivery go, and those of a deleted webhook'
  }, async ({ deliveries, webhooks, addWebhook, emitMany, wait }) => {
    await emitMany(1)
    const { id } = await addWebhook()
    await emitMany(1)
    await webhooks.delete('acme', id)
    await wait(5)
    let count = 0
    for (let i = 0; i < 3; i++) count += await deliveries.prune(everything)
    same([count >= 2, await deliveries.prune(everything)], [true, 0], 'whether both events went, and what is left')
    const webhook = await addWebhook()
    same(await deliveries.replay('acme', webhook.id, { include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 10 }),
      { queued: 0, truncated: false }, 'a replay of all events')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete',
    says: 'A result changes nothing if its lease was lost, completed or given back.',
    name: 'a result for a delivery that was pruned changes nothing'
  }, async ({ deliveries, webhooks, addWebhook, emit, emitMany, claim, claimOne, complete, wait }) => {
    const { id } = await addWebhook()
    await emit()
    const lease = await claimOne()
    await webhooks.update('acme', id, { status: 'inactive' })
    await webhooks.update('acme', id, { status: 'active' })
    await wait(5)
    await deliveries.prune(everything)
    await emitMany(1)
    same(await complete([delivered(lease), retry(lease)]), [], 'the notices')
    same([await deliveries.count('acme', id, {}), eventIds(await claim())], [1, ['evt_2']],
      'how many deliveries there are, and what is claimed')
  })
]
