import { atOnce, benchCase, statuses } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

/** Cases about concurrent results and replays. */
export const resultRaceCases = [
  benchCase('races', {
    port: 'deliveries.recordAttempts', name: 'of several concurrent results for one lease, exactly one counts'
  }, async ({ addWebhook, emit, claimOne, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    await atOnce(6, (index) => recordAttempts([index % 2 === 0 ? failed(lease) : retry(lease)]))
    const [delivery] = await log(webhook)
    same(delivery?.attempt_count, 1, 'the number of attempts after six concurrent results')
  }),

  benchCase('races', {
    port: 'deliveries.recordAttempts',
    name: 'of several concurrent results that report a webhook gone, one creates the notice'
  }, async ({ addWebhook, emitMany, claimAll, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emitMany(4)
    const leases = await claimAll(4)
    const given = await Promise.all(leases.map((lease) => recordAttempts([failed(lease, { isGone: true })])))
    same(given.flat().map(({ kind }) => kind), ['gone'], 'the notices of four concurrent calls')
    same(statuses(await log(webhook)).filter((status) => status === 'pending'), [], 'the pending deliveries')
  }),

  benchCase('races', {
    port: 'deliveries.recordAttempts',
    name: 'concurrent results of different deliveries are all counted'
  }, async ({ deliveries, webhooks, addWebhook, emitMany, claim, recordAttempts }) => {
    const ids = [(await addWebhook()).id, (await addWebhook()).id, (await addWebhook()).id]
    await emitMany(10)
    const leases = await claim()
    const batches = [0, 1, 2, 3, 4].map((start) => leases.filter((_, index) => index % 5 === start))
    await Promise.all(batches.map((batch) => recordAttempts(batch.toReversed().map(delivered))))
    const counts = await Promise.all(ids.map((id) => deliveries.count('acme', id, { status: 'delivered' })))
    same([counts, await webhooks.count('acme', { status: 'active' })], [[10, 10, 10], 3],
      'the number of delivered deliveries of three webhooks, and of active webhooks, after five concurrent calls')
  }),

  benchCase('races', {
    port: 'deliveries.replay', name: 'of several concurrent replays, only one queues an event'
  }, async ({ addWebhook, emitMany, claimAll, recordAttempts, replay, log }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    await recordAttempts((await claimAll(2)).map((lease) => failed(lease)))
    const results = await atOnce(4, () => replay(webhook))
    same(results.reduce((sum, result) => sum + Number(result?.queued), 0), 2, 'the total queued by four replays')
    same(statuses(await log(webhook)), ['failed', 'failed', 'pending', 'pending'], 'the log')
  }),

  benchCase('races', {
    port: 'deliveries.record',
    name: 'events recorded concurrently by several apps are all delivered'
  }, async ({ addWebhook, emit, claim, log }) => {
    const webhook = await addWebhook()
    const results = await atOnce(20, (index) => emit({ idempotencyKey: `key ${index}` }))
    same(results.map(({ deliveries }) => deliveries), results.map(() => 1), 'the deliveries counted for twenty events')
    same([(await log(webhook)).length, (await claim()).length], [20, 20], 'the number of deliveries logged, and due')
  }),

  benchCase('races', {
    port: 'deliveries.claimDue',
    name: 'nothing is claimed for a webhook made inactive while events were recorded'
  }, async ({ webhooks, addWebhook, emit, claim }) => {
    const { id } = await addWebhook()
    await Promise.all([
      emit(),
      emit(),
      emit(),
      webhooks.update('acme', id, { status: 'inactive' }),
      emit(),
      emit(),
      emit()
    ])
    same(await claim(), [], 'the claimed deliveries')
  }),

  benchCase('races', {
    port: 'deliveries.recordAttempts',
    name: 'results reported while their webhook is stopped or its events are erased are all recorded'
  }, async ({ deliveries, webhooks, addWebhook, emit, claimAll, recordAttempts, claim, log }) => {
    const webhook = await addWebhook()
    for (let i = 0; i < 12; i++) await emit({ subject: 'candidate:1', tombstone: '{}' })
    const leases = await claimAll(12)
    await Promise.all([
      ...leases.slice(0, 6).map((lease) => recordAttempts([retry(lease)])),
      deliveries.erase('acme', 'candidate:1'),
      webhooks.update('acme', webhook.id, { status: 'inactive' }),
      ...leases.slice(6).map((lease) => recordAttempts([delivered(lease)]))
    ])
    const ended = await log(webhook)
    same(ended.map(({ attempt_count: count }) => count), ended.map(() => 1), 'the number of attempts of each delivery')
    same(statuses(ended).slice(6), statuses(ended).slice(6).map(() => 'delivered'), 'the status of the delivered ones')
    same(
      [statuses(ended).filter((status) => status === 'pending'), await claim()],
      [[], []],
      'the pending deliveries, and the claimed ones'
    )
  })
]
