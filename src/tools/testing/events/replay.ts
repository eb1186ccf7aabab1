import type { Delivery, ReplayResult, Webhook } from '../../../core/ports/index.js'
import {
  benchCases, casesWith, eventIds, progress, statuses, type StorageDriver, webhookCases
} from '../support/driver.js'
import { exactly, given, same } from '../support/expect.js'
import { delivered, disableAtOnce, failed, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')
const filledTest = casesWith(fill, 'deliveries')
const waitingTest = casesWith(makeWaiting, 'deliveries')

function queued (count: number, truncated = false): ReplayResult {
  return { queued: count, truncated }
}

const nothing = queued(0)

// Records evt_1 (delivered), evt_2 (failed), evt_3 (skipped) and evt_4 (pending) a few milliseconds apart.
async function fill ({ webhooks, addWebhook, emit, attempt, wait }: StorageDriver): Promise<Webhook> {
  const webhook = await addWebhook()
  await attempt(delivered)
  await wait(5)
  await attempt(failed)
  await wait(5)
  await webhooks.update('acme', webhook.id, { status: 'inactive' })
  await emit()
  await webhooks.update('acme', webhook.id, { status: 'active' })
  await wait(5)
  await emit()
  return webhook
}

async function claimReplays ({ claim }: StorageDriver): Promise<string[]> {
  return eventIds(await claim()).filter((id) => id !== 'evt_4')
}

function shift (date: string, ms: number): string {
  return new Date(Date.parse(date) + ms).toISOString()
}

// Creates a delivery whose next attempt is due in an hour.
async function makeWaiting (driver: StorageDriver): Promise<{ webhook: Webhook, delivery: Delivery }> {
  const webhook = await driver.addWebhook()
  await driver.emit({ subject: 'candidate:1', tombstone: '{}' })
  await driver.complete(retry)
  const [delivery] = exactly(await driver.log(webhook), 1, 'deliveries in the log')
  return { webhook, delivery }
}

export const replayCases = [
  // About replays.
  filledTest('replay',
    'undelivered events are queued again, as new deliveries of the same events', async (t, webhook) => {
      const before = await t.log(webhook)
      same(await t.replay(webhook), queued(2), 'the result of replay')
      const log = await t.log(webhook)
      same(log.slice(0, 4), before, 'the earlier deliveries')
      same(log.slice(4).map(({ event_id: event, event_type: type }) => [event, type]),
        [['evt_2', 'candidate.created'], ['evt_3', 'candidate.created']], 'the events of the new deliveries')
      same(progress(log.slice(4)), [['pending', 0], ['pending', 0]], 'status and attempts of the new deliveries')
      const claimed = (await t.claim()).filter(({ eventId }) => eventId !== 'evt_4')
      same(claimed.map(({ eventId, body, attemptCount }) => [eventId, body, attemptCount]),
        [['evt_2', '{"id":"evt_2"}', 0], ['evt_3', '{"id":"evt_3"}', 0]], 'the deliveries due at once')
    }),

  filledTest('replay', 'pending events are not queued again, including leased ones', async (t, webhook) => {
    same(await t.replay(webhook, { include: 'all' }), queued(3),
      'a replay of all: every event but evt_4, which is pending')
    same(await t.replay(webhook, { include: 'all' }), nothing, 'another replay')
    same(await claimReplays(t), ['evt_1', 'evt_2', 'evt_3'], 'the claimed deliveries')
    same(await t.replay(webhook, { include: 'all' }), nothing, 'another replay, when all are leased')
  }),

  emptyTest('replay', 'a replay of all events includes those recorded before the webhook was created', async (t) => {
    await t.emit()
    const webhook = await t.addWebhook()
    same(await t.replay(webhook), nothing, 'a replay of undelivered events')
    same(await t.replay(webhook, { include: 'all' }), queued(1), 'a replay of all events')
  }),

  filledTest('replay', 'the last delivery of an event decides whether it counts as delivered', async (t, webhook) => {
    await t.replay(webhook)
    const leases = await t.claim()
    await t.recordAttempts(leases.map((lease) => lease.eventId === 'evt_3' ? delivered(lease) : failed(lease)))
    same(await t.replay(webhook), queued(2), 'a replay after evt_3 was delivered, but not evt_2 and evt_4')
    same(eventIds(await t.claim()), ['evt_2', 'evt_4'], 'the claimed deliveries')
  }),

  test('replay', 'the last delivery is the last one to this webhook, not to another', async (t, mine) => {
    const other = await t.addWebhook()
    await t.emit()
    const leases = await t.claimAll(2)
    await t.recordAttempts(leases.map((lease) => lease.webhookId === mine.id ? delivered(lease) : failed(lease)))
    same([await t.replay(mine), await t.replay(other)], [nothing, queued(1)],
      'replays to the webhook that received it, and to the one that did not')
  }),

  filledTest('replay', 'events are selected by id, tenant and type', async (t, webhook) => {
    await t.emit({ tenantSlug: 'globex' })
    await t.emit({ type: 'job.created' })
    same(await t.replay(webhook, { include: 'all', eventIds: ['evt_5', 'evt_6', 'evt_999'] }), nothing,
      'one of another tenant, one of another type, one that does not exist')
    same(await t.replay(webhook, { include: 'all', eventTypes: ['job.created'] }), nothing,
      'a type that the webhook does not subscribe to')
    same(await t.replay(webhook, { include: 'all', eventTypes: [] }), nothing, 'no type')
    same(await t.replay(webhook, { include: 'all', eventIds: [] }), nothing, 'no id')
    same(await t.replay(webhook, { eventIds: ['evt_3', 'evt_1'] }), queued(1), 'one skipped, one delivered')
    same(await t.replay(webhook, { eventTypes: ['candidate.created', 'job.created'] }), queued(1),
      'the remaining events, by type')
    same(await claimReplays(t), ['evt_3', 'evt_2'], 'the claimed deliveries')
    await t.webhooks.update('acme', webhook.id, { event_types: ['job.created'] })
    same(await t.replay(webhook, { include: 'all' }), queued(1), 'all events, after it subscribed to the other type')
  }),

  filledTest('replay', 'since and until are inclusive, to the millisecond that the log shows', async (t, webhook) => {
    const [, { created_at: early }, { created_at: late }] = exactly(await t.log(webhook), 4, 'deliveries in the log')
    same(await t.replay(webhook, { since: shift(late, 1) }), nothing, 'since a millisecond after evt_3')
    same(await t.replay(webhook, { until: shift(early, -1) }), nothing, 'until a millisecond before evt_2')
    same(await t.replay(webhook, { since: late }), queued(1), 'since evt_3')
    same(await t.replay(webhook, { until: early }), queued(1), 'until evt_2')
    same(await claimReplays(t), ['evt_3', 'evt_2'], 'the claimed deliveries')
  }),

  filledTest('replay', 'at the limit the oldest events are queued and truncated is true', async (t, webhook) => {
    same(await t.replay(webhook, { limit: 1 }), queued(1, true), 'one of two')
    same(await t.replay(webhook, { limit: 1 }), queued(1), 'one of one')
    same(await claimReplays(t), ['evt_2', 'evt_3'], 'the claimed deliveries')
  }),

  filledTest('replay', 'nothing is queued or counted for a webhook that is unknown or not active', async (t, webhook) => {
    const { id } = webhook
    const none = [await t.replay({ id: id + 1000 }), await t.countReplay({ id: id + 1000 })]
    await t.webhooks.update('acme', id, { status: 'inactive' })
    none.push(await t.replay(webhook, { include: 'all' }), await t.countReplay(webhook, { include: 'all' }))
    same([none, await t.deliveries.count('acme', id, {})], [[null, null, null, null], 4],
      'the results for an unknown and an inactive webhook, and the number of deliveries')
  }),

  test('replay', 'a late success does not queue a replayed event twice', async (t, webhook) => {
    const lease = await t.leaseOne()
    await t.skipPending(webhook.id)
    await t.replay(webhook)
    await t.recordAttempts([delivered(lease)])
    same(statuses(await t.log(webhook)), ['delivered', 'pending'], 'the log')
    same(await t.replay(webhook, { include: 'all' }), nothing, 'a replay afterwards')
  }),

  // About the count of a replay.
  emptyTest('countReplay', 'the count of a replay equals the number that it queues', async (t) => {
    const webhook = await t.addWebhook({ event_types: ['candidate.created', 'job.created'] })
    await t.recordAttempts((await t.lease(3)).map((lease) => failed(lease)))
    await t.wait(5)
    await t.emit({ type: 'job.created' })
    await t.complete(delivered)
    await t.emit()
    await t.emit({ tenantSlug: 'globex' })
    await t.emit({ type: 'application.created' })
    const [, , , late] = await t.log(webhook)

    const expected = [
      ['all at the limit', { include: 'all', limit: 4 }, 4, false],
      ['all over the limit', { include: 'all', limit: 3 }, 3, true],
      ['a type', { include: 'all', eventTypes: ['job.created'] }, 1, false],
      ['a type without subscription', { include: 'all', eventTypes: ['application.created'] }, 0, false],
      ['ids', { include: 'all', eventIds: ['evt_2', 'evt_4', 'evt_5', 'evt_6', 'evt_999'] }, 2, false],
      ['no id', { include: 'all', eventIds: [] }, 0, false],
      ['since', { include: 'all', since: late?.created_at ?? '' }, 1, false],
      ['until', { include: 'all', until: late?.created_at ?? '' }, 4, false],
      ['undelivered', {}, 3, false]
    ] as const
    for (const [title, selection, count, isTruncated] of expected) {
      same(await t.countReplay(webhook, selection), queued(count, isTruncated), `the count of ${title}`)
    }

    const steps = [{ limit: 2 }, { eventIds: ['evt_3', 'evt_4'] }, { include: 'all' }, { include: 'all' }] as const
    for (const selection of steps) {
      const counted = await t.countReplay(webhook, selection)
      same(await t.replay(webhook, selection), counted,
        `the result of a replay of ${JSON.stringify(selection)}, after its count`)
    }
  }),

  // About retrying one delivery.
  waitingTest('retry',
    'retrying a scheduled delivery makes it due now and keeps its attempts',
    async (t, { webhook, delivery }) => {
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

  test('retry', 'retrying a delivery that is due or leased changes nothing', async (t, webhook) => {
    await t.emit()
    const before = await t.log(webhook)
    const [{ id }] = exactly(before, 1, 'deliveries in the log')
    await t.wait(5)
    same(await t.deliveries.retry('acme', webhook.id, id), before[0], 'the result for a delivery that is due')
    const lease = await t.claimOne()
    same(await t.deliveries.retry('acme', webhook.id, id), before[0], 'the result for a leased delivery')
    same([await t.log(webhook), await t.claim()], [before, []], 'the log and the due deliveries afterwards')
    same((await t.deliveries.recordAttempts([delivered(lease)], disableAtOnce)).length, 0,
      'the results that were not written')
    same(statuses(await t.log(webhook)), ['delivered'], 'the log after the attempt')
  }),

  waitingTest('retry',
    'a retry does not wait for an open transaction that erases the delivery', async (t, { webhook, delivery }) => {
      const open = await t.harness.begin?.()
      if (open !== undefined) await t.deliveries.erase('acme', 'candidate:1', open.transaction)
      const retried = await t.deliveries.retry('acme', webhook.id, delivery.id)
      same([retried?.id, retried?.status], [delivery.id, 'pending'], 'the result of retry')
      await open?.commit()
      if (open === undefined) await t.erase('candidate:1')
      same([statuses(await t.log(webhook)), await t.claim()], [['cancelled'], []],
        'the log and the due deliveries afterwards')
    }),

  test('retry', 'retrying an ended delivery of any status queues its event again', async (t, webhook) => {
    await t.attempt(delivered)
    await t.attempt(failed)
    await t.webhooks.update('acme', webhook.id, { status: 'inactive' })
    await t.emit()
    await t.webhooks.update('acme', webhook.id, { status: 'active', event_types: ['job.created'] })
    await t.emit({ type: 'job.created', subject: 'job:1', tombstone: '{"erased":true}' })
    await t.erase('job:1')
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
        detail: null,
        next_attempt_at: retried.created_at,
        created_at: retried.created_at,
        delivered_at: null
      }, `the result for the delivery that is ${delivery.status}`)
      same(ended.some(({ id }) => id >= retried.id), false, 'whether an earlier delivery has its id or a greater one')
      same((await t.log(webhook)).at(-1), retried, 'the last delivery of the log')
    }
    same((await t.log(webhook)).slice(0, 4), ended, 'the earlier deliveries')
    await t.emit({ type: 'job.created' })
    const claimed = await t.claim()
    same(eventIds(claimed), ['evt_5', 'evt_1', 'evt_2', 'evt_3', 'evt_4'],
      'the claimed deliveries, after the first attempt of another')
    same(claimed.map(({ body, attemptCount }) => [body, attemptCount]).slice(-2),
      [['{"id":"evt_3"}', 0], ['{"erased":true}', 0]], 'the bodies of the last two')
  }),

  test('retry',
    'retrying an ended delivery whose event is pending again retries the pending one', async (t, webhook) => {
      const other = await t.addWebhook({ event_types: ['job.created'] })
      await t.attempt(failed)
      await t.replay(webhook)
      await t.complete(retry)
      const [first, second] = exactly(await t.log(webhook), 2, 'deliveries in the log')
      same((await t.deliveries.retry('acme', webhook.id, first.id))?.id, second.id, 'the result of retry')
      same(progress(await t.log(webhook)), [['failed', 1], ['pending', 1]], 'the log')
      same((await t.claimOne()).deliveryId, second.id, 'the claimed delivery')
      same(await t.log(other), [], 'the log of another webhook')
    }),

  waitingTest('retry',
    'unknown deliveries, and deliveries of a webhook that is not active, are not retried',
    async (t, { webhook, delivery }) => {
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
