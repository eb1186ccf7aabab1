import { benchCase } from '../support/driver.js'
import { endedTransactions } from '../support/wait.js'
import { rejects, same } from '../support/expect.js'
import { delivered, failed, lenient } from '../support/samples.js'

const key = { idempotencyKey: 'once', subject: 'candidate:42', tombstone: '{"erased":true}' }

/** Cases about removing a tenant. */
export const removeCases = [
  benchCase('tenancy', {
    port: 'webhooks.removeTenant',
    name: 'a removed tenant has no webhook, no delivery and no notice, and others keep theirs'
  }, async ({ webhooks, deliveries, addWebhook, emit, claim, claimOne, takeNotices, log }) => {
    const webhook = await addWebhook()
    const theirs = await addWebhook({ tenantSlug: 'globex' })
    await emit()
    await deliveries.recordAttempts([failed(await claimOne(), { isGone: true })], lenient)
    const another = await addWebhook()
    await emit()
    await emit({ tenantSlug: 'globex' })
    await webhooks.removeTenant('acme', { limit: 100 })
    same(
      [
        await webhooks.count('acme', {}),
        await webhooks.find('acme', webhook.id),
        await log(another),
        await takeNotices()
      ],
      [0, null, [], []],
      'the webhooks, one webhook, the log and the notices'
    )
    same(
      (await claim()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]),
      [['globex', theirs.id]],
      'the claimed deliveries'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.removeTenant', name: 'an attempt in flight is not repeated after its tenant is removed'
  }, async ({ webhooks, addWebhook, emit, claimAll, recordAttempts, claim, wait }) => {
    await addWebhook()
    await emit()
    await emit()
    const [lost, done] = await claimAll(2, { leaseMs: 20 })
    await webhooks.removeTenant('acme', { limit: 100 })
    await recordAttempts([delivered(done)])
    await wait(20)
    same([lost.tenantSlug, await claim()], ['acme', []], 'the tenant of the lost lease, and the claimed deliveries')
  }),

  benchCase('tenancy', {
    port: 'webhooks.removeTenant', name: 'a tenant with more events than the limit is removed by several calls'
  }, async ({ webhooks, addWebhook, emitMany }) => {
    await addWebhook()
    await emitMany(5)
    const counts = [await webhooks.removeTenant('acme', { limit: 2 })]
    while (counts.at(-1) !== 0 && counts.length < 10) counts.push(await webhooks.removeTenant('acme', { limit: 2 }))
    same([counts.filter((count) => count > 2), counts.at(-1)], [[], 0], 'results above the limit, and the last one')
  }),

  benchCase('tenancy', {
    port: 'webhooks.removeTenant', name: 'prune removes the events that removing a tenant has left'
  }, async ({ webhooks, deliveries, addWebhook, emitMany }) => {
    await addWebhook()
    await emitMany(5)
    await webhooks.removeTenant('acme', { limit: 1 })
    while (await deliveries.prune({ retentionDays: 1, limit: 2 }) > 0);
    same(await webhooks.removeTenant('acme', { limit: 1 }), 0, 'the events left after prune')
  }),

  benchCase('tenancy', {
    port: 'webhooks.removeTenant', name: 'a new tenant with the name of a removed one sees nothing of it'
  }, async ({ webhooks, deliveries, addWebhook, emit, emitMany, claimOne, replay }) => {
    await addWebhook()
    await emit(key)
    await emitMany(3)
    await webhooks.removeTenant('acme', { limit: 1 })
    const webhook = await addWebhook()
    same(await replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'the result of replay')
    same((await deliveries.erase('acme', 'candidate:42')).events, 0, 'the number of erased events')
    same((await emit(key)).id, 'evt_5', 'the event recorded with the same idempotency key')
    same((await claimOne()).webhookId, webhook.id, 'the webhook of the claimed delivery')
  }),

  benchCase('tenancy', {
    port: 'webhooks.removeTenant',
    name: 'removing commits with the host\'s transaction, or is rejected by a storage without transactions'
  }, async ({ harness, webhooks, addWebhook, emit, claimOne, claim }) => {
    const { id } = await addWebhook()
    await emit()
    if (harness.begin === undefined) {
      await rejects(webhooks.removeTenant('acme', { limit: 100, transaction: {} }), 'removing with a transaction')
    } else {
      const lost = await harness.begin()
      await webhooks.removeTenant('acme', { limit: 100, transaction: lost.transaction })
      await lost.rollback()
      for (const transaction of await endedTransactions(harness)) {
        await rejects(
          webhooks.removeTenant('acme', { limit: 100, transaction }),
          'removing with a transaction that has ended'
        )
      }
    }
    same(
      [(await webhooks.find('acme', id))?.id, (await claimOne({ leaseMs: 10 })).webhookId],
      [id, id],
      'the webhook, and that of the claimed delivery'
    )
    if (harness.begin === undefined) return
    const done = await harness.begin()
    await webhooks.removeTenant('acme', { limit: 100, transaction: done.transaction })
    await done.commit()
    same([await webhooks.find('acme', id), await claim()], [null, []], 'the webhook, and the claimed deliveries')
  })
]
