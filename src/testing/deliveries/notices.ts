import type { AttemptResult, HealthRule } from '../../ports/index.js'
import { benchCases } from '../support/driver.js'
import type { StorageDriver } from '../support/driver.js'
import { exactly, same } from '../support/expect.js'
import { type Attempted, delivered, failed, retry } from '../support/samples.js'

const test = benchCases('deliveries')

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
  test('recordAttempts',
    'one notice says that a webhook has been failing for long, and the webhook stays active', async (t) => {
      const webhook = await t.addWebhook()
      const patient = { ...warnAtOnce, warnAfterSeconds: 3600 }
      same(await attempt(t, retry, patient), [], 'the notices of a failure, with a limit of one hour')
      same(await attempt(t, retry), ['failing'], 'the notices of the next failure, without a limit')
      same(await attempt(t, failed), [], 'the notices of the failure after it')
      same(await t.webhooks.find('acme', webhook.id), webhook, 'the webhook')
    }),

  test('recordAttempts', 'another notice follows after a success or after the webhook was made active', async (t) => {
    const { id } = await t.addWebhook()
    same(await attempt(t, retry), ['failing'], 'the notices of a failure')
    await attempt(t, delivered)
    same(await attempt(t, failed), ['failing'], 'the notices of a failure after a success')
    await t.webhooks.update('acme', id, { name: 'x' })
    same(await attempt(t, failed), [], 'the notices after a change of its name')
    await t.webhooks.update('acme', id, { status: 'active' })
    same(await attempt(t, failed), ['failing'], 'the notices after it was made active')
  }),

  test('recordAttempts', 'each webhook has its own notice, and a disabled one has no failing notice', async (t) => {
    const mine = await t.addWebhook()
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    await t.emitMany(2)
    await t.emitMany(1, { tenantSlug: 'globex' })
    const all = await t.recordAttempts(
      (await t.claimAll(3)).map((lease) => failed(lease)),
      { failingForSeconds: 0, failedDeliveries: 2, warnAfterSeconds: 0 }
    )
    same(all.map(({ tenantSlug, webhookId, kind }) => [tenantSlug, webhookId, kind]).sort(), [
      ['acme', mine.id, 'disabled'], ['globex', theirs.id, 'failing']
    ], 'the notices of two failures of one webhook and one of another')
  }),

  test('claimNotices', 'a notice can be claimed again until it is confirmed', async (t) => {
    await t.addWebhook()
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.emitMany(1)
    await t.emitMany(1, { tenantSlug: 'globex' })
    for (const lease of await t.claimAll(2)) await t.deliveries.recordAttempts([failed(lease)], warnAtOnce)
    const both = exactly(await t.deliveries.claimNotices({ limit: 10, leaseMs: 50 }), 2, 'notices claimed')
    await t.wait(50)
    same(
      await t.deliveries.claimNotices({ limit: 10, leaseMs: 0 }),
      both,
      'the notices claimed after their leases expired'
    )
    same(
      await t.deliveries.claimNotices({ limit: 1, leaseMs: 0 }),
      both.slice(0, 1),
      'the notices claimed with a limit of one'
    )
    await t.deliveries.confirmNotice(both[0].noticeId)
    same(
      await t.deliveries.claimNotices({ limit: 10, leaseMs: 600_000 }),
      both.slice(1),
      'the notices claimed after the first was confirmed'
    )
    same(await t.deliveries.claimNotices({ limit: 10, leaseMs: 600_000 }), [],
      'the notices claimed while all are leased')
  }),

  test('confirmNotice', 'a notice may be confirmed twice', async (t) => {
    await t.addWebhook()
    await t.emit()
    await t.deliveries.recordAttempts([failed(await t.claimOne())], warnAtOnce)
    const [{ noticeId }] = exactly(await t.deliveries.claimNotices({ limit: 10, leaseMs: 0 }), 1, 'notices claimed')
    await t.deliveries.confirmNotice(noticeId)
    await t.deliveries.confirmNotice(noticeId)
    same(await t.deliveries.claimNotices({ limit: 10, leaseMs: 0 }), [], 'the notices claimed afterwards')
  }),

  test('recordAttempts', 'a webhook that is not active gets no failing notice', async (t) => {
    const { id } = await t.addWebhook()
    const lease = await t.leaseOne()
    await t.webhooks.update('acme', id, { status: 'inactive' })
    same(await t.recordAttempts([retry(lease)], warnAtOnce), [], 'the notices')
  }),

  test('recordAttempts', 'a notice has the last error, or http_status if that failure has none', async (t) => {
    await t.addWebhook()
    const [first, second] = await t.lease(2)
    const [notice] = await t.recordAttempts(
      [failed(first), { ...retry(second), error: null, responseStatus: 500 }],
      warnAtOnce
    )
    same([notice?.lastError, notice?.lastResponseStatus, notice?.failedDeliveries], ['http_status', 500, 1],
      'lastError, lastResponseStatus and failedDeliveries')
  })
]
