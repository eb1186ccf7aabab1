import { benchCase, eventIds } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, retry } from '../support/samples.js'

/** Cases about paused webhooks. */
export const pauseCases = [
  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a pause applies to all deliveries of the webhook and to no other webhook'
  }, async ({ addWebhook, emit, claim, claimOne, recordAttempts }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emit()
    await recordAttempts([retry(await claimOne(), { pauseMs: 600_000 })])
    await emit()
    await emit({ tenantSlug: 'globex' })
    same(eventIds(await claim()), ['evt_3'], 'the claimed deliveries while the webhook of evt_2 is paused')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'deliveries continue when the pause ends'
  }, async ({ addWebhook, emitMany, claim, claimOne, recordAttempts, wait }) => {
    await addWebhook()
    await emitMany(2)
    await recordAttempts([retry(await claimOne(), { pauseMs: 50 })])
    await wait(50)
    same(eventIds(await claim()), ['evt_2'], 'the claimed deliveries after the pause')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a pause also delays a delivery that is due sooner'
  }, async ({ addWebhook, emitMany, claim, claimAll, recordAttempts, wait }) => {
    await addWebhook()
    await emitMany(2)
    const [first, second] = await claimAll(2)
    await recordAttempts([retry(first, { retryInMs: 600_000, pauseMs: 600_000 }), retry(second, { retryInMs: 10 })])
    await wait(10)
    same(await claim(), [], 'the claimed deliveries when one would be due')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a shorter pause, or none, does not shorten a longer one'
  }, async ({ addWebhook, emitMany, claim, claimAll, recordAttempts, wait }) => {
    await addWebhook()
    await emitMany(5)
    const [first, second, third, fourth] = await claimAll(4)
    await recordAttempts([retry(first, { pauseMs: 600_000 }), retry(second, { pauseMs: 10 })])
    await recordAttempts([retry(third, { pauseMs: 10 }), retry(fourth, { pauseMs: 0 })])
    await wait(10)
    same(await claim(), [], 'the claimed deliveries after the shorter pauses')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a success ends the pause'
  }, async ({ addWebhook, emitMany, claim, claimAll, recordAttempts }) => {
    await addWebhook()
    await emitMany(3)
    const [first, second] = await claimAll(2)
    await recordAttempts([retry(first, { pauseMs: 600_000 })])
    same(await claim(), [], 'the claimed deliveries during the pause')
    await recordAttempts([delivered(second)])
    same(eventIds(await claim()), ['evt_3'], 'the claimed deliveries after another delivery succeeded')
  }),

  benchCase('deliveries', {
    port: 'webhooks.update', name: 'a webhook made active is no longer paused'
  }, async ({ webhooks, addWebhook, emit, claim, claimOne, recordAttempts }) => {
    const { id } = await addWebhook()
    await emit()
    await recordAttempts([retry(await claimOne(), { pauseMs: 600_000 })])
    await emit()
    await webhooks.update('acme', id, { name: 'Still paused' })
    same(await claim(), [], 'the claimed deliveries after a change of its name')
    await webhooks.update('acme', id, { status: 'active' })
    same(eventIds(await claim()), ['evt_2'], 'the claimed deliveries after it was made active')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats', name: 'paused deliveries are pending, but not due'
  }, async ({ deliveries, addWebhook, emit, emitMany, claimAll, recordAttempts }) => {
    await addWebhook()
    await emitMany(2)
    const [first] = await claimAll(2)
    if (first) await recordAttempts([retry(first, { retryInMs: 0, pauseMs: 300_000 })])
    await emit()
    const { pending, due, leased } = await deliveries.stats()
    same({ pending, due, leased }, { pending: 3, due: 1, leased: 1 },
      'the stats with one leased, one to retry and one new delivery')
  })
]
