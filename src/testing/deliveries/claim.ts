import type { AttemptResult } from '../../ports/index.js'
import { benchCase, eventIds } from '../support/driver.js'
import { same } from '../support/expect.js'
import { type Attempted, delivered, failed, retry } from '../support/samples.js'

/** Cases about which deliveries are claimed, and their order. */
export const claimCases = [
  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'a claim has everything needed to attempt a delivery'
  }, async ({ webhooks, addWebhook, emit, claimOne, recordAttempts, wait }) => {
    const { id } = await addWebhook({ secret: 'sesame' })
    await emit({ body: '{"a":1}' })
    await webhooks.update('acme', id, { target_url: 'https://hooks.example/moved' })
    const lease = await claimOne()
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
    await recordAttempts([retry(lease, { retryInMs: 10 })])
    await wait(10)
    const next = await claimOne()
    same(next, { ...claimed, fence: next.fence, attemptCount: 1, isFailing: true }, 'the claim of the second attempt')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue',
    name: 'a claim says whether an attempt to the webhook has failed since its last success'
  }, async ({ webhooks, addWebhook, emitMany, claimOne, recordAttempts }) => {
    const { id } = await addWebhook()
    await emitMany(5)
    const attempt = await claimOne()
    await recordAttempts([retry(attempt)])
    const second = await claimOne()
    await recordAttempts([delivered(second)])
    const third = await claimOne()
    await recordAttempts([failed(third)])
    const fourth = await claimOne()
    await webhooks.update('acme', id, { status: 'active' })
    const fifth = await claimOne()
    same([attempt, second, third, fourth, fifth].map(({ isFailing }) => isFailing), [false, true, false, true, false],
      'isFailing at first, after a failure, after a success, after a failure, after it was made active')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'a claim covers all tenants'
  }, async ({ addWebhook, emit, claim }) => {
    const mine = await addWebhook()
    const theirs = await addWebhook({ tenantSlug: 'globex' })
    await emit()
    await emit({ tenantSlug: 'globex' })
    const claimed = (await claim()).map(({ tenantSlug, webhookId, eventId }) => [tenantSlug, webhookId, eventId])
    same(
      claimed.sort(),
      [
        ['acme', mine.id, 'evt_1'],
        ['globex', theirs.id, 'evt_2']
      ],
      'the claimed deliveries by tenant'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'a claim returns no more than its limit'
  }, async ({ addWebhook, emitMany, claim }) => {
    await addWebhook()
    await addWebhook()
    await emitMany(5)
    same([(await claim({ limit: 1 })).length, (await claim({ limit: 3 })).length, (await claim()).length], [1, 3, 6],
      'with limits 1, 3 and 100 of 10')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'webhooks whose deliveries are leased do not make claims smaller'
  }, async ({ addWebhook, emit, claimAll }) => {
    for (let i = 0; i < 4; i++) await addWebhook({ event_types: ['job.created'] })
    await emit({ type: 'job.created' })
    await claimAll(4)
    for (let i = 0; i < 2; i++) await addWebhook({ event_types: ['job.closed'] })
    // Claims may begin with another webhook each time.
    for (let i = 0; i < 6; i++) {
      await emit({ type: 'job.closed' })
      await claimAll(2)
    }
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a retry is claimed when it is due, not before'
  }, async ({ addWebhook, emitMany, claim, claimAll, recordAttempts, wait }) => {
    await addWebhook()
    await emitMany(2)
    const [soon, late] = await claimAll(2)
    await recordAttempts([retry(soon, { retryInMs: 99.5 }), retry(late, { retryInMs: 3_600_000 })])
    await wait(100)
    same(eventIds(await claim()), ['evt_1'], 'the claimed deliveries when one of two is due')
    same(eventIds(await claim()), [], 'the deliveries claimed after it')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'an ended delivery is never claimed again'
  }, async ({ addWebhook, emitMany, claim, claimAll, recordAttempts, wait }) => {
    await addWebhook()
    await emitMany(2)
    const [one, other] = await claimAll(2, { leaseMs: 100 })
    await recordAttempts([delivered(one), failed(other)])
    await wait(100)
    same(await claim(), [], 'the claimed deliveries when the leases would have expired')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'first attempts come before retries, and both before replays'
  }, async ({ addWebhook, emit, claim, claimOne, recordAttempts, replay, wait }) => {
    const webhook = await addWebhook()
    await emit()
    await recordAttempts([delivered(await claimOne())])
    await replay(webhook, { include: 'all' })
    await emit()
    await recordAttempts([retry(await claimOne(), { retryInMs: 10 })])
    await wait(10)
    await emit()
    same(eventIds(await claim()), ['evt_3', 'evt_2', 'evt_1'], 'a first attempt, a retry, a replay')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue',
    name: 'a retry of a replay comes after first attempts and other retries'
  }, async ({ addWebhook, emit, claim, claimOne, recordAttempts, replay, wait }) => {
    const webhook = await addWebhook()
    await emit()
    await recordAttempts([delivered(await claimOne())])
    await replay(webhook, { include: 'all' })
    await recordAttempts([retry(await claimOne(), { retryInMs: 10 })])
    await emit()
    await recordAttempts([retry(await claimOne(), { retryInMs: 20 })])
    await wait(20)
    same(eventIds(await claim()), ['evt_2', 'evt_1'], 'a retry, a retry of a replay')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue', name: 'among retries, the delivery recorded first comes first'
  }, async ({ addWebhook, emitMany, claim, claimAll, recordAttempts, wait }) => {
    await addWebhook()
    await emitMany(4)
    const [first, second, third, fourth] = await claimAll(4)
    const due = (lease: Attempted, retryInMs: number): AttemptResult => retry(lease, { retryInMs })
    await recordAttempts([due(first, 60), due(second, 20), due(third, 40), due(fourth, 20)])
    await wait(60)
    same(eventIds(await claim()), ['evt_1', 'evt_2', 'evt_3', 'evt_4'], 'retries due after 60, 20, 40 and 20 ms')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimDue',
    name: 'first attempts come in the order in which their events were recorded'
  }, async ({ addWebhook, emit, emitMany, claim, claimOne, wait }) => {
    await addWebhook()
    await emitMany(3)
    await wait(5)
    await emit()
    const one = await claimOne()
    same(
      [one.eventId, ...eventIds(await claim())],
      ['evt_1', 'evt_2', 'evt_3', 'evt_4'],
      'the deliveries of a claim of one, and of the rest'
    )
  })
]
