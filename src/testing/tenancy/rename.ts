import { benchCases, statuses, endedTransactions } from '../support/driver.js'
import { rejects, same } from '../support/expect.js'
import { delivered, failed, lenient, named, retry } from '../support/samples.js'

const test = benchCases('tenancy')

const keep = { reseal: (secret: string): string => secret }
const key = { idempotencyKey: 'once', subject: 'candidate:42', tombstone: '{"erased":true}' }

/** Cases about renaming a tenant. */
export const renameCases = [
  test('webhooks.renameTenant',
    'a renamed tenant has its webhooks and their log only under the new name', async (t) => {
      const webhook = await t.addWebhook()
      await t.attempt(delivered)
      same(await t.webhooks.renameTenant(named('acme'), named('globex'), keep), 1, 'the result of renameTenant')
      same([await t.webhooks.find('acme', webhook.id), await t.webhooks.find('globex', webhook.id)], [null, webhook],
        'the webhook under both names')
      same([await t.log(webhook), statuses(await t.log(webhook, 'globex'))], [[], ['delivered']],
        'the log under both names')
    }),

  test('webhooks.renameTenant', 'pending deliveries and notices of a renamed tenant carry the new name', async (t) => {
    const { id } = await t.addWebhook()
    await t.emit()
    await t.emit()
    await t.deliveries.recordAttempts([failed(await t.claimOne(), { isGone: true })], lenient)
    await t.webhooks.renameTenant(named('acme'), named('globex'), keep)
    same((await t.takeNotices()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]), [['globex', id]],
      'the notices')
    await t.webhooks.update('globex', id, { status: 'active' })
    await t.emit({ tenantSlug: 'globex' })
    const claimed = await t.claimOne()
    same([claimed.tenantSlug, claimed.body], ['globex', '{"id":"evt_3"}'], 'the claimed delivery')
    await t.recordAttempts([delivered(claimed)])
  }),

  test('webhooks.renameTenant',
    'subjects and idempotency keys of a renamed tenant belong to the new name', async (t) => {
      await t.addWebhook()
      await t.emit(key)
      await t.webhooks.renameTenant(named('acme'), named('globex'), keep)
      same((await t.emit({ ...key, tenantSlug: 'globex' })).id, 'evt_1',
        'the event recorded with the same key under the new name')
      same((await t.emit(key)).id, 'evt_3', 'the event recorded with the same key under the old name')
      same((await t.claimOne()).tenantSlug, 'globex', 'the tenant of the claimed delivery')
      same(
        [
          (await t.deliveries.erase('acme', 'candidate:42')).events,
          (await t.deliveries.erase('globex', 'candidate:42')).events
        ],
        [1, 1],
        'the events erased under each name'
      )
    }),

  test('webhooks.renameTenant', 'events of a renamed tenant are replayed under the new name', async (t) => {
    const { id } = await t.addWebhook()
    await t.attempt(delivered)
    await t.webhooks.renameTenant(named('acme'), named('globex'), keep)
    const selection = { include: 'all' as const, eventTypes: null, eventIds: null, since: null, until: null, limit: 10 }
    same(await t.deliveries.replay('globex', id, selection), { queued: 1, truncated: false }, 'the result of replay')
  }),

  test('webhooks.renameTenant', 'secrets of a renamed tenant are those that reseal returns', async (t) => {
    const first = await t.addWebhook({ secret: 'first' })
    const second = await t.addWebhook({ secret: 'second' })
    await t.webhooks.rotateSecret('acme', second.id, { secret: 'third', gracePeriodSeconds: 3600 })
    await t.webhooks.renameTenant(named('acme'), named('globex'), { reseal: (secret, id) => `${secret} of ${id}` })
    same([await t.webhooks.findSecrets('globex', first.id), await t.webhooks.findSecrets('globex', second.id)],
      [[`first of ${first.id}`], [`third of ${second.id}`, `second of ${second.id}`]], 'the secrets')
  }),

  test('webhooks.renameTenant', 'a secret that expired is dropped by a rename and not resealed', async (t) => {
    const { id } = await t.addWebhook({ secret: 'first' })
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 1 })
    await t.wait(1000)
    const resealed: string[] = []
    await t.webhooks.renameTenant(named('acme'), named('globex'), {
      reseal: (secret) => resealed[resealed.push(secret) - 1] ?? ''
    })
    same([resealed, await t.webhooks.findSecrets('globex', id)], [['second'], ['second']],
      'the resealed secrets, and those found')
  }),

  test('webhooks.renameTenant', 'a rename whose reseal throws changes nothing', async (t) => {
    const first = await t.addWebhook({ secret: 'first' })
    const second = await t.addWebhook({ secret: 'second' })
    function reseal (secret: string): string {
      if (secret === 'second') throw new Error('no key opens it')
      return 'resealed'
    }
    await rejects(t.webhooks.renameTenant(named('acme'), named('globex'), { reseal }),
      'renaming with a reseal that throws')
    same([await t.webhooks.find('acme', first.id), await t.webhooks.find('acme', second.id)], [first, second],
      'the webhooks')
    same([await t.webhooks.findSecrets('acme', first.id), await t.webhooks.count('globex', {})], [['first'], 0],
      'the secrets, and the number of webhooks of globex')
    same(await t.webhooks.renameTenant(named('acme'), named('globex'), keep), 2,
      'the webhooks that the next rename moves')
  }),

  test('webhooks.renameTenant', 'a tenant cannot be renamed to one that has a webhook or an event', async (t) => {
    const webhook = await t.addWebhook()
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    same(await t.webhooks.renameTenant(named('acme'), named('globex'), keep), null,
      'the result with a webhook in the way')
    await t.webhooks.delete('globex', theirs.id)
    await t.emit({ tenantSlug: 'globex' })
    same(await t.webhooks.renameTenant(named('acme'), named('globex'), keep), null,
      'the result with an event in the way')
    same([await t.webhooks.find('acme', webhook.id), await t.webhooks.count('globex', {})], [webhook, 0],
      'the webhook, and the number of webhooks of globex')
  }),

  test('webhooks.renameTenant', 'a tenant without data can be renamed, and its old name used again', async (t) => {
    same(await t.webhooks.renameTenant(named('acme'), named('globex'), keep), 0,
      'the result for a tenant that has nothing')
    const { id } = await t.addWebhook({ tenantSlug: 'globex' })
    same(await t.webhooks.renameTenant(named('globex'), named('acme'), keep), 1, 'the result of renaming it back')
    same([await t.webhooks.count('globex', {}), (await t.webhooks.find('acme', id))?.id], [0, id],
      'the webhook under both names')
  }),

  test('webhooks.renameTenant', 'an attempt in flight counts after its tenant is renamed', async (t) => {
    const webhook = await t.addWebhook()
    await t.emit()
    await t.emit()
    const [first, second] = await t.claimAll(2)
    await t.webhooks.renameTenant(named('acme'), named('globex'), keep)
    await t.recordAttempts([delivered(first), retry(second)])
    same([statuses(await t.log(webhook, 'globex')), await t.claim()], [['delivered', 'pending'], []],
      'the log, and the claimed deliveries')
  }),

  test('webhooks.renameTenant',
    'renaming commits with the host\'s transaction, or is rejected by a storage without transactions', async (t) => {
      const { id } = await t.addWebhook()
      if (t.harness.begin === undefined) {
        await rejects(t.webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction: {} }),
          'renaming with a transaction')
      } else {
        const lost = await t.harness.begin()
        same(
          await t.webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction: lost.transaction }),
          1,
          'the result in a transaction'
        )
        await lost.rollback()
        for (const transaction of await endedTransactions(t.harness)) {
          await rejects(t.webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction }),
            'renaming with a transaction that has ended')
        }
      }
      same([(await t.webhooks.find('acme', id))?.id, await t.webhooks.count('globex', {})], [id, 0],
        'the webhook under both names')
      if (t.harness.begin === undefined) return
      const done = await t.harness.begin()
      await t.webhooks.renameTenant(named('acme'), named('globex'), { ...keep, transaction: done.transaction })
      await done.commit()
      same((await t.webhooks.find('globex', id))?.id, id, 'the webhook after the commit')
    })
]
