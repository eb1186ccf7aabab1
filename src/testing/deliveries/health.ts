import type { HealthNotice } from '../../ports/index.js'
import { benchCase, eventIds, statuses } from '../support/driver.js'
import { exactly, isInstant, same } from '../support/expect.js'
import { delivered, disableAtTwo, failed, retry } from '../support/samples.js'

function kinds (notices: readonly HealthNotice[]): unknown[] {
  return notices.map(({ kind, failedDeliveries }) => [kind, failedDeliveries])
}

/** Cases about disabling failing webhooks. */
export const healthCases = [
  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a webhook that fails for long enough and often enough is disabled'
  }, async (driver) => {
    const { webhooks, addWebhook, emit, log, claim, wait } = driver
    const webhook = await addWebhook()
    const other = await addWebhook({ tenantSlug: 'globex' })
    same(await driver.attempt(failed, disableAtTwo), [], 'the notices of the first failure')
    await wait(5)
    await emit()
    const [notice, ...more] = await driver.attempt(failed, disableAtTwo)
    isInstant(notice?.failingSince, 'failingSince is an RFC 3339 date in UTC with milliseconds')
    same([notice, ...more], [{
      kind: 'disabled',
      tenantId: 'acme',
      tenantSlug: 'acme',
      webhookId: webhook.id,
      failingSince: notice.failingSince,
      failedDeliveries: 2,
      lastError: 'timeout',
      lastResponseStatus: null
    }], 'the notices of the second')
    const shown = await webhooks.find('acme', webhook.id)
    same(shown, { ...webhook, status: 'disabled', updated_at: shown?.updated_at }, 'the webhook')
    same(
      [String(shown?.updated_at) > webhook.updated_at, notice.failingSince < String(shown?.updated_at)],
      [true, true],
      'updated_at has changed, and is later than failingSince'
    )
    same(statuses(await log(webhook)).toSorted(), ['failed', 'failed', 'skipped'], 'its log')
    same(
      [await claim(), await webhooks.find('globex', other.id)],
      [[], other],
      'the claimed deliveries, and the other webhook'
    )
    same((await emit()).deliveries, 0, 'the deliveries counted for a later event')
    same(statuses(await log(webhook)).at(-1), 'skipped', 'the delivery of that event')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a webhook that fails often, but not for long enough, stays active'
  }, async (driver) => {
    const { id } = await driver.addWebhook()
    const patient = { ...disableAtTwo, failingForSeconds: 3600 }
    for (let i = 0; i < 4; i++) same(await driver.attempt(failed, patient), [], 'the notices')
    same((await driver.webhooks.find('acme', id))?.status, 'active', 'its status after four failures within an hour')
    await driver.wait(1000)
    same(kinds(await driver.attempt(failed, { ...disableAtTwo, failingForSeconds: 1 })), [['disabled', 5]],
      'the notices with a limit of one second')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'retried attempts count towards the time, not towards the number of failed deliveries'
  }, async (driver) => {
    await driver.addWebhook()
    for (let i = 0; i < 3; i++) same(await driver.attempt(retry, disableAtTwo), [], 'the notices of a retry')
    same(await driver.attempt(failed, disableAtTwo), [], 'the notices of the first failed delivery')
    same(await driver.attempt(retry, disableAtTwo), [], 'the notices of one more retry')
    same(
      kinds(await driver.attempt(failed, disableAtTwo)),
      [['disabled', 2]],
      'the notices of the second failed delivery'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a failed attempt with a retry can disable the webhook'
  }, async (driver) => {
    const webhook = await driver.addWebhook()
    const patient = { ...disableAtTwo, failingForSeconds: 3600 }
    await driver.attempt(failed, patient)
    await driver.attempt(failed, patient)
    const [notice] = await driver.attempt(retry, disableAtTwo)
    same([notice?.kind, notice?.lastError, notice?.lastResponseStatus], ['disabled', 'http_status', 503], 'the notice')
    same(statuses(await driver.log(webhook)), ['failed', 'failed', 'skipped'], 'the log')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a success in between clears the record of failures'
  }, async (driver) => {
    await driver.addWebhook()
    await driver.attempt(failed, disableAtTwo)
    await driver.attempt(delivered, disableAtTwo)
    same(await driver.attempt(failed, disableAtTwo), [], 'the notices of the first failure after a success')
    same(kinds(await driver.attempt(failed, disableAtTwo)), [['disabled', 2]], 'the notices of the second')
  }),

  benchCase('deliveries', {
    port: 'webhooks.update',
    name: 'making a webhook active clears its record of failures, other changes do not'
  }, async (driver) => {
    const { id } = await driver.addWebhook()
    await driver.attempt(failed, disableAtTwo)
    await driver.webhooks.update('acme', id, { status: 'active' })
    same(await driver.attempt(failed, disableAtTwo), [], 'the notices of the first failure after it was made active')
    await driver.webhooks.update('acme', id, { name: 'New name' })
    same(
      kinds(await driver.attempt(failed, disableAtTwo)),
      [['disabled', 2]],
      'the notices of the second, after a change of its name'
    )
    same((await driver.webhooks.update('acme', id, { status: 'active' }))?.status, 'active',
      'its status when it is made active again')
    same(await driver.attempt(failed, disableAtTwo), [], 'the notices of the first failure after that')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a success in the same call saves a webhook, before or after the failure'
  }, async (driver) => {
    const { webhooks, addWebhook, emitMany, claimAll, recordAttempts, wait } = driver
    const ids = [(await addWebhook()).id, (await addWebhook()).id]
    await emitMany(2)
    await recordAttempts(
      (await claimAll(4)).map((lease) => failed(lease)),
      { ...disableAtTwo, failingForSeconds: 3600 }
    )
    await emitMany(2)
    const leases = await claimAll(4)
    await wait(1000)
    const [first = [], second = []] = ids.map((id) => leases.filter(({ webhookId }) => webhookId === id))
    const results = [
      first.map(delivered).slice(1),
      first.map((lease) => failed(lease)).slice(0, 1),
      second.map((lease) => failed(lease)).slice(1),
      second.map(delivered).slice(0, 1)
    ]
    same(await recordAttempts(results.flat(), { ...disableAtTwo, failingForSeconds: 1 }), [],
      'the notices of two webhooks, one with the success first, one with it last')
    same(await webhooks.count('acme', { status: 'active' }), 2, 'the number of active ones')
  })
]

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
