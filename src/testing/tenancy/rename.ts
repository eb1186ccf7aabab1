import { benchCase, statuses } from '../support/bench.js'
import { endedTransactions } from '../support/ended-transactions.js'
import { rejects, same } from '../support/expect.js'
import { delivered, failed, lenient, retry } from '../support/samples.js'

const gives =
  'Renames the tenant `from` to `to`: its webhooks with their deliveries and notices, its events with their subjects ' +
  'and idempotency keys, and its changes.'
const reseals = 'Replaces each stored secret with the result of `reseal`.'
const refuses =
  'Returns the number of webhooks. Returns `null` and changes nothing if `to` has a webhook or an event, and ' +
  'possibly if it had one earlier.'
const inFlight = 'Attempts in flight count as before.'
const atomic =
  "All or nothing. With `transaction`, the host's own, it takes effect once that commits. Rejects and changes " +
  'nothing if `transaction` is not open. A storage without transactions rejects any `transaction`.'

const keep = { reseal: (secret: string): string => secret }
const key = { idempotencyKey: 'once', subject: 'candidate:42', tombstone: '{"erased":true}' }

/** Cases about renaming a tenant. */
export const renameCases = [
  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: gives, name: 'a renamed tenant has its webhooks and their log only under the new name'
  }, async ({ webhooks, addWebhook, emit, claimOne, complete, log }) => {
    const webhook = await addWebhook()
    await emit()
    await complete([delivered(await claimOne())])
    same(await webhooks.renameTenant('acme', 'globex', keep), 1, 'the result of renameTenant')
    same([await webhooks.find('acme', webhook.id), await webhooks.find('globex', webhook.id)], [null, webhook], 'the webhook under both names')
    same([await log(webhook), statuses(await log(webhook, 'globex'))], [[], ['delivered']], 'the log under both names')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: gives, name: 'pending deliveries and notices of a renamed tenant carry the new name'
  }, async ({ webhooks, addWebhook, emit, claimOne, complete, takeNotices, deliveries }) => {
    const { id } = await addWebhook()
    await emit()
    await emit()
    await deliveries.complete([failed(await claimOne(), { isGone: true })], lenient)
    await webhooks.renameTenant('acme', 'globex', keep)
    same((await takeNotices()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]), [['globex', id]], 'the notices')
    await webhooks.update('globex', id, { status: 'active' })
    await emit({ tenantSlug: 'globex' })
    const claimed = await claimOne()
    same([claimed.tenantSlug, claimed.body], ['globex', '{"id":"evt_3"}'], 'the claimed delivery')
    await complete([delivered(claimed)])
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: gives, name: 'subjects and idempotency keys of a renamed tenant belong to the new name'
  }, async ({ webhooks, deliveries, addWebhook, emit, claimOne }) => {
    await addWebhook()
    await emit(key)
    await webhooks.renameTenant('acme', 'globex', keep)
    same((await emit({ ...key, tenantSlug: 'globex' })).id, 'evt_1', 'the event recorded with the same key under the new name')
    same((await emit(key)).id, 'evt_3', 'the event recorded with the same key under the old name')
    same((await claimOne()).tenantSlug, 'globex', 'the tenant of the claimed delivery')
    same([await deliveries.erase('acme', 'candidate:42'), await deliveries.erase('globex', 'candidate:42')], [1, 1], 'the events erased under each name')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: gives, name: 'events of a renamed tenant are replayed under the new name'
  }, async ({ webhooks, deliveries, addWebhook, emit, claimOne, complete }) => {
    const { id } = await addWebhook()
    await emit()
    await complete([delivered(await claimOne())])
    await webhooks.renameTenant('acme', 'globex', keep)
    const selection = { include: 'all' as const, eventTypes: null, eventIds: null, since: null, until: null, limit: 10 }
    same(await deliveries.replay('globex', id, selection), { queued: 1, truncated: false }, 'the result of replay')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: reseals, name: 'secrets of a renamed tenant are those that reseal returns'
  }, async ({ webhooks, addWebhook }) => {
    const first = await addWebhook({ secret: 'first' })
    const second = await addWebhook({ secret: 'second' })
    await webhooks.rotateSecret('acme', second.id, { secret: 'third', gracePeriodSeconds: 3600 })
    await webhooks.renameTenant('acme', 'globex', { reseal: (secret, id) => `${secret} of ${id}` })
    same([await webhooks.findSecrets('globex', first.id), await webhooks.findSecrets('globex', second.id)],
      [[`first of ${first.id}`], [`third of ${second.id}`, `second of ${second.id}`]], 'the secrets')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: refuses, name: 'a tenant cannot be renamed to one that has a webhook or an event'
  }, async ({ webhooks, addWebhook, emit }) => {
    const webhook = await addWebhook()
    const theirs = await addWebhook({ tenantSlug: 'globex' })
    same(await webhooks.renameTenant('acme', 'globex', keep), null, 'the result with a webhook in the way')
    await webhooks.delete('globex', theirs.id)
    await emit({ tenantSlug: 'globex' })
    same(await webhooks.renameTenant('acme', 'globex', keep), null, 'the result with an event in the way')
    same([await webhooks.find('acme', webhook.id), await webhooks.count('globex', {})], [webhook, 0], 'the webhook, and the number of webhooks of globex')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: refuses, name: 'a tenant without data can be renamed, and its old name used again'
  }, async ({ webhooks, addWebhook }) => {
    same(await webhooks.renameTenant('acme', 'globex', keep), 0, 'the result for a tenant that has nothing')
    const { id } = await addWebhook({ tenantSlug: 'globex' })
    same(await webhooks.renameTenant('globex', 'acme', keep), 1, 'the result of renaming it back')
    same([await webhooks.count('globex', {}), (await webhooks.find('acme', id))?.id], [0, id], 'the webhook under both names')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: inFlight, name: 'an attempt in flight counts after its tenant is renamed'
  }, async ({ webhooks, addWebhook, emit, claimAll, complete, claim, log }) => {
    const webhook = await addWebhook()
    await emit()
    await emit()
    const [first, second] = await claimAll(2)
    await webhooks.renameTenant('acme', 'globex', keep)
    await complete([delivered(first), retry(second)])
    same([statuses(await log(webhook, 'globex')), await claim()], [['delivered', 'pending'], []], 'the log, and the claimed deliveries')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', says: atomic, name: 'renaming commits with the host\'s transaction, or is rejected by a storage without transactions'
  }, async ({ harness, webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    if (harness.begin === undefined) {
      await rejects(webhooks.renameTenant('acme', 'globex', { ...keep, transaction: {} }), 'renaming with a transaction')
    } else {
      const lost = await harness.begin()
      same(await webhooks.renameTenant('acme', 'globex', { ...keep, transaction: lost.transaction }), 1, 'the result in a transaction')
      await lost.rollback()
      for (const transaction of await endedTransactions(harness)) {
        await rejects(webhooks.renameTenant('acme', 'globex', { ...keep, transaction }), 'renaming with a transaction that has ended')
      }
    }
    same([(await webhooks.find('acme', id))?.id, await webhooks.count('globex', {})], [id, 0], 'the webhook under both names')
    if (harness.begin === undefined) return
    const done = await harness.begin()
    await webhooks.renameTenant('acme', 'globex', { ...keep, transaction: done.transaction })
    await done.commit()
    same((await webhooks.find('globex', id))?.id, id, 'the webhook after the commit')
  })
]
