import type { ClaimedDelivery } from '../../ports/index.js'
import { atOnce, benchCase } from '../support/driver.js'
import { holds, same } from '../support/expect.js'
import { failed } from '../support/samples.js'

function deliveryIds (claims: readonly ClaimedDelivery[][]): number[] {
  return claims.flat().map(({ deliveryId }) => deliveryId)
}

/** Cases about concurrent events and claims. */
export const claimRaceCases = [
  benchCase('races', {
    port: 'deliveries.record',
    name: 'of several concurrent events with the same idempotency key, exactly one is recorded'
  }, async ({ addWebhook, emit, log, claim, replay }) => {
    const webhook = await addWebhook()
    const results = await atOnce(8, (index) => emit({ idempotencyKey: 'once', fingerprint: `print ${index}` }))
    same(results, results.map(() => results[0]), 'the results of eight calls, all equal to the first recorded one')
    same(
      Number(results[0]?.fingerprint.slice(6)) + 1,
      Number(results[0]?.id.slice(4)),
      'the event that the fingerprint belongs to'
    )
    same([(await log(webhook)).length, (await claim()).length], [1, 1],
      'the number of deliveries, and of claimed deliveries')
    same((await replay(webhook, { include: 'all' }))?.queued, 0, 'the number of other events')
  }),

  benchCase('races', {
    port: 'deliveries.retry', name: 'of several concurrent retries of an ended delivery, exactly one queues its event'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, log, claim }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    await recordAttempts([failed(lease)])
    const retried = await atOnce(6, () => deliveries.retry('acme', webhook.id, lease.deliveryId))
    const [, ...queued] = await log(webhook)
    same(
      queued.map(({ id, status }) => [id, status]),
      [[retried[0]?.id, 'pending']],
      'the deliveries queued by six retries'
    )
    same(retried, retried.map(() => retried[0]), 'the results, all of the same delivery')
    same((await claim()).length, 1, 'the number of due deliveries')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue', name: 'no delivery is claimed by two concurrent callers'
  }, async ({ addWebhook, emitMany, claim, claimRest }) => {
    await addWebhook()
    await addWebhook()
    await emitMany(15)
    const claims = await atOnce(8, () => claim({ limit: 5 }))
    const ids = deliveryIds([...claims, await claimRest()])
    same(ids.length, new Set(ids).size, 'the number of claims, compared with the number of different deliveries')
    same(ids.length, 30, 'the number of deliveries claimed in total, of 30')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue',
    name: 'an expired lease is claimed by only one of several concurrent callers'
  }, async ({ addWebhook, emitMany, claim, claimAll, claimRest, wait }) => {
    await addWebhook()
    await emitMany(4)
    await claimAll(4, { leaseMs: 20 })
    await wait(20)
    const claims = await atOnce(6, () => claim({ limit: 4 }))
    const ids = deliveryIds([...claims, await claimRest()]).sort((a, b) => a - b)
    same(ids, [...new Set(ids)], 'the claimed deliveries, compared with the different ones')
    same(ids.length, 4, 'the number of deliveries claimed again, of 4')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue',
    name: 'perEndpoint limits the leases of a webhook, over concurrent callers'
  }, async ({ addWebhook, emitMany, claim }) => {
    await addWebhook()
    await emitMany(20)
    const claims = await atOnce(8, () => claim({ limit: 10, perEndpoint: 3 }))
    const first = deliveryIds(claims).length
    holds(first <= 3, `eight concurrent claims lease at most 3 deliveries of one webhook, not ${first}`)
    same(first + (await claim({ limit: 10, perEndpoint: 3 })).length, 3, 'the number of leases after one more claim')
  })
]
