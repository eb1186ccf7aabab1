import type { HealthNotice } from '../../ports/index.js'
import { benchCase, statuses } from '../support/driver.js'
import { isInstant, same } from '../support/expect.js'
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
