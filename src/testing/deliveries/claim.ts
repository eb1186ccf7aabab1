import type { AttemptResult } from '../../ports/index.js'
import { benchCases, eventIds } from '../support/driver.js'
import { same } from '../support/expect.js'
import { type Attempted, delivered, failed, retry } from '../support/samples.js'

const test = benchCases('deliveries')

/** Cases about which deliveries are claimed, and their order. */
export const claimCases = [
  test('claimDue', 'a claim has everything needed to attempt a delivery', async (t) => {
    const { id } = await t.addWebhook({ secret: 'sesame' })
    await t.emit({ body: '{"a":1}' })
    await t.webhooks.update('acme', id, { target_url: 'https://hooks.example/moved' })
    const lease = await t.claimOne()
    const claimed = {
      deliveryId: lease.deliveryId,
      fence: lease.fence,
      tenantId: 'acme',
      tenantSlug: 'acme',
      webhookId: id,
      targetUrl: 'https://hooks.example/moved',
      secrets: ['sesame'],
      headers: null,
      eventId: 'evt_1',
      eventType: 'candidate.created',
      body: '{"a":1}',
      traceParent: null,
      attemptCount: 0,
      isFailing: false
    }
    same(lease, claimed, 'the claim of a first attempt')
    same([typeof lease.deliveryId, typeof lease.fence], ['number', 'number'], 'the types of the id and the fence')
    await t.recordAttempts([retry(lease, { retryInMs: 10 })])
    await t.wait(10)
    const next = await t.claimOne()
    same(next, { ...claimed, fence: next.fence, attemptCount: 1, isFailing: true }, 'the claim of the second attempt')
  }),

  test('claimDue', 'a claim says whether an attempt to the webhook has failed since its last success', async (t) => {
    const { id } = await t.addWebhook()
    await t.emitMany(5)
    const attempt = await t.claimOne()
    await t.recordAttempts([retry(attempt)])
    const second = await t.claimOne()
    await t.recordAttempts([delivered(second)])
    const third = await t.claimOne()
    await t.recordAttempts([failed(third)])
    const fourth = await t.claimOne()
    await t.webhooks.update('acme', id, { status: 'active' })
    const fifth = await t.claimOne()
    same([attempt, second, third, fourth, fifth].map(({ isFailing }) => isFailing), [false, true, false, true, false],
      'isFailing at first, after a failure, after a success, after a failure, after it was made active')
  }),

  test('claimDue', 'a claim covers all tenants', async (t) => {
    const mine = await t.addWebhook()
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    await t.emit()
    await t.emit({ tenantSlug: 'globex' })
    const claimed = (await t.claim()).map(({ tenantSlug, webhookId, eventId }) => [tenantSlug, webhookId, eventId])
    same(
      claimed.sort(),
      [
        ['acme', mine.id, 'evt_1'],
        ['globex', theirs.id, 'evt_2']
      ],
      'the claimed deliveries by tenant'
    )
  }),

  test('claimDue', 'a claim returns no more than its limit', async (t) => {
    await t.addWebhook()
    await t.addWebhook()
    await t.emitMany(5)
    for (const [limit, count] of [[1, 1], [3, 3], [100, 6]] as const) {
      same((await t.claim({ limit })).length, count, `the number claimed with limit ${limit}, of ten`)
    }
  }),

  test('claimDue', 'webhooks whose deliveries are leased do not make claims smaller', async (t) => {
    for (let i = 0; i < 4; i++) await t.addWebhook({ event_types: ['job.created'] })
    await t.emit({ type: 'job.created' })
    await t.claimAll(4)
    for (let i = 0; i < 2; i++) await t.addWebhook({ event_types: ['job.closed'] })
    // Claims may begin with another webhook each time.
    for (let i = 0; i < 6; i++) {
      await t.emit({ type: 'job.closed' })
      await t.claimAll(2)
    }
  }),

  test('recordAttempts', 'a retry is claimed when it is due, not before', async (t) => {
    await t.addWebhook()
    const [soon, late] = await t.lease(2)
    await t.recordAttempts([retry(soon, { retryInMs: 99.5 }), retry(late, { retryInMs: 3_600_000 })])
    await t.wait(100)
    same(eventIds(await t.claim()), ['evt_1'], 'the claimed deliveries when one of two is due')
    same(eventIds(await t.claim()), [], 'the deliveries claimed after it')
  }),

  test('claimDue', 'an ended delivery is never claimed again', async (t) => {
    await t.addWebhook()
    const [one, other] = await t.lease(2, { leaseMs: 100 })
    await t.recordAttempts([delivered(one), failed(other)])
    await t.wait(100)
    same(await t.claim(), [], 'the claimed deliveries when the leases would have expired')
  }),

  test('claimDue', 'first attempts come before retries, and both before replays', async (t) => {
    const webhook = await t.addWebhook()
    await t.attempt(delivered)
    await t.replay(webhook, { include: 'all' })
    await t.attempt((lease) => retry(lease, { retryInMs: 10 }))
    await t.wait(10)
    await t.emit()
    same(eventIds(await t.claim()), ['evt_3', 'evt_2', 'evt_1'], 'a first attempt, a retry, a replay')
  }),

  test('claimDue', 'a retry of a replay comes after first attempts and other retries', async (t) => {
    const webhook = await t.addWebhook()
    await t.attempt(delivered)
    await t.replay(webhook, { include: 'all' })
    await t.recordAttempts([retry(await t.claimOne(), { retryInMs: 10 })])
    await t.attempt((lease) => retry(lease, { retryInMs: 20 }))
    await t.wait(20)
    same(eventIds(await t.claim()), ['evt_2', 'evt_1'], 'a retry, a retry of a replay')
  }),

  test('claimDue', 'among retries, the delivery recorded first comes first', async (t) => {
    await t.addWebhook()
    const [first, second, third, fourth] = await t.lease(4)
    const due = (lease: Attempted, retryInMs: number): AttemptResult => retry(lease, { retryInMs })
    await t.recordAttempts([due(first, 60), due(second, 20), due(third, 40), due(fourth, 20)])
    await t.wait(60)
    same(eventIds(await t.claim()), ['evt_1', 'evt_2', 'evt_3', 'evt_4'], 'retries due after 60, 20, 40 and 20 ms')
  }),

  test('claimDue', 'first attempts come in the order in which their events were recorded', async (t) => {
    await t.addWebhook()
    await t.emitMany(3)
    await t.wait(5)
    const one = await t.leaseOne()
    same(
      [one.eventId, ...eventIds(await t.claim())],
      ['evt_1', 'evt_2', 'evt_3', 'evt_4'],
      'the deliveries of a claim of one, and of the rest'
    )
  })
]
