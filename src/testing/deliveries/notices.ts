import type { AttemptResult, HealthNotice, HealthRule } from '../../ports/index.js'
import { benchCase } from '../support/bench.js'
import type { Bench } from '../support/bench.js'
import { exactly, same } from '../support/expect.js'
import { type Attempted, delivered, failed, retry } from '../support/samples.js'

const notices =
  'There is a notice for each webhook disabled by this call, and for each that has been failing for `warnAfterSeconds`, ' +
  'once until something is delivered or it is made active.'
const last = 'Of the last failed attempt, or of the one that says the endpoint is gone; `http_status` where that gave none.'

const claims =
  'Claims notices, the oldest first. One belongs to the caller for `leaseMs`; until it is confirmed, it can then be claimed ' +
  'again.'
const confirms = 'Ends a notice, which the host has received. Nothing happens if it has ended.'

const warnAtOnce: HealthRule = { failingForSeconds: 1e8, failedDeliveries: 1e8, warnAfterSeconds: 0 }

async function attempt (bench: Bench, createResult: (lease: Attempted) => AttemptResult, rule = warnAtOnce): Promise<string[]> {
  await bench.emit()
  return kinds(await bench.complete([createResult(await bench.claimOne())], rule))
}

function kinds (all: readonly HealthNotice[]): string[] {
  return all.map(({ kind }) => kind)
}

/** Cases about what the host is told of a webhook's health. */
export const noticeCases = [
  benchCase('deliveries', {
    port: 'deliveries.complete',
    says: notices,
    name: 'the host is told once that a webhook has been failing for long, and the webhook stays active'
  }, async (bench) => {
    const webhook = await bench.addWebhook()
    const patient = { ...warnAtOnce, warnAfterSeconds: 3600 }
    same(await attempt(bench, retry, patient), [], 'the notices of a failure, when an hour of them is long')
    same(await attempt(bench, retry), ['failing'], 'the notices of the next, when no time is long')
    same(await attempt(bench, failed), [], 'the notices of the one after it')
    same(await bench.webhooks.find('acme', webhook.id), webhook, 'the webhook')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete',
    says: notices,
    name: 'the host is told again after something was delivered or the webhook was made active'
  }, async (bench) => {
    const { id } = await bench.addWebhook()
    same(await attempt(bench, retry), ['failing'], 'the notices of a failure')
    await attempt(bench, delivered)
    same(await attempt(bench, failed), ['failing'], 'the notices of a failure after a delivery')
    await bench.webhooks.update('acme', id, { name: 'x' })
    same(await attempt(bench, failed), [], 'the notices after a change of its name')
    await bench.webhooks.update('acme', id, { status: 'active' })
    same(await attempt(bench, failed), ['failing'], 'the notices after it was made active')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete',
    says: notices,
    name: 'each webhook has a notice of its own, and a disabled one is not said to be failing, too'
  }, async ({ addWebhook, emitMany, claimAll, complete }) => {
    const mine = await addWebhook()
    const theirs = await addWebhook({ tenantSlug: 'globex' })
    await emitMany(2)
    await emitMany(1, { tenantSlug: 'globex' })
    const all = await complete((await claimAll(3)).map((lease) => failed(lease)), { failingForSeconds: 0, failedDeliveries: 2, warnAfterSeconds: 0 })
    same(all.map(({ tenantSlug, webhookId, kind }) => [tenantSlug, webhookId, kind]).sort(), [
      ['acme', mine.id, 'disabled'], ['globex', theirs.id, 'failing']
    ], 'the notices of two failures of one webhook and one of another')
  }),

  benchCase('deliveries', {
    port: 'deliveries.claimNotices', says: claims, name: 'a notice comes again until it is confirmed'
  }, async ({ deliveries, addWebhook, emitMany, claimAll, wait }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emitMany(1)
    await emitMany(1, { tenantSlug: 'globex' })
    for (const lease of await claimAll(2)) await deliveries.complete([failed(lease)], warnAtOnce)
    const both = exactly(await deliveries.claimNotices({ limit: 10, leaseMs: 50 }), 2, 'notices are claimed')
    await wait(50)
    same(await deliveries.claimNotices({ limit: 10, leaseMs: 0 }), both, 'what is claimed when their leases have expired')
    same(await deliveries.claimNotices({ limit: 1, leaseMs: 0 }), both.slice(0, 1), 'what is claimed with a limit of one')
    await deliveries.confirmNotice(both[0].noticeId)
    same(await deliveries.claimNotices({ limit: 10, leaseMs: 600_000 }), both.slice(1), 'what is claimed when the first was confirmed')
    same(await deliveries.claimNotices({ limit: 10, leaseMs: 600_000 }), [], 'what is claimed under another lease')
  }),

  benchCase('deliveries', {
    port: 'deliveries.confirmNotice', says: confirms, name: 'a notice may be confirmed twice'
  }, async ({ deliveries, addWebhook, emit, claimOne }) => {
    await addWebhook()
    await emit()
    await deliveries.complete([failed(await claimOne())], warnAtOnce)
    const [{ noticeId }] = exactly(await deliveries.claimNotices({ limit: 10, leaseMs: 0 }), 1, 'notices are claimed')
    await deliveries.confirmNotice(noticeId)
    await deliveries.confirmNotice(noticeId)
    same(await deliveries.claimNotices({ limit: 10, leaseMs: 0 }), [], 'what is claimed then')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete', says: notices, name: 'a webhook that is not active is not said to be failing'
  }, async ({ webhooks, addWebhook, emit, claimOne, complete }) => {
    const { id } = await addWebhook()
    await emit()
    const lease = await claimOne()
    await webhooks.update('acme', id, { status: 'inactive' })
    same(await complete([retry(lease)], warnAtOnce), [], 'the notices')
  }),

  benchCase('deliveries', {
    port: 'deliveries.complete',
    says: last,
    name: 'a notice has the last failure, and http_status for one without an error'
  }, async ({ addWebhook, emitMany, claimAll, complete }) => {
    await addWebhook()
    await emitMany(2)
    const [first, second] = await claimAll(2)
    const [notice] = await complete([failed(first), { ...retry(second), error: null, responseStatus: 500 }], warnAtOnce)
    same([notice?.lastError, notice?.lastResponseStatus, notice?.failedDeliveries], ['http_status', 500, 1],
      'lastError, lastResponseStatus and failedDeliveries')
  })
]
