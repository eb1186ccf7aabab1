import type { ClaimedDelivery } from '../../core/ports/index.js'
import { atOnce, benchCases, eventIds, statuses, eventually, webhookCases } from './support/driver.js'
import { holds, same } from './support/expect.js'
import { createWebhook, delivered, failed, retry } from './support/samples.js'

const test = webhookCases('races')
const emptyTest = benchCases('races')

function deliveryIds (claims: readonly ClaimedDelivery[][]): number[] {
  return claims.flat().map(({ deliveryId }) => deliveryId)
}

export const raceCases = [
  // About concurrent events and claims.
  test('deliveries.record',
    'of several concurrent events with the same idempotency key, exactly one is recorded', async (t, webhook) => {
      const results = await atOnce(8, (index) => t.emit({ idempotencyKey: 'once', fingerprint: `print ${index}` }))
      same(results, results.map(() => results[0]), 'the results of eight calls, all equal to the first recorded one')
      same(Number(results[0]?.fingerprint.slice(6)) + 1, Number(results[0]?.id.slice(4)),
        'the event that the fingerprint belongs to')
      same([(await t.log(webhook)).length, (await t.claim()).length], [1, 1],
        'the number of deliveries, and of claimed deliveries')
      same((await t.replay(webhook, { include: 'all' }))?.queued, 0, 'the number of other events')
    }),

  test('deliveries.retry',
    'of several concurrent retries of an ended delivery, exactly one queues its event', async (t, webhook) => {
      const lease = await t.leaseOne()
      await t.recordAttempts([failed(lease)])
      const retried = await atOnce(6, () => t.deliveries.retry('acme', webhook.id, lease.deliveryId))
      const [, ...queued] = await t.log(webhook)
      same(queued.map(({ id, status }) => [id, status]), [[retried[0]?.id, 'pending']],
        'the deliveries queued by six retries')
      same(retried, retried.map(() => retried[0]), 'the results, all of the same delivery')
      same((await t.claim()).length, 1, 'the number of due deliveries')
    }),

  test('deliveries.claimDue', 'no delivery is claimed by two concurrent callers', async (t) => {
    await t.addWebhook()
    await t.emitMany(15)
    const claims = await atOnce(8, () => t.claim({ limit: 5 }))
    const ids = deliveryIds([...claims, await t.claimRest()])
    same(ids.length, new Set(ids).size, 'the number of claims, compared with the number of different deliveries')
    same(ids.length, 30, 'the number of deliveries claimed in total, of 30')
  }),

  test('deliveries.claimDue', 'an expired lease is claimed by only one of several concurrent callers', async (t) => {
    await t.emitMany(4)
    await t.claimAll(4, { leaseMs: 20 })
    await t.wait(20)
    const claims = await atOnce(6, () => t.claim({ limit: 4 }))
    const ids = deliveryIds([...claims, await t.claimRest()]).sort((a, b) => a - b)
    same(ids, [...new Set(ids)], 'the claimed deliveries, compared with the different ones')
    same(ids.length, 4, 'the number of deliveries claimed again, of 4')
  }),

  test('deliveries.claimDue', 'perEndpoint limits the leases of a webhook across concurrent callers', async (t) => {
    await t.emitMany(20)
    const claims = await atOnce(8, () => t.claim({ limit: 10, perEndpoint: 3 }))
    const first = deliveryIds(claims).length
    holds(first <= 3, `eight concurrent claims lease at most 3 deliveries of one webhook, not ${first}`)
    same(first + (await t.claim({ limit: 10, perEndpoint: 3 })).length, 3, 'the number of leases after one more claim')
  }),

  // About concurrent results and replays.
  test('deliveries.recordAttempts',
    'of several concurrent results for one lease, exactly one counts', async (t, webhook) => {
      const lease = await t.leaseOne()
      await atOnce(6, (index) => t.recordAttempts([index % 2 === 0 ? failed(lease) : retry(lease)]))
      const [delivery] = await t.log(webhook)
      same(delivery?.attempt_count, 1, 'the number of attempts after six concurrent results')
    }),

  test('deliveries.recordAttempts',
    'of several concurrent 410 results, exactly one creates the notice', async (t, webhook) => {
      const leases = await t.lease(4)
      const given = await Promise.all(leases.map((lease) => t.recordAttempts([failed(lease, { isGone: true })])))
      same(given.flat().map(({ kind }) => kind), ['gone'], 'the notices of four concurrent calls')
      same(statuses(await t.log(webhook)).filter((status) => status === 'pending'), [], 'the pending deliveries')
    }),

  emptyTest('deliveries.recordAttempts', 'concurrent results of different deliveries are all counted', async (t) => {
    const ids = [(await t.addWebhook()).id, (await t.addWebhook()).id, (await t.addWebhook()).id]
    await t.emitMany(10)
    const leases = await t.claim()
    const batches = [0, 1, 2, 3, 4].map((start) => leases.filter((_, index) => index % 5 === start))
    await Promise.all(batches.map((batch) => t.recordAttempts(batch.toReversed().map(delivered))))
    const counts = await Promise.all(ids.map((id) => t.deliveries.count('acme', id, { status: 'delivered' })))
    same([counts, await t.webhooks.count('acme', { status: 'active' })], [[10, 10, 10], 3],
      'the number of delivered deliveries of three webhooks, and of active webhooks, after five concurrent calls')
  }),

  test('deliveries.replay', 'of several concurrent replays, only one queues an event', async (t, webhook) => {
    await t.recordAttempts((await t.lease(2)).map((lease) => failed(lease)))
    const results = await atOnce(4, () => t.replay(webhook))
    same(results.reduce((sum, result) => sum + Number(result?.queued), 0), 2, 'the total queued by four replays')
    same(statuses(await t.log(webhook)), ['failed', 'failed', 'pending', 'pending'], 'the log')
  }),

  test('deliveries.record', 'events recorded concurrently by several apps are all delivered', async (t, webhook) => {
    const results = await atOnce(20, (index) => t.emit({ idempotencyKey: `key ${index}` }))
    same(results.map(({ deliveries }) => deliveries), results.map(() => 1), 'the deliveries counted for twenty events')
    same([(await t.log(webhook)).length, (await t.claim()).length], [20, 20],
      'the number of deliveries logged, and due')
  }),

  test('deliveries.claimDue',
    'nothing is claimed for a webhook deactivated while events were recorded', async (t, { id }) => {
      await Promise.all([
        t.emit(), t.emit(), t.emit(), t.webhooks.update('acme', id, { status: 'inactive' }), t.emit(), t.emit(),
        t.emit()
      ])
      same(await t.claim(), [], 'the claimed deliveries')
    }),

  test('deliveries.recordAttempts',
    'results reported while a webhook is deactivated or its events are erased are all recorded', async (t, webhook) => {
      for (let i = 0; i < 12; i++) await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      const leases = await t.claimAll(12)
      await Promise.all([
        ...leases.slice(0, 6).map((lease) => t.recordAttempts([retry(lease)])),
        t.deliveries.erase('acme', 'candidate:1'), t.webhooks.update('acme', webhook.id, { status: 'inactive' }),
        ...leases.slice(6).map((lease) => t.recordAttempts([delivered(lease)]))
      ])
      const ended = await t.log(webhook)
      same(ended.map(({ attempt_count: count }) => count), ended.map(() => 1),
        'the number of attempts of each delivery')
      same(statuses(ended).slice(6), statuses(ended).slice(6).map(() => 'delivered'),
        'the status of the delivered ones')
      same([statuses(ended).filter((status) => status === 'pending'), await t.claim()], [[], []],
        'the pending deliveries, and the claimed ones')
    }),

  // About concurrent changes of webhooks.
  test('webhooks.create',
    'of several concurrent creations for the last free place, exactly one succeeds', async (t) => {
      await t.addWebhook({ tenantSlug: 'globex' })
      const ids = await atOnce(6, () => t.webhooks.nextId('acme'))
      same(new Set(ids).size, 6, 'the number of different ids from six concurrent calls')
      const created = await Promise.all(ids.map((id) => t.webhooks.create('acme', createWebhook(id), { maxPerTenant: 2 })))
      same(created.filter((webhook) => webhook !== null).length, 1,
        'the number of successes of six concurrent creations')
      same(await t.webhooks.count('acme', {}), 2, 'the number of webhooks with maxPerTenant 2')
    }),

  test('webhooks.update', 'concurrent changes of different fields are all applied', async (t, webhook) => {
    const changes = {
      name: 'New',
      target_url: 'https://hooks.example/new',
      event_types: ['b.c', 'a.b'],
      status: 'inactive' as const
    }
    await Promise.all([
      t.webhooks.update('acme', webhook.id, { name: changes.name }),
      t.webhooks.update('acme', webhook.id, { target_url: changes.target_url }),
      t.webhooks.update('acme', webhook.id, { event_types: changes.event_types }),
      t.webhooks.update('acme', webhook.id, { status: changes.status })
    ])
    const shown = await t.webhooks.find('acme', webhook.id)
    same(shown, { ...webhook, ...changes, updated_at: shown?.updated_at }, 'the webhook after four concurrent changes')
  }),

  emptyTest('webhooks.rotateSecret',
    'of two concurrent rotations, the later one keeps the secret of the earlier one as the previous secret', async (t) => {
      const { id } = await t.addWebhook({ secret: 'a' })
      const rotate = (secret: string) => t.webhooks.rotateSecret('acme', id, { secret, gracePeriodSeconds: 60 })
      await Promise.all([rotate('b'), rotate('c')])
      same((await t.webhooks.findSecrets('acme', id))?.toSorted(), ['b', 'c'], 'the secrets, in any order')
    }),

  test('webhooks.update',
    'deliveries recorded after a webhook was reactivated are not skipped', async (t, webhook) => {
      await t.emitMany(20)
      const stopping = t.webhooks.update('acme', webhook.id, { status: 'inactive' })
      const isStopped = await eventually(async () => (await t.webhooks.find('acme', webhook.id))?.status === 'inactive')
      await t.webhooks.update('acme', webhook.id, { status: 'active' })
      await t.emit()
      await stopping
      same([isStopped, eventIds(await t.claim())], [true, ['evt_21']],
        'the webhook was stopped, and the deliveries claimed afterwards')
      const isShown = await eventually(
        async () => statuses(await t.log(webhook)).filter((status) => status === 'skipped').length === 20
      )
      same([isShown, statuses(await t.log(webhook)).at(-1)], [true, 'pending'], 'the log')
    }),

  test('webhooks.delete', 'of several concurrent deletions, exactly one finds the webhook', async (t, { id }) => {
    const deleted = await atOnce(4, () => t.webhooks.delete('acme', id))
    same(deleted.filter(Boolean).length, 1, 'the number of four deletions that return true')
  })
]
