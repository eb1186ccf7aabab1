import { benchCase, statuses } from '../support/driver.js'
import { endedTransactions } from '../support/wait.js'
import { rejects, same } from '../support/expect.js'
import { delivered, failed, lenient, named, retry } from '../support/samples.js'

const keep = { reseal: (secret: string): string => secret }
const key = { idempotencyKey: 'once', subject: 'candidate:42', tombstone: '{"erased":true}' }

/** Cases about renaming a tenant. */
export const renameCases = [
  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a renamed tenant has its webhooks and their log only under the new name'
  }, async ({ webhooks, addWebhook, emit, claimOne, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emit()
    await recordAttempts([delivered(await claimOne())])
    same(await webhooks.renameTenant(named('acme'), named('globex'), keep), 1, 'the result of renameTenant')
    same(
      [await webhooks.find('acme', webhook.id), await webhooks.find('globex', webhook.id)],
      [null, webhook],
      'the webhook under both names'
    )
    same([await log(webhook), statuses(await log(webhook, 'globex'))], [[], ['delivered']], 'the log under both names')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'pending deliveries and notices of a renamed tenant carry the new name'
  }, async ({ webhooks, addWebhook, emit, claimOne, recordAttempts, takeNotices, deliveries }) => {
    const { id } = await addWebhook()
    await emit()
    await emit()
    await deliveries.recordAttempts([failed(await claimOne(), { isGone: true })], lenient)
    await webhooks.renameTenant(named('acme'), named('globex'), keep)
    same(
      (await takeNotices()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]),
      [['globex', id]],
      'the notices'
    )
    await webhooks.update('globex', id, { status: 'active' })
    await emit({ tenantSlug: 'globex' })
    const claimed = await claimOne()
    same([claimed.tenantSlug, claimed.body], ['globex', '{"id":"evt_3"}'], 'the claimed delivery')
    await recordAttempts([delivered(claimed)])
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'subjects and idempotency keys of a renamed tenant belong to the new name'
  }, async ({ webhooks, deliveries, addWebhook, emit, claimOne }) => {
    await addWebhook()
    await emit(key)
    await webhooks.renameTenant(named('acme'), named('globex'), keep)
    same(
      (await emit({ ...key, tenantSlug: 'globex' })).id,
      'evt_1',
      'the event recorded with the same key under the new name'
    )
    same((await emit(key)).id, 'evt_3', 'the event recorded with the same key under the old name')
    same((await claimOne()).tenantSlug, 'globex', 'the tenant of the claimed delivery')
    same(
      [
        (await deliveries.erase('acme', 'candidate:42')).events,
        (await deliveries.erase('globex', 'candidate:42')).events
      ],
      [1, 1],
      'the events erased under each name'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'events of a renamed tenant are replayed under the new name'
  }, async ({ webhooks, deliveries, addWebhook, emit, claimOne, recordAttempts }) => {
    const { id } = await addWebhook()
    await emit()
    await recordAttempts([delivered(await claimOne())])
    await webhooks.renameTenant(named('acme'), named('globex'), keep)
    const selection = { include: 'all' as const, eventTypes: null, eventIds: null, since: null, until: null, limit: 10 }
    same(await deliveries.replay('globex', id, selection), { queued: 1, truncated: false }, 'the result of replay')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'secrets of a renamed tenant are those that reseal returns'
  }, async ({ webhooks, addWebhook }) => {
    const first = await addWebhook({ secret: 'first' })
    const second = await addWebhook({ secret: 'second' })
    await webhooks.rotateSecret('acme', second.id, { secret: 'third', gracePeriodSeconds: 3600 })
    await webhooks.renameTenant(named('acme'), named('globex'), { reseal: (secret, id) => `${secret} of ${id}` })
    same([await webhooks.findSecrets('globex', first.id), await webhooks.findSecrets('globex', second.id)],
      [[`first of ${first.id}`], [`third of ${second.id}`, `second of ${second.id}`]], 'the secrets')
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a secret that expired is dropped by a rename and not resealed'
  }, async ({ webhooks, addWebhook, wait }) => {
    const { id } = await addWebhook({ secret: 'first' })
    await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 1 })
    await wait(1000)
    const resealed: string[] = []
    await webhooks.renameTenant(named('acme'), named('globex'), {
      reseal: (secret) => resealed[resealed.push(secret) - 1] ?? ''
    })
    same(
      [resealed, await webhooks.findSecrets('globex', id)],
      [['second'], ['second']],
      'the resealed secrets, and those found'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a rename whose reseal throws changes nothing'
  }, async ({ webhooks, addWebhook }) => {
    const first = await addWebhook({ secret: 'first' })
    const second = await addWebhook({ secret: 'second' })
    function reseal (secret: string): string {
      if (secret === 'second') throw new Error('no key opens it')
      return 'resealed'
    }
    await rejects(
      webhooks.renameTenant(named('acme'), named('globex'), { reseal }),
      'renaming with a reseal that throws'
    )
    same(
      [await webhooks.find('acme', first.id), await webhooks.find('acme', second.id)],
      [first, second],
      'the webhooks'
    )
    same(
      [await webhooks.findSecrets('acme', first.id), await webhooks.count('globex', {})],
      [['first'], 0],
      'the secrets, and the number of webhooks of globex'
    )
    same(
      await webhooks.renameTenant(named('acme'), named('globex'), keep),
      2,
      'the webhooks that the next rename moves'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a tenant cannot be renamed to one that has a webhook or an event'
  }, async ({ webhooks, addWebhook, emit }) => {
    const webhook = await addWebhook()
    const theirs = await addWebhook({ tenantSlug: 'globex' })
    same(
      await webhooks.renameTenant(named('acme'), named('globex'), keep),
      null,
      'the result with a webhook in the way'
    )
    await webhooks.delete('globex', theirs.id)
    await emit({ tenantSlug: 'globex' })
    same(await webhooks.renameTenant(named('acme'), named('globex'), keep), null, 'the result with an event in the way')
    same(
      [await webhooks.find('acme', webhook.id), await webhooks.count('globex', {})],
      [webhook, 0],
      'the webhook, and the number of webhooks of globex'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a tenant without data can be renamed, and its old name used again'
  }, async ({ webhooks, addWebhook }) => {
    same(
      await webhooks.renameTenant(named('acme'), named('globex'), keep),
      0,
      'the result for a tenant that has nothing'
    )
    const { id } = await addWebhook({ tenantSlug: 'globex' })
    same(await webhooks.renameTenant(named('globex'), named('acme'), keep), 1, 'the result of renaming it back')
    same(
      [await webhooks.count('globex', {}), (await webhooks.find('acme', id))?.id],
      [0, id],
      'the webhook under both names'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'an attempt in flight counts after its tenant is renamed'
  }, async ({ webhooks, addWebhook, emit, claimAll, recordAttempts, claim, log }) => {
    const webhook = await addWebhook()
    await emit()
    await emit()
    const [first, second] = await claimAll(2)
    await webhooks.renameTenant(named('acme'), named('globex'), keep)
    await recordAttempts([delivered(first), retry(second)])
    same(
      [statuses(await log(webhook, 'globex')), await claim()],
      [['delivered', 'pending'], []],
      'the log, and the claimed deliveries'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant',
    name: 'renaming commits with the host\'s transaction, or is rejected by a storage without transactions'
  }, async ({ harness, webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    if (harness.begin === undefined) {
      await rejects(
        webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction: {} }),
        'renaming with a transaction'
      )
    } else {
      const lost = await harness.begin()
      same(
        await webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction: lost.transaction }),
        1,
        'the result in a transaction'
      )
      await lost.rollback()
      for (const transaction of await endedTransactions(harness)) {
        await rejects(
          webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction }),
          'renaming with a transaction that has ended'
        )
      }
    }
    same(
      [(await webhooks.find('acme', id))?.id, await webhooks.count('globex', {})],
      [id, 0],
      'the webhook under both names'
    )
    if (harness.begin === undefined) return
    const done = await harness.begin()
    await webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction: done.transaction })
    await done.commit()
    same((await webhooks.find('globex', id))?.id, id, 'the webhook after the commit')
  })
]
