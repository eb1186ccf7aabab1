import type { ClaimedDelivery } from '../../../core/ports/index.js'
import { benchCases, eventIds, progress, statuses, webhookCases } from '../support/driver.js'
import { exactly, isInstant, same } from '../support/expect.js'
import { delivered, disableAtOnce, disableAtTwo, failed, lenient, postponed, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')

function before (date: string, ms: number): string {
  return new Date(Date.parse(date) - ms).toISOString()
}

const moved = { target_url: 'https://hooks.example/moved' }

function withoutTime (claimed: ClaimedDelivery | undefined): Omit<ClaimedDelivery, 'claimedAt'> | undefined {
  if (claimed === undefined) return undefined
  const { claimedAt, ...rest } = claimed
  return rest
}

export const attemptCases = [
  // About the results of attempts.
  test('recordAttempts', 'a successful attempt marks the delivery as delivered', async (t, webhook) => {
    const lease = await t.leaseOne()
    const waiting = await t.deliveries.find('acme', webhook.id, lease.deliveryId)
    same(waiting?.attempts, [], 'the attempts before the claim is completed')
    await t.recordAttempts([delivered(lease)])
    const shown = await t.deliveries.find('acme', webhook.id, lease.deliveryId)
    const deliveredAt = shown?.delivered_at
    isInstant(deliveredAt, 'delivered_at is an RFC 3339 date in UTC with milliseconds')
    const response = { response_status: 204, error: null, detail: null }
    same(shown, {
      ...waiting,
      ...response,
      status: 'delivered',
      attempt_count: 1,
      next_attempt_at: null,
      delivered_at: deliveredAt,
      attempts: [{ ...response, started_at: before(deliveredAt, 20), duration_ms: 20, response_excerpt: null }],
      body: '{"id":"evt_1"}'
    }, 'the delivery with its attempts')
    same(await t.deliveries.find('acme', webhook.id, lease.deliveryId, { omitBody: true }), { ...shown, body: '' },
      'the delivery without its body')
  }),

  test('recordAttempts', 'attempts are stored in the order they were made', async (t, webhook) => {
    await t.attempt((lease) => ({ ...retry(lease, { retryInMs: 50 }), detail: 'reset' }))
    const { deliveryId } = await t.wait(50).then(() => t.claimOne({ leaseMs: 10 }))
    const shown = await t.deliveries.find('acme', webhook.id, deliveryId)
    const nextAttemptAt = shown?.next_attempt_at
    isInstant(nextAttemptAt, 'next_attempt_at is an RFC 3339 date in UTC with milliseconds')
    const response = { response_status: 503, error: 'http_status' as const, detail: 'reset' as const }
    const first = { ...response, started_at: before(nextAttemptAt, 80), duration_ms: 30, response_excerpt: null }
    same(shown, { ...shown, ...response, status: 'pending', attempt_count: 1, attempts: [first] },
      'the delivery and its attempts: the first ended 50 ms before the next one is due')

    await t.wait(10)
    await t.complete(failed)
    const final = await t.deliveries.find('acme', webhook.id, deliveryId)
    same(final?.attempts.map(({ duration_ms: ms, response_status: status, error }) => [ms, status, error]),
      [[30, 503, 'http_status'], [40, null, 'timeout']], 'both attempts')
    const ended = { status: 'failed', attempt_count: 2, next_attempt_at: null, delivered_at: null }
    same(final, { ...final, ...ended, response_status: null, error: 'timeout', detail: null },
      'the failed delivery')
  }),

  test('recordAttempts', 'the log contains each error and detail unchanged', async (t, webhook) => {
    await t.emitMany(6)
    const errors = ['timeout', 'connection', 'tls', 'blocked', 'http_status', null] as const
    const details = [null, 'refused', 'certificate_expired', null, null, null] as const
    const leases = await t.claimAll(6)
    await t.recordAttempts(leases.map((lease, index) => ({
      ...failed(lease), error: errors[index] ?? null, ...details[index] == null ? {} : { detail: details[index] }
    })))
    const shown = await t.log(webhook)
    same([shown.map(({ error }) => error), shown.map(({ detail }) => detail)], [errors, details],
      'the errors and details of six failed deliveries')
  }),

  emptyTest('webhooks.update',
    'deactivating a webhook skips its pending deliveries, including leased and waiting ones', async (t) => {
      const webhook = await t.addWebhook({ event_types: ['job.created'] })
      const other = await t.addWebhook()
      await t.emitMany(4, { type: 'job.created' })
      await t.emit()
      const leases = (await t.claimAll(4)).filter(({ webhookId }) => webhookId === webhook.id)
      const [ended, waiting] = exactly(leases, 3, 'deliveries of this webhook in a claim of 4')
      await t.recordAttempts([delivered(ended), retry(waiting, { retryInMs: 10 })])
      await t.webhooks.update('acme', webhook.id, { status: 'inactive' })
      same((await t.log(webhook)).map(({ status, next_attempt_at: next }) => [status, next]),
        [['delivered', null], ['skipped', null], ['skipped', null], ['skipped', null]],
        'the log: one delivered, one waiting, one leased, one due')
      same([(await t.log(other)).map(({ status }) => status), (await t.deliveries.stats()).pending], [['pending'], 1],
        'the log of another webhook, and the number pending')
      await t.webhooks.update('acme', webhook.id, { status: 'active' })
      await t.wait(10)
      same((await t.claim()).filter(({ webhookId }) => webhookId === webhook.id), [],
        'the claimed deliveries when it is active again')
    }),

  test('webhooks.delete', 'deleting a webhook leaves nothing to deliver', async (t, webhook) => {
    await t.emitMany(2)
    const { deliveryId } = await t.claimOne()
    await t.webhooks.delete('acme', webhook.id)
    const { pending, due, leased, oldestDueMs } = await t.deliveries.stats()
    same([pending, due, leased, oldestDueMs], [0, 0, 0, 0], 'the stats')
    same([await t.claim(), await t.deliveries.hasPending(1e9)], [[], false], 'the claimed deliveries, and hasPending')
    same([await t.log(webhook), await t.deliveries.count('acme', webhook.id, {})], [[], 0], 'its log, and its length')
    same(await t.deliveries.find('acme', webhook.id, deliveryId), null, 'a delivery of its log')
  }),

  test('recordAttempts',
    'a delivery skipped during its attempt stays skipped, unless the attempt succeeds',
    async (t, webhook) => {
      const [first, second, third, fourth] = await t.lease(5)
      await t.skipPending(webhook.id)
      const detailed = { ...failed(third), detail: 'reset' as const }
      await t.recordAttempts([delivered(first), retry(second, { retryInMs: 10 }), detailed, postponed(fourth, 10)])
      const shown = await t.log(webhook)
      same(shown[2]?.detail, 'reset', 'the detail of the failed attempt')
      same(progress(shown), [['delivered', 1], ['skipped', 1], ['skipped', 1], ['skipped', 0], ['skipped', 0]],
        'status and attempts of one delivered, one to retry, one failed, one postponed, one without a result')
      same(shown.map(({ delivered_at: at }) => at === null), [false, true, true, true, true], 'delivered_at is null')
      await t.wait(10)
      same(await t.claim(), [], 'the deliveries claimed afterwards')
    }),

  test('recordAttempts', 'a postponed attempt only changes when its delivery is due', async (t, webhook) => {
    await t.attempt((lease) => retry(lease, { retryInMs: 0 }))
    const soon = await t.claimOne()
    await t.recordAttempts([postponed(soon, 10)])
    await t.wait(10)
    const lease = await t.claimOne()
    same([lease.deliveryId, lease.attemptCount], [soon.deliveryId, 1], 'the delivery claimed later, and its attempts')
    const before = await t.deliveries.find('acme', webhook.id, lease.deliveryId)
    const health = await t.webhooks.find('acme', webhook.id)
    same(await t.recordAttempts([postponed(lease, 600_000)], disableAtOnce), [], 'the notices')
    const after = await t.deliveries.find('acme', webhook.id, lease.deliveryId)
    same({ ...after, next_attempt_at: null }, { ...before, next_attempt_at: null }, 'the delivery, with one attempt')
    same(await t.webhooks.find('acme', webhook.id), health, 'the webhook, with its health')
    same(await t.claim(), [], 'the deliveries claimed before it is due')
  }),

  test('recordAttempts', 'results for a webhook deleted during the attempt are ignored', async (t, webhook) => {
    const [first, second, third, fourth] = await t.lease(4)
    await t.webhooks.delete('acme', webhook.id)
    const results = [delivered(first), retry(second, { retryInMs: 0 }), failed(third, { isGone: true })]
    same(await t.recordAttempts(results, disableAtOnce), [], 'the notices')
    await t.deliveries.release([fourth])
    same([await t.claim(), await t.webhooks.find('acme', webhook.id)], [[], null],
      'the deliveries claimed afterwards, and the webhook')
  }),

  // About attempts sent to an old address.
  test('recordAttempts',
    'late failures, pauses and 410s of an old address do not affect the new one', async (t, { id }) => {
      await t.emitMany(5)
      const [first, second, third, fourth] = await t.claimAll(4)
      await t.webhooks.update('acme', id, moved)
      const late = [failed(first), failed(second), retry(third, { pauseMs: 600_000 }), failed(fourth, { isGone: true })]
      same(await t.recordAttempts(late, disableAtTwo), [], 'the notices of four late failures')
      same((await t.webhooks.find('acme', id))?.status, 'active', 'the status of the webhook')
      same((await t.claim()).map(({ eventId, targetUrl, isFailing }) => [eventId, targetUrl, isFailing]),
        [['evt_5', moved.target_url, false]], 'the deliveries claimed afterwards')
    }),

  test('recordAttempts',
    'a late success of an old address does not clear the failures of the new one', async (t, { id }) => {
      await t.emitMany(3)
      const late = await t.claimOne()
      await t.webhooks.update('acme', id, moved)
      await t.complete(failed, disableAtTwo)
      await t.recordAttempts([delivered(late)], disableAtTwo)
      same((await t.claimOne()).isFailing, true, 'isFailing of the new address')
    }),

  test('webhooks.update', 'a new address ends the pause and clears the failures', async (t, { id }) => {
    await t.emitMany(4)
    const [first, second] = await t.claimAll(2)
    await t.recordAttempts([failed(first), retry(second, { pauseMs: 600_000 })], disableAtTwo)
    await t.webhooks.update('acme', id, { target_url: `https://hooks.example/${id}` })
    same(await t.claim(), [], 'the claimed deliveries after an update with the same address')
    await t.webhooks.update('acme', id, moved)
    const claimed = await t.claim()
    same([eventIds(claimed), claimed.map(({ isFailing }) => isFailing)], [['evt_3', 'evt_4'], [false, false]],
      'the deliveries claimed afterwards')
    same(await t.recordAttempts([...claimed.slice(0, 1)].map((lease) => failed(lease)), disableAtTwo), [],
      'the notices of its first failure')
  }),

  // About leases and the results that count.
  test('claimDue', 'a delivery is claimed again with a greater fence after its lease expires', async (t) => {
    await t.emitMany(2)
    const first = await t.claimOne({ leaseMs: 50 })
    await t.wait(50)
    const [second, other] = await t.claim()
    same(
      withoutTime(second), { ...withoutTime(first), fence: second?.fence },
      'the claim of the same delivery, unchanged except for the fence'
    )
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'the fence is greater, and the next claimed delivery')
    same(await t.claim(), [], 'the remaining deliveries')
  }),

  test('recordAttempts', 'a result with an old fence is ignored', async (t, webhook) => {
    const lost = await t.leaseOne({ leaseMs: 50 })
    await t.wait(50)
    const held = await t.claimOne()
    const before = await t.deliveries.find('acme', webhook.id, lost.deliveryId)
    for (const result of [failed(lost, { isGone: true }), retry(lost, { pauseMs: 600_000 }), delivered(lost)]) {
      same(await t.recordAttempts([result], disableAtOnce), [], `the notices of a late ${result.outcome} result`)
      same(await t.deliveries.find('acme', webhook.id, lost.deliveryId), before, 'the delivery')
      same(await t.webhooks.find('acme', webhook.id), webhook, 'the webhook')
    }
    await t.deliveries.recordAttempts([delivered(held)], disableAtOnce)
    same(progress(await t.log(webhook)), [['delivered', 1]], 'status and attempts after the result that counts')
  }),

  test('recordAttempts', 'losing one lease of a claim does not affect the others', async (t, webhook) => {
    const [lost, second, third] = await t.lease(4, { leaseMs: 50 })
    await t.wait(50)
    const held = await t.claimOne()
    await t.recordAttempts([failed(lost), delivered(second), delivered(third)])
    same(statuses(await t.log(webhook)), ['pending', 'delivered', 'delivered', 'pending'],
      'the log after three results')
    same(eventIds(await t.claim()), ['evt_4'], 'the deliveries claimed afterwards')
    await t.recordAttempts([delivered(held)])
    same(statuses(await t.log(webhook)), ['delivered', 'delivered', 'delivered', 'pending'],
      'the log after the result that counts')
  }),

  test('recordAttempts', 'a result for a nonexistent delivery is ignored', async (t, webhook) => {
    const lease = await t.leaseOne()
    const unknown = { ...lease, deliveryId: lease.deliveryId + 1000 }
    same(await t.recordAttempts([delivered(unknown), failed(unknown, { isGone: true })], disableAtOnce), [],
      'the notices')
    await t.deliveries.release([unknown])
    same(statuses(await t.log(webhook)), ['pending'], 'the log')
  }),

  test('recordAttempts', 'a late result counts until the delivery is claimed again', async (t, webhook) => {
    const [one, other] = await t.lease(2, { leaseMs: 50 })
    await t.wait(50)
    same((await t.deliveries.stats()).leased, 0, 'the number of leased deliveries when both leases have expired')
    await t.recordAttempts([delivered(one), retry(other)])
    same(progress(await t.log(webhook)), [['delivered', 1], ['pending', 1]], 'status and attempts')
    same(await t.claim(), [], 'the deliveries claimed afterwards')
  }),

  test('recordAttempts', 'a result that is reported several times counts once', async (t, webhook) => {
    const lease = await t.leaseOne()
    await t.recordAttempts([retry(lease), retry(lease)])
    await t.recordAttempts([delivered(lease)])
    same(progress(await t.log(webhook)), [['pending', 1]], 'status and attempts after three reports')
  }),

  test('release', 'a released delivery is due immediately, and no attempt is counted', async (t, webhook) => {
    await t.emitMany(2)
    const first = await t.claimOne()
    await t.deliveries.release([first])
    same(progress(await t.log(webhook)), [['pending', 0], ['pending', 0]], 'status and attempts')
    same((await t.deliveries.stats()).leased, 0, 'the number of leased deliveries')
    const [second, other] = await t.claim()
    same(withoutTime(second), { ...withoutTime(first), fence: second?.fence }, 'the claim of the same delivery')
    same([Number(second?.fence) > first.fence, other?.eventId], [true, 'evt_2'],
      'the fence is greater, and the next claimed delivery')
    const held = { ...first, fence: Number(second?.fence) }
    await t.deliveries.release([held])
    await t.recordAttempts([delivered(held)])
    same(statuses(await t.log(webhook)), ['pending', 'pending'], 'the log after a result of a released lease')
  }),

  test('release', 'release ignores a lease that was lost, completed or released', async (t) => {
    await t.emitMany(2)
    const lost = await t.claimOne({ leaseMs: 50 })
    await t.wait(50)
    const held = await t.claimOne()
    await t.deliveries.release([lost])
    same(eventIds(await t.claim({ limit: 1 })), ['evt_2'],
      'the claimed deliveries after the lost lease of evt_1 was released')
    await t.recordAttempts([delivered(held)])
    await t.deliveries.release([held, held])
    same(await t.claim(), [], 'the claimed deliveries after the completed lease was released')
  }),

  // About deliveries locked by a transaction of the host. A storage without transactions locks none.
  test('recordAttempts',
    'a transaction that erases a delivery does not block results for others', async (t, webhook) => {
      await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      await t.emitMany(2)
      const leases = await t.claimAll(3)
      const open = await t.harness.begin?.()
      if (open !== undefined) await t.deliveries.erase('acme', 'candidate:1', open.transaction)
      const locked = await t.deliveries.recordAttempts(leases.map(delivered), lenient)
      same(locked.map(({ deliveryId, fence }) => [deliveryId, fence]),
        open === undefined ? [] : [[leases[0].deliveryId, leases[0].fence]], 'the returned leases')
      same(statuses(await t.log(webhook)).slice(1), ['delivered', 'delivered'], 'the other deliveries')
      await open?.commit()
      await t.recordAttempts([delivered(leases[0])])
      same(progress(await t.log(webhook)),
        [['delivered', 1], ['delivered', 1], ['delivered', 1]], 'the log after the result was repeated')
    }),

  test('claimDue',
    'a delivery that an open transaction erases is not claimed and does not block other claims',
    async (t, webhook) => {
      await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      await t.emit()
      const open = await t.harness.begin?.()
      await t.deliveries.erase('acme', 'candidate:1', open?.transaction)
      same(eventIds(await t.claim()), ['evt_2'], 'the deliveries claimed during the transaction')
      await open?.commit()
      same(await t.claim(), [], 'the deliveries claimed afterwards')
      same(statuses(await t.log(webhook)), ['cancelled', 'pending'], 'the log')
    })
]
