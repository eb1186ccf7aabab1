import type { AttemptResult, HealthRule } from '../../ports/index.js'
import { benchCase } from '../support/driver.js'
import type { StorageDriver } from '../support/driver.js'
import { exactly, same } from '../support/expect.js'
import { type Attempted, delivered, failed, retry } from '../support/samples.js'

const warnAtOnce: HealthRule = { failingForSeconds: 1e8, failedDeliveries: 1e8, warnAfterSeconds: 0 }

async function attempt (
  driver: StorageDriver,
  createResult: (lease: Attempted) => AttemptResult,
  rule = warnAtOnce
): Promise<string[]> {
  return (await driver.attempt(createResult, rule)).map(({ kind }) => kind)
}

/** Cases about notices of a webhook's health. */
export const noticeCases = [
  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'one notice says that a webhook has been failing for long, and the webhook stays active'
  }, async (driver) => {
    const webhook = await driver.addWebhook()
    const patient = { ...warnAtOnce, warnAfterSeconds: 3600 }
    same(await attempt(driver, retry, patient), [], 'the notices of a failure, with a limit of one hour')
    same(await attempt(driver, retry), ['failing'], 'the notices of the next failure, without a limit')
    same(await attempt(driver, failed), [], 'the notices of the failure after it')
    same(await driver.webhooks.find('acme', webhook.id), webhook, 'the webhook')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'another notice follows after a success or after the webhook was made active'
  }, async (driver) => {
    const { id } = await driver.addWebhook()
    same(await attempt(driver, retry), ['failing'], 'the notices of a failure')
    await attempt(driver, delivered)
    same(await attempt(driver, failed), ['failing'], 'the notices of a failure after a success')
    await driver.webhooks.update('acme', id, { name: 'x' })
    same(await attempt(driver, failed), [], 'the notices after a change of its name')
    await driver.webhooks.update('acme', id, { status: 'active' })
    same(await attempt(driver, failed), ['failing'], 'the notices after it was made active')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'each webhook has its own notice, and a disabled one has no failing notice'
  }, async ({ addWebhook, emitMany, claimAll, recordAttempts }) => {
    const mine = await addWebhook()
    const theirs = await addWebhook({ tenantSlug: 'globex' })
    await emitMany(2)
    await emitMany(1, { tenantSlug: 'globex' })
    const all = await recordAttempts(
      (await claimAll(3)).map((lease) => failed(lease)),
      { failingForSeconds: 0, failedDeliveries: 2, warnAfterSeconds: 0 }
    )
    same(all.map(({ tenantSlug, webhookId, kind }) => [tenantSlug, webhookId, kind]).sort(), [
      ['acme', mine.id, 'disabled'], ['globex', theirs.id, 'failing']
    ], 'the notices of two failures of one webhook and one of another')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimNotices', name: 'a notice can be claimed again until it is confirmed'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, wait }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emitMany(1)
    await emitMany(1, { tenantSlug: 'globex' })
    for (const lease of await claimAll(2)) await deliveries.recordAttempts([failed(lease)], warnAtOnce)
    const both = exactly(await deliveries.claimNotices({ limit: 10, leaseMs: 50 }), 2, 'notices claimed')
    await wait(50)
    same(
      await deliveries.claimNotices({ limit: 10, leaseMs: 0 }),
      both,
      'the notices claimed after their leases expired'
    )
    same(
      await deliveries.claimNotices({ limit: 1, leaseMs: 0 }),
      both.slice(0, 1),
      'the notices claimed with a limit of one'
    )
    await deliveries.confirmNotice(both[0].noticeId)
    same(
      await deliveries.claimNotices({ limit: 10, leaseMs: 600_000 }),
      both.slice(1),
      'the notices claimed after the first was confirmed'
    )
    same(await deliveries.claimNotices({ limit: 10, leaseMs: 600_000 }), [], 'the notices claimed while all are leased')
  }),

  benchCase('deliveries', {
    port: 'deliveries.confirmNotice', name: 'a notice may be confirmed twice'
  }, async ({ deliveries, addWebhook, emit, claimOne }) => {
    await addWebhook()
    await emit()
    await deliveries.recordAttempts([failed(await claimOne())], warnAtOnce)
    const [{ noticeId }] = exactly(await deliveries.claimNotices({ limit: 10, leaseMs: 0 }), 1, 'notices claimed')
    await deliveries.confirmNotice(noticeId)
    await deliveries.confirmNotice(noticeId)
    same(await deliveries.claimNotices({ limit: 10, leaseMs: 0 }), [], 'the notices claimed afterwards')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts', name: 'a webhook that is not active gets no failing notice'
  }, async ({ webhooks, addWebhook, emit, claimOne, recordAttempts }) => {
    const { id } = await addWebhook()
    await emit()
    const lease = await claimOne()
    await webhooks.update('acme', id, { status: 'inactive' })
    same(await recordAttempts([retry(lease)], warnAtOnce), [], 'the notices')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'a notice has the last error, or http_status if that failure has none'
  }, async ({ addWebhook, emitMany, claimAll, recordAttempts }) => {
    await addWebhook()
    await emitMany(2)
    const [first, second] = await claimAll(2)
    const [notice] = await recordAttempts(
      [failed(first), { ...retry(second), error: null, responseStatus: 500 }],
      warnAtOnce
    )
    same([notice?.lastError, notice?.lastResponseStatus, notice?.failedDeliveries], ['http_status', 500, 1],
      'lastError, lastResponseStatus and failedDeliveries')
  })
]
