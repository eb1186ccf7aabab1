import type { ClaimedDelivery } from '../ports/index.js'
import { atOnce, benchCase, eventIds, statuses } from './support/driver.js'
import { holds, same } from './support/expect.js'
import { createWebhook, delivered, failed, retry } from './support/samples.js'
import { eventually } from './support/wait.js'

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

/** Cases about concurrent changes of webhooks. */
export const webhookRaceCases = [
  benchCase('races', {
    port: 'webhooks.create',
    name: 'of several concurrent creations for the last free place, exactly one succeeds'
  }, async ({ webhooks, addWebhook }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    const ids = await atOnce(6, () => webhooks.nextId('acme'))
    same(new Set(ids).size, 6, 'the number of different ids from six concurrent calls')
    const created = await Promise.all(ids.map((id) => webhooks.create('acme', createWebhook(id), 2)))
    same(created.filter((webhook) => webhook !== null).length, 1, 'the number of successes of six concurrent creations')
    same(await webhooks.count('acme', {}), 2, 'the number of webhooks with maxPerTenant 2')
  }),

  benchCase('races', {
    port: 'webhooks.update', name: 'concurrent changes of different fields are all kept'
  }, async ({ webhooks, addWebhook }) => {
    const webhook = await addWebhook()
    const changes = {
      name: 'New',
      target_url: 'https://hooks.example/new',
      event_types: ['b.c', 'a.b'],
      status: 'inactive' as const
    }
    await Promise.all([
      webhooks.update('acme', webhook.id, { name: changes.name }),
      webhooks.update('acme', webhook.id, { target_url: changes.target_url }),
      webhooks.update('acme', webhook.id, { event_types: changes.event_types }),
      webhooks.update('acme', webhook.id, { status: changes.status })
    ])
    const shown = await webhooks.find('acme', webhook.id)
    same(shown, { ...webhook, ...changes, updated_at: shown?.updated_at }, 'the webhook after four concurrent changes')
  }),

  benchCase('races', {
    port: 'webhooks.rotateSecret',
    name: 'of two concurrent rotations, the later one keeps the secret of the earlier one as the previous one'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ secret: 'a' })
    await Promise.all(['b', 'c'].map((secret) => webhooks.rotateSecret('acme', id, { secret, gracePeriodSeconds: 60 })))
    same((await webhooks.findSecrets('acme', id))?.toSorted(), ['b', 'c'], 'the secrets, in any order')
  }),

  benchCase('races', {
    port: 'webhooks.update', name: 'deliveries recorded after a webhook was made active again are not skipped'
  }, async ({ webhooks, addWebhook, emit, emitMany, claim, log }) => {
    const webhook = await addWebhook()
    await emitMany(20)
    const stopping = webhooks.update('acme', webhook.id, { status: 'inactive' })
    const isStopped = await eventually(async () => (await webhooks.find('acme', webhook.id))?.status === 'inactive')
    await webhooks.update('acme', webhook.id, { status: 'active' })
    await emit()
    await stopping
    same(
      [isStopped, eventIds(await claim())],
      [true, ['evt_21']],
      'the webhook was stopped, and the deliveries claimed afterwards'
    )
    const isShown = await eventually(
      async () => statuses(await log(webhook)).filter((status) => status === 'skipped').length === 20
    )
    same([isShown, statuses(await log(webhook)).at(-1)], [true, 'pending'], 'the log')
  }),

  benchCase('races', {
    port: 'webhooks.delete',
    name: 'of several concurrent deletions, exactly one finds the webhook'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    const deleted = await atOnce(4, () => webhooks.delete('acme', id))
    same(deleted.filter(Boolean).length, 1, 'the number of four deletions that return true')
  })
]
