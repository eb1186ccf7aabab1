import { benchCase, eventIds } from '../support/bench.js'
import { same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const counts = 'An attempt says nothing of a webhook whose `target_url` is another one now.'
const clean = 'Made `active`, it starts with a clean record of failures and is no longer paused; so it does with another `target_url`.'

const moved = { target_url: 'https://hooks.example/moved' }
const rule = { failingForSeconds: 0, failedDeliveries: 2, warnAfterSeconds: 1e8 }

/** Cases about attempts that were sent to an earlier address. */
export const addressCases = [
  benchCase('deliveries', {
    port: 'deliveries.complete', says: counts, name: 'a late 410 of an earlier address disables nothing'
  }, async ({ webhooks, addWebhook, emitMany, claimOne, complete, log }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const lease = await claimOne()
    await webhooks.update('acme', webhook.id, moved)
    same(await complete([failed(lease, { isGone: true })], rule), [], 'the notices')
    same((await webhooks.find('acme', webhook.id))?.status, 'active', 'its status')
    same((await log(webhook)).map(({ status, attempt_count: count }) => [status, count]), [['failed', 1], ['pending', 0]], 'its log')
    const next = await claimOne()
    same([next.targetUrl, next.isFailing], [moved.target_url, false], 'the address of the next claim, and whether it is failing')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: counts, name: 'late failures and pauses of an earlier address do not count for the new one'
  }, async ({ webhooks, addWebhook, emitMany, claim, claimAll, complete }) => {
    const { id } = await addWebhook()
    await emitMany(4)
    const [first, second, third] = await claimAll(3)
    await webhooks.update('acme', id, moved)
    same(await complete([failed(first), failed(second), retry(third, { pauseMs: 600_000 })], rule), [], 'the notices of three late failures')
    same((await claim()).map(({ eventId, isFailing }) => [eventId, isFailing]), [['evt_4', false]], 'what is claimed then')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: counts, name: 'a late success of an earlier address does not clear the record of the new one'
  }, async ({ webhooks, addWebhook, emitMany, claimOne, complete }) => {
    const { id } = await addWebhook()
    await emitMany(3)
    const late = await claimOne()
    await webhooks.update('acme', id, moved)
    await complete([failed(await claimOne())], rule)
    await complete([delivered(late)], rule)
    same((await claimOne()).isFailing, true, 'whether the new address is failing')
  }),

  benchCase('deliveries', {
    port: 'webhooks.update', says: clean, name: 'a pause and a record of failures end with another address'
  }, async ({ webhooks, addWebhook, emitMany, claim, claimAll, complete }) => {
    const { id } = await addWebhook()
    await emitMany(4)
    const [first, second] = await claimAll(2)
    await complete([failed(first), retry(second, { pauseMs: 600_000 })], rule)
    await webhooks.update('acme', id, { target_url: `https://hooks.example/${id}` })
    same(await claim(), [], 'what is claimed when it was given the address that it has')
    await webhooks.update('acme', id, moved)
    const claimed = await claim()
    same([eventIds(claimed), claimed.map(({ isFailing }) => isFailing)], [['evt_3', 'evt_4'], [false, false]], 'what is claimed then')
    same(await complete([...claimed.slice(0, 1)].map((lease) => failed(lease)), rule), [], 'the notices of its first failure')
  })
]
