import { benchCase, eventIds } from '../support/bench.js'
import { same } from '../support/expect.js'
import { delivered, retry } from '../support/samples.js'

const pauses = 'Pauses the webhook for so long; 0 for not at all.'
const ends =
  'The webhook counts as failing from its first failed attempt until something is delivered, which also ends its ' +
  'pause.'
const active = 'Made `active`, it starts with a clean record of failures and is no longer paused; so it does with another `target_url`.'
const due = 'Deliveries that could be attempted now, leased ones included; those of paused webhooks are not.'

/** Cases about endpoints that are paused. */
export const pauseCases = [
  benchCase('deliveries', {
    port: 'deliveries.complete',
    says: pauses,
    name: 'a pause keeps back the other deliveries of the webhook, and of no other webhook'
  }, async ({ addWebhook, emit, claim, claimOne, complete }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emit()
    await complete([retry(await claimOne(), { pauseMs: 600_000 })])
    await emit()
    await emit({ tenantSlug: 'globex' })
    same(eventIds(await claim()), ['evt_3'], 'what is claimed while the webhook of evt_2 is paused')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: pauses, name: 'a pause is over when its time is, and the other deliveries go on'
  }, async ({ addWebhook, emitMany, claim, claimOne, complete, wait }) => {
    await addWebhook()
    await emitMany(2)
    await complete([retry(await claimOne(), { pauseMs: 50 })])
    await wait(50)
    same(eventIds(await claim()), ['evt_2'], 'what is claimed after the pause')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: pauses, name: 'a pause keeps back a delivery that is due sooner, too'
  }, async ({ addWebhook, emitMany, claim, claimAll, complete, wait }) => {
    await addWebhook()
    await emitMany(2)
    const [first, second] = await claimAll(2)
    await complete([retry(first, { retryInMs: 600_000, pauseMs: 600_000 }), retry(second, { retryInMs: 10 })])
    await wait(10)
    same(await claim(), [], 'what is claimed when a delivery would be due')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: pauses, name: 'a shorter pause, or none, does not shorten a longer one'
  }, async ({ addWebhook, emitMany, claim, claimAll, complete, wait }) => {
    await addWebhook()
    await emitMany(5)
    const [first, second, third, fourth] = await claimAll(4)
    await complete([retry(first, { pauseMs: 600_000 }), retry(second, { pauseMs: 10 })])
    await complete([retry(third, { pauseMs: 10 }), retry(fourth, { pauseMs: 0 })])
    await wait(10)
    same(await claim(), [], 'what is claimed when the shorter pauses are over')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: ends, name: 'something delivered ends the pause'
  }, async ({ addWebhook, emitMany, claim, claimAll, complete }) => {
    await addWebhook()
    await emitMany(3)
    const [first, second] = await claimAll(2)
    await complete([retry(first, { pauseMs: 600_000 })])
    same(await claim(), [], 'what is claimed during the pause')
    await complete([delivered(second)])
    same(eventIds(await claim()), ['evt_3'], 'what is claimed when another delivery has arrived')
  }),

  benchCase('deliveries', {
    port: 'webhooks.update', says: active, name: 'a webhook made active is no longer paused'
  }, async ({ webhooks, addWebhook, emit, claim, claimOne, complete }) => {
    const { id } = await addWebhook()
    await emit()
    await complete([retry(await claimOne(), { pauseMs: 600_000 })])
    await emit()
    await webhooks.update('acme', id, { name: 'Still paused' })
    same(await claim(), [], 'what is claimed after a change of its name')
    await webhooks.update('acme', id, { status: 'active' })
    same(eventIds(await claim()), ['evt_2'], 'what is claimed when it was made active')
  }),

  benchCase('deliveries', {
    port: 'deliveries.stats', says: due, name: 'what is paused is pending, but not due'
  }, async ({ deliveries, addWebhook, emit, emitMany, claimAll, complete }) => {
    await addWebhook()
    await emitMany(2)
    const [first] = await claimAll(2)
    if (first) await complete([retry(first, { retryInMs: 0, pauseMs: 300_000 })])
    await emit()
    const { pending, due, leased } = await deliveries.stats()
    same({ pending, due, leased }, { pending: 3, due: 1, leased: 1 },
      'the figures with one leased, one to be tried again and one new')
  })
]
