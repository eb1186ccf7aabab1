import { atOnce } from '../support/at-once.js'
import { benchCase, statuses } from '../support/bench.js'
import { same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const nothing = 'A result changes nothing if its lease was lost, completed or given back.'
const pending =
  'Events that are still pending for this webhook are passed over. Of several replays at once, one queues an event.'
const shared = 'Several apps and workers may share one storage, and it outlives each.'
const stopped = 'A delivery that stopped being pending under way keeps its status, unless the attempt delivered it.'
const notices = 'There is a notice for each webhook disabled by this call'

/** Cases about several results and replays at once. */
export const resultRaceCases = [
  benchCase('races', {
    port: 'deliveries.complete', says: nothing, name: 'of several results at once for one lease, exactly one counts'
  }, async ({ addWebhook, emit, claimOne, complete, log }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    await atOnce(6, (index) => complete([index % 2 === 0 ? failed(lease) : retry(lease)]))
    const [delivery] = await log(webhook)
    same(delivery?.attempt_count, 1, 'how many attempts are counted after six results at once')
  }),

  benchCase('races', {
    port: 'deliveries.complete',
    says: notices,
    name: 'of several results at once that say a webhook is gone, one gives the notice'
  }, async ({ addWebhook, emitMany, claimAll, complete, log }) => {
    const webhook = await addWebhook()
    await emitMany(4)
    const leases = await claimAll(4)
    const given = await Promise.all(leases.map((lease) => complete([failed(lease, { isGone: true })])))
    same(given.flat().map(({ kind }) => kind), ['gone'], 'the notices of four calls at once')
    same(statuses(await log(webhook)).filter((status) => status === 'pending'), [], 'what is still pending')
  }),

  benchCase('races', {
    port: 'deliveries.complete',
    says: 'Records attempts, which ended now, and moves their deliveries on.',
    name: 'results of different deliveries at once are all counted'
  }, async ({ deliveries, webhooks, addWebhook, emitMany, claim, complete }) => {
    const ids = [(await addWebhook()).id, (await addWebhook()).id, (await addWebhook()).id]
    await emitMany(10)
    const leases = await claim()
    const batches = [0, 1, 2, 3, 4].map((start) => leases.filter((_, index) => index % 5 === start))
    await Promise.all(batches.map((batch) => complete(batch.toReversed().map(delivered))))
    const counts = await Promise.all(ids.map((id) => deliveries.count('acme', id, { status: 'delivered' })))
    same([counts, await webhooks.count('acme', { status: 'active' })], [[10, 10, 10], 3],
      'how many deliveries of three webhooks are delivered after five calls at once')
  }),

  benchCase('races', {
    port: 'deliveries.replay', says: pending, name: 'of several replays at once, one queues an event'
  }, async ({ addWebhook, emitMany, claimAll, complete, replay, log }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    await complete((await claimAll(2)).map((lease) => failed(lease)))
    const results = await atOnce(4, () => replay(webhook))
    same(results.reduce((sum, result) => sum + Number(result?.queued), 0), 2, 'the sum of what four replays queued')
    same(statuses(await log(webhook)), ['failed', 'failed', 'pending', 'pending'], 'the log')
  }),

  benchCase('races', {
    port: 'deliveries.record',
    says: shared,
    name: 'events recorded at once, by several apps on one storage, are all delivered'
  }, async ({ addWebhook, emit, claim, log }) => {
    const webhook = await addWebhook()
    const results = await atOnce(20, (index) => emit({ idempotencyKey: `key ${index}` }))
    same(results.map(({ deliveries }) => deliveries), results.map(() => 1), 'the deliveries counted for twenty events')
    same([(await log(webhook)).length, (await claim()).length], [20, 20], 'how many are logged, and how many are due')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue',
    says: 'Claims pending deliveries that are due, of active webhooks that are not paused, across tenants.',
    name: 'nothing is claimed of a webhook made inactive while events were recorded'
  }, async ({ webhooks, addWebhook, emit, claim }) => {
    const { id } = await addWebhook()
    await Promise.all([emit(), emit(), emit(), webhooks.update('acme', id, { status: 'inactive' }), emit(), emit(), emit()])
    same(await claim(), [], 'what is claimed')
  }),

  benchCase('races', {
    port: 'deliveries.complete',
    says: stopped,
    name: 'results that come in while their webhook is stopped or its events are erased are all taken'
  }, async ({ deliveries, webhooks, addWebhook, emit, claimAll, complete, claim, log }) => {
    const webhook = await addWebhook()
    for (let i = 0; i < 12; i++) await emit({ subject: 'candidate:1', tombstone: '{}' })
    const leases = await claimAll(12)
    await Promise.all([
      ...leases.slice(0, 6).map((lease) => complete([retry(lease)])),
      deliveries.erase('acme', 'candidate:1'),
      webhooks.update('acme', webhook.id, { status: 'inactive' }),
      ...leases.slice(6).map((lease) => complete([delivered(lease)]))
    ])
    const ended = await log(webhook)
    same(ended.map(({ attempt_count: count }) => count), ended.map(() => 1), 'how many attempts each delivery has')
    same(statuses(ended).slice(6), statuses(ended).slice(6).map(() => 'delivered'), 'what the delivered ones are')
    same([statuses(ended).filter((status) => status === 'pending'), await claim()], [[], []], 'what is still pending, and what is claimed')
  })
]
