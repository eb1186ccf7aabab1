import type { AttemptResult, HealthNotice, HealthRule } from '../../../core/ports/index.js'
import { benchCases, eventIds, statuses, type StorageDriver, webhookCases } from '../support/driver.js'
import { exactly, isInstant, same } from '../support/expect.js'
import { type Attempted, delivered, disableAtOnce, disableAtTwo, failed, lenient, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')

function kinds (notices: readonly HealthNotice[]): unknown[] {
  return notices.map(({ kind, failedDeliveries }) => [kind, failedDeliveries])
}

const about = ['webhook.failing', 'webhook.disabled'] as const

const warnAtOnce: HealthRule = { failingForSeconds: 1e8, failedDeliveries: 1e8, warnAfterSeconds: 0 }

async function attempt (
  driver: StorageDriver, createResult: (lease: Attempted) => AttemptResult, rule = warnAtOnce
): Promise<string[]> {
  return (await driver.attempt(createResult, rule)).map(({ kind }) => kind)
}

export const healthCases = [
  // About disabling failing webhooks.
  test('recordAttempts', 'a webhook that fails for long enough and often enough is disabled', async (t, webhook) => {
    const other = await t.addWebhook({ tenantSlug: 'globex' })
    same(await t.attempt(failed, disableAtTwo), [], 'the notices of the first failure')
    await t.wait(5)
    await t.emit()
    const [notice, ...more] = await t.attempt(failed, disableAtTwo)
    isInstant(notice?.failingSince, 'failingSince is an RFC 3339 date in UTC with milliseconds')
    same([notice, ...more], [{
      kind: 'disabled',
      tenantId: 'acme',
      tenantSlug: 'acme',
      webhookId: webhook.id,
      failingSince: notice.failingSince,
      failedDeliveries: 2,
      lastError: 'timeout',
      lastDetail: null,
      lastResponseStatus: null,
      contact: null
    }], 'the notices of the second')
    const shown = await t.webhooks.find('acme', webhook.id)
    same(shown, { ...webhook, status: 'disabled', updated_at: shown?.updated_at }, 'the webhook')
    same([String(shown?.updated_at) > webhook.updated_at, notice.failingSince < String(shown?.updated_at)],
      [true, true], 'updated_at has changed, and is later than failingSince')
    same(statuses(await t.log(webhook)).toSorted(), ['failed', 'failed', 'skipped'], 'its log')
    same([await t.claim(), await t.webhooks.find('globex', other.id)], [[], other],
      'the claimed deliveries, and the other webhook')
    same((await t.emit()).deliveries, 0, 'the deliveries counted for a later event')
    same(statuses(await t.log(webhook)).at(-1), 'skipped', 'the delivery of that event')
  }),

  test('recordAttempts', 'a webhook that fails often, but not for long enough, stays active', async (t, { id }) => {
    const patient = { ...disableAtTwo, failingForSeconds: 3600 }
    for (let i = 0; i < 4; i++) same(await t.attempt(failed, patient), [], 'the notices')
    same((await t.webhooks.find('acme', id))?.status, 'active', 'its status after four failures within an hour')
    await t.wait(1000)
    same(kinds(await t.attempt(failed, { ...disableAtTwo, failingForSeconds: 1 })), [['disabled', 5]],
      'the notices with a limit of one second')
  }),

  test('recordAttempts',
    'retried attempts count towards the time, not towards the number of failed deliveries', async (t) => {
      for (let i = 0; i < 3; i++) same(await t.attempt(retry, disableAtTwo), [], 'the notices of a retry')
      same(await t.attempt(failed, disableAtTwo), [], 'the notices of the first failed delivery')
      same(await t.attempt(retry, disableAtTwo), [], 'the notices of one more retry')
      same(kinds(await t.attempt(failed, disableAtTwo)), [['disabled', 2]], 'the notices of the second failed delivery')
    }),

  test('recordAttempts', 'a failed attempt that will be retried can disable the webhook', async (t, webhook) => {
    const patient = { ...disableAtTwo, failingForSeconds: 3600 }
    await t.attempt(failed, patient)
    await t.attempt(failed, patient)
    const [notice] = await t.attempt((lease) => ({
      ...retry(lease), responseStatus: null, error: 'tls', detail: 'certificate_expired'
    }), disableAtTwo)
    same([notice?.kind, notice?.lastError, notice?.lastDetail, notice?.lastResponseStatus],
      ['disabled', 'tls', 'certificate_expired', null], 'the notice')
    same(statuses(await t.log(webhook)), ['failed', 'failed', 'skipped'], 'the log')
  }),

  test('recordAttempts', 'a success clears the failures before it', async (t) => {
    await t.attempt(failed, disableAtTwo)
    await t.attempt(delivered, disableAtTwo)
    same(await t.attempt(failed, disableAtTwo), [], 'the notices of the first failure after a success')
    same(kinds(await t.attempt(failed, disableAtTwo)), [['disabled', 2]], 'the notices of the second')
  }),

  test('webhooks.update',
    'setting a webhook to active clears its failures, other changes do not', async (t, { id }) => {
      await t.attempt(failed, disableAtTwo)
      await t.webhooks.update('acme', id, { status: 'active' })
      same(await t.attempt(failed, disableAtTwo), [], 'the notices of the first failure after it was made active')
      await t.webhooks.update('acme', id, { name: 'New name' })
      same(kinds(await t.attempt(failed, disableAtTwo)), [['disabled', 2]],
        'the notices of the second, after a change of its name')
      same((await t.webhooks.update('acme', id, { status: 'active' }))?.status, 'active',
        'its status when it is made active again')
      same(await t.attempt(failed, disableAtTwo), [], 'the notices of the first failure after that')
    }),

  emptyTest('recordAttempts', 'a success before or after a failure in one call keeps a webhook active', async (t) => {
    const ids = [(await t.addWebhook()).id, (await t.addWebhook()).id]
    await t.emitMany(2)
    const patient = { ...disableAtTwo, failingForSeconds: 3600 }
    await t.recordAttempts((await t.claimAll(4)).map((lease) => failed(lease)), patient)
    await t.emitMany(2)
    const leases = await t.claimAll(4)
    await t.wait(1000)
    const [first = [], second = []] = ids.map((id) => leases.filter(({ webhookId }) => webhookId === id))
    const results = [
      first.map(delivered).slice(1), first.map((lease) => failed(lease)).slice(0, 1),
      second.map((lease) => failed(lease)).slice(1), second.map(delivered).slice(0, 1)
    ]
    same(await t.recordAttempts(results.flat(), { ...disableAtTwo, failingForSeconds: 1 }), [],
      'the notices of two webhooks, one with the success first, one with it last')
    same(await t.webhooks.count('acme', { status: 'active' }), 2, 'the number of active ones')
  }),

  // About paused webhooks.
  test('recordAttempts', 'the longest pause applies to all deliveries of the webhook and to no others', async (t) => {
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.emitMany(6)
    const [first, second, third, fourth, fifth] = await t.claimAll(5)
    await t.recordAttempts([
      retry(first, { retryInMs: 600_000, pauseMs: 600_000 }), retry(second, { pauseMs: 10 }),
      retry(third, { retryInMs: 10 })
    ])
    await t.recordAttempts([retry(fourth, { pauseMs: 10 }), retry(fifth, { pauseMs: 0 })])
    await t.wait(10)
    await t.emit()
    await t.emit({ tenantSlug: 'globex' })
    same(eventIds(await t.claim()), ['evt_8'],
      'the claimed deliveries after the shorter pauses, when one of the paused webhook would be due')
  }),

  test('recordAttempts', 'a success ends the pause', async (t) => {
    await t.emitMany(3)
    const [first, second] = await t.claimAll(2)
    await t.recordAttempts([retry(first, { pauseMs: 600_000 })])
    same(await t.claim(), [], 'the claimed deliveries during the pause')
    await t.recordAttempts([delivered(second)])
    same(eventIds(await t.claim()), ['evt_3'], 'the claimed deliveries after another delivery succeeded')
  }),

  test('webhooks.update', 'setting a webhook to active ends its pause', async (t, { id }) => {
    await t.attempt((lease) => retry(lease, { pauseMs: 600_000 }))
    await t.emit()
    await t.webhooks.update('acme', id, { name: 'Still paused' })
    same(await t.claim(), [], 'the claimed deliveries after a change of its name')
    await t.webhooks.update('acme', id, { status: 'active' })
    same(eventIds(await t.claim()), ['evt_2'], 'the claimed deliveries after it was made active')
  }),

  test('stats', 'paused deliveries are pending, but not due', async (t) => {
    const [first] = await t.lease(2)
    if (first) await t.recordAttempts([retry(first, { retryInMs: 0, pauseMs: 300_000 })])
    await t.emit()
    const { pending, due, leased } = await t.deliveries.stats()
    same({ pending, due, leased }, { pending: 3, due: 1, leased: 1 },
      'the stats with one leased, one to retry and one new delivery')
  }),

  // About events of webhooks' health.
  emptyTest('recordAttempts',
    "an event about a webhook's health is recorded with its notice, for the tenant's other webhooks", async (t) => {
      const { id } = await t.addWebhook({ event_types: ['candidate.created', ...about] })
      const other = await t.addWebhook({ event_types: about })
      const foreign = await t.addWebhook({ tenantSlug: 'globex', event_types: about })
      const warning = { ...lenient, warnAfterSeconds: 0, eventTypes: about }
      await t.emitMany(3)
      const [first, second, third] = exactly(await t.claimAll(3), 3, 'claimed deliveries')
      await t.recordAttempts([retry(first, { retryInMs: 0 })], warning)
      const [notified] = exactly(await t.claim(), 2, 'claimed deliveries, one of them a retry')
        .filter(({ webhookId }) => webhookId === other.id)
      const { id: eventId, timestamp, sequence, ...body } = JSON.parse(String(notified?.body))
      same(body, { type: 'webhook.failing', tenant_slug: 'acme', data: { webhook_id: id } }, 'the body')
      same([eventId, notified?.eventType], [notified?.eventId, 'webhook.failing'], 'its id and type')
      isInstant(timestamp, 'timestamp is an RFC 3339 date in UTC with milliseconds')
      same(/^\d{16}$/.test(sequence), true, 'it has a sequence')
      await t.recordAttempts([retry(second, { retryInMs: 0 })], warning)
      same((await t.log(other)).length, 1, 'the deliveries after a second failure')
      await t.recordAttempts([failed(third, { isGone: true })], warning)
      const types = async (webhook: { id: number }, tenant?: string) =>
        (await t.log(webhook, tenant)).map(({ event_type: type }) => type)
      same([await types(other), await types({ id }), await types(foreign, 'globex')],
        [about, Array(3).fill('candidate.created'), []], 'the event types of the three logs')
      await t.webhooks.update('acme', id, { status: 'active' })
      const all = { include: 'all', eventTypes: about, eventIds: null, since: null, until: null, limit: 10 } as const
      same(await t.deliveries.replay('acme', id, all), { queued: 0, truncated: false }, 'the replay to the webhook itself')
    }),

  emptyTest('recordAttempts', 'only wanted types of events about health are recorded', async (t) => {
    const webhook = await t.addWebhook({ event_types: ['candidate.created'] })
    const other = await t.addWebhook({ event_types: about })
    await t.attempt(failed, { ...disableAtOnce, eventTypes: ['webhook.failing'] })
    await t.webhooks.update('acme', webhook.id, { status: 'active' })
    await t.attempt(failed, disableAtOnce)
    same(await t.log(other), [], 'the log of another webhook')
  }),

  // About endpoints that return 410.
  test('recordAttempts',
    'a 410 disables the webhook immediately and skips its other deliveries', async (t, webhook) => {
      const other = await t.addWebhook({ tenantSlug: 'globex' })
      await t.emitMany(3)
      await t.emitMany(1, { tenantSlug: 'globex' })
      const leases = (await t.claim({ perEndpoint: 2 })).filter(({ webhookId }) => webhookId === webhook.id)
      const [gone, later] = exactly(leases, 2, 'claimed deliveries of the webhook')
      const results = [failed(gone, { isGone: true }), retry(later, { retryInMs: 10 })]
      const notices = await t.recordAttempts(results, { ...disableAtTwo, failedDeliveries: 100 })
      same(notices.map(({ failingSince, ...rest }) => rest), [{
        kind: 'gone',
        tenantId: 'acme',
        tenantSlug: 'acme',
        webhookId: webhook.id,
        failedDeliveries: 1,
        lastError: 'http_status',
        lastDetail: null,
        lastResponseStatus: 410,
        contact: null
      }], 'the notices, with the response that reports it gone')
      same((await t.webhooks.find('acme', webhook.id))?.status, 'disabled', 'its status')
      same([statuses(await t.log(webhook)), statuses(await t.log(other, 'globex'))],
        [['failed', 'skipped', 'skipped'], ['pending']], 'the logs of the webhook and of another')
      await t.wait(10)
      same((await t.claim()).filter(({ webhookId }) => webhookId === webhook.id), [], 'the deliveries claimed for it')
    }),

  test('recordAttempts',
    'a 410 disables the webhook even with a success in the same call', async (t, { id }) => {
      const since = await t.attempt(failed, disableAtTwo).then(() => t.webhooks.update('acme', id, {}))
      const [gone, last] = await t.lease(2)
      await t.wait(20)
      const [notice] = await t.recordAttempts([failed(gone, { isGone: true }), delivered(last)], disableAtTwo)
      same([notice?.kind, (await t.webhooks.find('acme', id))?.status], ['gone', 'disabled'],
        'the kind of notice, and the status')
      same(String(notice?.failingSince) > String(since?.updated_at), true, 'failingSince is now')
    }),

  test('recordAttempts',
    'a success can disable the webhook, also with other results of it', async (t, { id }) => {
      const [first, second, third] = await t.lease(3)
      const results = [failed(first), { ...delivered(second), isGone: true }, delivered(third)]
      const [notice] = await t.recordAttempts(results, { ...disableAtTwo, failedDeliveries: 100 })
      same([notice?.kind, notice?.failedDeliveries, notice?.lastError, notice?.lastResponseStatus],
        ['gone', 0, 'http_status', 204], 'the notice')
      same([(await t.webhooks.find('acme', id))?.status, (await t.webhooks.findHealth('acme', id))?.disabled_reason],
        ['disabled', 'gone'], 'its status and the reason')
    }),

  test('recordAttempts',
    'a webhook is disabled once, and an inactive webhook stays inactive after a late 410', async (t, { id }) => {
      const inactive = await t.addWebhook({ event_types: ['job.created'] })
      await t.emitMany(2)
      await t.emitMany(1, { type: 'job.created' })
      const leases = await t.claimAll(3)
      const [first, second] = exactly(leases.filter(({ webhookId }) => webhookId === id), 2,
        'claimed deliveries of one webhook')
      const [late] = exactly(leases.filter(({ webhookId }) => webhookId === inactive.id), 1,
        'claimed deliveries of the other webhook')
      const before = await t.webhooks.update('acme', inactive.id, { status: 'inactive' })
      const results = [failed(first, { isGone: true }), failed(late, { isGone: true })]
      const notices = await t.recordAttempts(results, disableAtTwo)
      same(notices.map(({ kind, webhookId }) => [kind, webhookId]), [['gone', id]], 'the notices')
      same(await t.recordAttempts([failed(second, { isGone: true })], disableAtTwo), [], 'the notices of a second 410')
      same(await t.webhooks.find('acme', inactive.id), before, 'the webhook that the client made inactive')
    }),

  // About notices of a webhook's health.
  test('recordAttempts',
    'one notice reports that a webhook keeps failing, and the webhook stays active', async (t, webhook) => {
      const patient = { ...warnAtOnce, warnAfterSeconds: 3600 }
      same(await attempt(t, retry, patient), [], 'the notices of a failure, with a limit of one hour')
      same(await attempt(t, retry), ['failing'], 'the notices of the next failure, without a limit')
      same(await attempt(t, failed), [], 'the notices of the failure after it')
      same(await t.webhooks.find('acme', webhook.id), webhook, 'the webhook')
    }),

  test('recordAttempts',
    'a failure after a success, or after setting the webhook to active, creates another notice', async (t, { id }) => {
      same(await attempt(t, retry), ['failing'], 'the notices of a failure')
      await attempt(t, delivered)
      same(await attempt(t, failed), ['failing'], 'the notices of a failure after a success')
      await t.webhooks.update('acme', id, { name: 'x' })
      same(await attempt(t, failed), [], 'the notices after a change of its name')
      await t.webhooks.update('acme', id, { status: 'active' })
      same(await attempt(t, failed), ['failing'], 'the notices after it was made active')
    }),

  test('recordAttempts',
    'each webhook has its own notice, and a disabled one has no failing notice', async (t, mine) => {
      const theirs = await t.addWebhook({ tenantSlug: 'globex' })
      await t.emitMany(2)
      await t.emitMany(1, { tenantSlug: 'globex' })
      const rule = { ...disableAtTwo, warnAfterSeconds: 0 }
      const all = await t.recordAttempts((await t.claimAll(3)).map((lease) => failed(lease)), rule)
      same(all.map(({ tenantSlug, webhookId, kind }) => [tenantSlug, webhookId, kind]).sort(),
        [['acme', mine.id, 'disabled'], ['globex', theirs.id, 'failing']],
        'the notices of two failures of one webhook and one of another')
    }),

  test('claimNotices', 'a notice can be claimed again until it is confirmed, which can be repeated', async (t) => {
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.emitMany(1)
    await t.emitMany(1, { tenantSlug: 'globex' })
    for (const lease of await t.claimAll(2)) await t.deliveries.recordAttempts([failed(lease)], warnAtOnce)
    const both = exactly(await t.claimNotices({ leaseMs: 50 }), 2, 'notices claimed')
    await t.wait(50)
    same(await t.claimNotices(), both, 'the notices claimed after their leases expired')
    same(await t.claimNotices({ limit: 1 }), both.slice(0, 1), 'the notices claimed with a limit of one')
    for (let count = 0; count < 2; count++) await t.deliveries.confirmNotice(both[0].noticeId)
    same(await t.claimNotices({ leaseMs: 600_000 }), both.slice(1), 'the notices claimed after the first was confirmed')
    same(await t.claimNotices({ leaseMs: 600_000 }), [], 'the notices claimed while all are leased')
  }),

  test('recordAttempts', 'a notice contains the last error, or http_status if there is none', async (t) => {
    const [first, second] = await t.lease(2)
    const results = [failed(first), { ...retry(second), error: null, responseStatus: 500 }]
    const [notice] = await t.recordAttempts(results, warnAtOnce)
    same([notice?.lastError, notice?.lastResponseStatus, notice?.failedDeliveries], ['http_status', 500, 1],
      'lastError, lastResponseStatus and failedDeliveries')
  })
]
