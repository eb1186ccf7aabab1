import type { ClaimedDelivery } from '../../ports/index.js'
import { atOnce } from '../support/at-once.js'
import { benchCase } from '../support/bench.js'
import { holds, same } from '../support/expect.js'

const oneRecords = 'Of several at once with the same key, exactly one records.'
const leased =
  'A delivery is leased to one caller at a time; once its lease has expired, anybody may claim it again, with a greater fence.'
const limited = 'Deliveries of one webhook that may be leased at once, over all workers.'

function deliveryIds (claims: readonly ClaimedDelivery[][]): number[] {
  return claims.flat().map(({ deliveryId }) => deliveryId)
}

/** Cases about several events and claims at once. */
export const claimRaceCases = [
  benchCase('races', {
    port: 'deliveries.record',
    says: oneRecords,
    name: 'of several events at once with the same idempotency key, exactly one is recorded'
  }, async ({ deliveries, addWebhook, emit, log, claim }) => {
    const webhook = await addWebhook()
    const results = await atOnce(8, (index) => emit({ idempotencyKey: 'once', fingerprint: `print ${index}` }))
    same(results, results.map(() => results[0]), 'the results of eight calls, all those of the one that recorded')
    same(Number(results[0]?.fingerprint.slice(6)) + 1, Number(results[0]?.id.slice(4)), 'whose fingerprint it is')
    same([(await log(webhook)).length, (await claim()).length], [1, 1],
      'how many deliveries there are, and how many are claimed')
    same((await deliveries.replay('acme', webhook.id, { include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 10 }))?.queued, 0,
      'how many other events there are')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue', says: leased, name: 'no delivery is claimed by two callers at once'
  }, async ({ addWebhook, emitMany, claim, claimRest }) => {
    await addWebhook()
    await addWebhook()
    await emitMany(15)
    const claims = await atOnce(8, () => claim({ limit: 5 }))
    const ids = deliveryIds([...claims, await claimRest()])
    same(ids.length, new Set(ids).size, 'how many deliveries were claimed, and how many different ones')
    same(ids.length, 30, 'how many of 30 were claimed in the end')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue',
    says: leased,
    name: 'leases that ran out are claimed by one of several callers at once'
  }, async ({ addWebhook, emitMany, claim, claimAll, claimRest, wait }) => {
    await addWebhook()
    await emitMany(4)
    await claimAll(4, { leaseMs: 20 })
    await wait(20)
    const claims = await atOnce(6, () => claim({ limit: 4 }))
    const ids = deliveryIds([...claims, await claimRest()]).sort((a, b) => a - b)
    same(ids, [...new Set(ids)], 'what was claimed, and without repetitions')
    same(ids.length, 4, 'how many of 4 were claimed again')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue',
    says: limited,
    name: 'a webhook has no more leases at once than perEndpoint, whatever callers come at once'
  }, async ({ addWebhook, emitMany, claim }) => {
    await addWebhook()
    await emitMany(20)
    const claims = await atOnce(8, () => claim({ limit: 10, perEndpoint: 3 }))
    const first = deliveryIds(claims).length
    holds(first <= 3, `eight claims at once lease 3 deliveries of one webhook at most, not ${first}`)
    same(first + (await claim({ limit: 10, perEndpoint: 3 })).length, 3, 'how many are leased after one more claim')
  })
]
