import { benchCase, eventIds, progress } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, disableAtTwo, failed, retry } from '../support/samples.js'

const moved = { target_url: 'https://hooks.example/moved' }

/** Cases about attempts sent to an old address. */
export const addressCases = [
  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a late 410 from an old address disables nothing'
  }, async ({ webhooks, addWebhook, emitMany, claimOne, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emitMany(2)
    const lease = await claimOne()
    await webhooks.update('acme', webhook.id, moved)
    same(await recordAttempts([failed(lease, { isGone: true })], disableAtTwo), [], 'the notices')
    same((await webhooks.find('acme', webhook.id))?.status, 'active', 'its status')
    same(progress(await log(webhook)), [['failed', 1], ['pending', 0]], 'its log')
    const next = await claimOne()
    same([next.targetUrl, next.isFailing], [moved.target_url, false], 'targetUrl and isFailing of the next claim')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'late failures and pauses of an old address do not count for the new one'
  }, async ({ webhooks, addWebhook, emitMany, claim, claimAll, recordAttempts }) => {
    const { id } = await addWebhook()
    await emitMany(4)
    const [first, second, third] = await claimAll(3)
    await webhooks.update('acme', id, moved)
    same(
      await recordAttempts([failed(first), failed(second), retry(third, { pauseMs: 600_000 })], disableAtTwo),
      [],
      'the notices of three late failures'
    )
    same(
      (await claim()).map(({ eventId, isFailing }) => [eventId, isFailing]),
      [['evt_4', false]],
      'the deliveries claimed afterwards'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a late success of an old address does not clear the record of the new one'
  }, async ({ webhooks, addWebhook, emitMany, claimOne, recordAttempts }) => {
    const { id } = await addWebhook()
    await emitMany(3)
    const late = await claimOne()
    await webhooks.update('acme', id, moved)
    await recordAttempts([failed(await claimOne())], disableAtTwo)
    await recordAttempts([delivered(late)], disableAtTwo)
    same((await claimOne()).isFailing, true, 'isFailing of the new address')
  }),

  benchCase('deliveries', {
    port: 'webhooks.update', name: 'a new address ends the pause and clears the record of failures'
  }, async ({ webhooks, addWebhook, emitMany, claim, claimAll, recordAttempts }) => {
    const { id } = await addWebhook()
    await emitMany(4)
    const [first, second] = await claimAll(2)
    await recordAttempts([failed(first), retry(second, { pauseMs: 600_000 })], disableAtTwo)
    await webhooks.update('acme', id, { target_url: `https://hooks.example/${id}` })
    same(await claim(), [], 'the claimed deliveries after an update with the same address')
    await webhooks.update('acme', id, moved)
    const claimed = await claim()
    same(
      [eventIds(claimed), claimed.map(({ isFailing }) => isFailing)],
      [
        ['evt_3', 'evt_4'],
        [false, false]
      ],
      'the deliveries claimed afterwards'
    )
    same(
      await recordAttempts(
        [...claimed.slice(0, 1)].map((lease) => failed(lease)),
        disableAtTwo
      ),
      [],
      'the notices of its first failure'
    )
  })
]
