import { benchCase, statuses } from '../support/driver.js'
import { exactly, same } from '../support/expect.js'
import { delivered, disableAtTwo, failed, retry } from '../support/samples.js'

/** Cases about endpoints that are gone. */
export const goneCases = [
  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a webhook that is gone is disabled at once, and its other deliveries are skipped'
  }, async ({ webhooks, addWebhook, emitMany, claim, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    const other = await addWebhook({ tenantSlug: 'globex' })
    await emitMany(3)
    await emitMany(1, { tenantSlug: 'globex' })
    const leases = (await claim({ perEndpoint: 2 })).filter(({ webhookId }) => webhookId === webhook.id)
    const [gone, later] = exactly(leases, 2, 'claimed deliveries of the webhook')
    const notices = await recordAttempts([failed(gone, { isGone: true }), retry(later, { retryInMs: 10 })], {
      ...disableAtTwo,
      failedDeliveries: 100
    })
    same(
      notices.map(({ failingSince, ...rest }) => rest),
      [
        {
          kind: 'gone',
          tenantId: 'acme',
          tenantSlug: 'acme',
          webhookId: webhook.id,
          failedDeliveries: 1,
          lastError: 'http_status',
          lastResponseStatus: 410
        }
      ],
      'the notices, with the response that reports it gone'
    )
    same((await webhooks.find('acme', webhook.id))?.status, 'disabled', 'its status')
    same(
      [statuses(await log(webhook)), statuses(await log(other, 'globex'))],
      [['failed', 'skipped', 'skipped'], ['pending']],
      'the logs of the webhook and of another'
    )
    await wait(10)
    same((await claim()).filter(({ webhookId }) => webhookId === webhook.id), [], 'the deliveries claimed for it')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a webhook that is gone is disabled even with a success in the same call'
  }, async (driver) => {
    const { webhooks, addWebhook, emitMany, claimAll, recordAttempts, wait } = driver
    const { id } = await addWebhook()
    const since = await driver.attempt(failed, disableAtTwo).then(() => webhooks.update('acme', id, {}))
    await emitMany(2)
    const [gone, last] = await claimAll(2)
    await wait(20)
    const [notice] = await recordAttempts([failed(gone, { isGone: true }), delivered(last)], disableAtTwo)
    same(
      [notice?.kind, (await webhooks.find('acme', id))?.status],
      ['gone', 'disabled'],
      'the kind of notice, and the status'
    )
    same(String(notice?.failingSince) > String(since?.updated_at), true, 'failingSince is now')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a webhook is disabled once, and an inactive webhook stays inactive after a late 410'
  }, async ({ webhooks, addWebhook, emitMany, claimAll, recordAttempts }) => {
    const { id } = await addWebhook()
    const inactive = await addWebhook({ event_types: ['job.created'] })
    await emitMany(2)
    await emitMany(1, { type: 'job.created' })
    const leases = await claimAll(3)
    const [first, second] = exactly(
      leases.filter(({ webhookId }) => webhookId === id),
      2,
      'claimed deliveries of one webhook'
    )
    const [late] = exactly(
      leases.filter(({ webhookId }) => webhookId === inactive.id),
      1,
      'claimed deliveries of the other webhook'
    )
    const before = await webhooks.update('acme', inactive.id, { status: 'inactive' })
    const notices = await recordAttempts(
      [failed(first, { isGone: true }), failed(late, { isGone: true })],
      disableAtTwo
    )
    same(notices.map(({ kind, webhookId }) => [kind, webhookId]), [['gone', id]], 'the notices')
    same(await recordAttempts([failed(second, { isGone: true })], disableAtTwo), [], 'the notices of a second 410')
    same(await webhooks.find('acme', inactive.id), before, 'the webhook that the client made inactive')
  })
]
