import {
  benchCases, followsTransaction, statuses, type StorageDriver, webhookCases
} from '../support/driver.js'
import { rejects, same } from '../support/expect.js'
import { createEvent, createWebhook, delivered, failed, lenient, named, retry } from '../support/samples.js'

const test = webhookCases('tenancy', 'webhooks')
const emptyTest = benchCases('tenancy', 'webhooks')

const key = { idempotencyKey: 'once', subject: 'candidate:42', tombstone: '{"erased":true}' }

const longestRestMs = 2000

async function listResting ({ webhooks }: Pick<StorageDriver, 'webhooks'>): Promise<string[]> {
  return (await webhooks.listStates()).flatMap(({ tenantId, restsUntil }) => restsUntil === null ? [] : [tenantId])
}

/** Removes acme and immediately lists the resting tenants. */
async function rest (driver: StorageDriver, restMs: number): Promise<{ resting: string[], tookMs: number }> {
  const start = performance.now()
  await driver.remove({ restSeconds: restMs / 1000 })
  const resting = await listResting(driver)
  return { resting, tookMs: performance.now() - start }
}

export const renameAndRemoveCases = [
  // About renaming a tenant.
  test('renameTenant',
    'a renamed tenant has its webhooks and their log only under the new name', async (t, webhook) => {
      await t.attempt(delivered)
      same(await t.rename(), 1, 'the result of renameTenant')
      same([await t.webhooks.find('acme', webhook.id), await t.webhooks.find('globex', webhook.id)], [null, webhook],
        'the webhook under both names')
      same([await t.log(webhook), statuses(await t.log(webhook, 'globex'))], [[], ['delivered']],
        'the log under both names')
    }),

  test('renameTenant', 'pending deliveries and notices of a renamed tenant carry the new name', async (t, { id }) => {
    await t.emitMany(2)
    await t.deliveries.recordAttempts([failed(await t.claimOne(), { isGone: true })], lenient)
    await t.rename()
    same((await t.takeNotices()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]), [['globex', id]],
      'the notices')
    await t.webhooks.update('globex', id, { status: 'active' })
    await t.emit({ tenantSlug: 'globex' })
    const claimed = await t.claimOne()
    same([claimed.tenantSlug, claimed.body], ['globex', '{"id":"evt_3"}'], 'the claimed delivery')
    await t.recordAttempts([delivered(claimed)])
  }),

  test('renameTenant', 'subjects, idempotency keys and events of a renamed tenant get its new name', async (t, { id }) => {
    await t.emit(key)
    await t.rename()
    same((await t.emit({ ...key, tenantSlug: 'globex' })).id, 'evt_1',
      'the event recorded with the same key under the new name')
    same((await t.emit(key)).id, 'evt_3', 'the event recorded with the same key under the old name')
    same((await t.claimOne()).tenantSlug, 'globex', 'the tenant of the claimed delivery')
    await t.webhooks.update('globex', id, { status: 'inactive' })
    await t.webhooks.update('globex', id, { status: 'active' })
    same(await t.replay({ id }, {}, 'globex'), { queued: 1, truncated: false }, 'the result of replay')
    same([await t.erase(), await t.erase('candidate:42', 'globex')], [1, 1], 'the events erased under each name')
  }),

  emptyTest('renameTenant', 'a rename stores the secrets that reseal returns', async (t) => {
    const first = await t.addWebhook({ secret: 'first' })
    const second = await t.addWebhook({ secret: 'second' })
    await t.webhooks.rotateSecret('acme', second.id, { secret: 'third', gracePeriodSeconds: 3600 })
    await t.rename({ reseal: (secret, id) => `${secret} of ${id}` })
    same([await t.webhooks.findSecrets('globex', first.id), await t.webhooks.findSecrets('globex', second.id)],
      [[`first of ${first.id}`], [`third of ${second.id}`, `second of ${second.id}`]], 'the secrets')
  }),

  emptyTest('renameTenant', 'a rename drops expired secrets without resealing them', async (t) => {
    const { id } = await t.addWebhook({ secret: 'first' })
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 1 })
    await t.wait(1000)
    const resealed: string[] = []
    await t.rename({ reseal: (secret) => resealed[resealed.push(secret) - 1] ?? '' })
    same([resealed, await t.webhooks.findSecrets('globex', id)], [['second'], ['second']],
      'the resealed secrets, and those found')
  }),

  emptyTest('renameTenant', 'a rename whose reseal throws changes nothing', async (t) => {
    const first = await t.addWebhook({ secret: 'first' })
    const second = await t.addWebhook({ secret: 'second' })
    function reseal (secret: string): string {
      if (secret === 'second') throw new Error('no key opens it')
      return 'resealed'
    }
    await rejects(t.rename({ reseal }), 'renaming with a reseal that throws')
    same([await t.webhooks.find('acme', first.id), await t.webhooks.find('acme', second.id)], [first, second],
      'the webhooks')
    same([await t.webhooks.findSecrets('acme', first.id), await t.webhooks.count('globex', {})], [['first'], 0],
      'the secrets, and the number of webhooks of globex')
    same(await t.rename(), 2, 'the webhooks that the next rename moves')
  }),

  test('renameTenant', 'a tenant cannot be renamed to one that rests, or has a webhook or an event', async (t, webhook) => {
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    same(await t.rename(), null, 'the result with a webhook in the way')
    await t.webhooks.delete('globex', theirs.id)
    await t.emit({ tenantSlug: 'globex' })
    same(await t.rename(), null, 'the result with an event in the way')
    await t.webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    same(await t.rename(), null, 'the result while the new name rests')
    same([await t.webhooks.find('acme', webhook.id), await t.webhooks.count('globex', {})], [webhook, 0],
      'the webhook, and the number of webhooks of globex')
  }),

  emptyTest('renameTenant', 'a tenant without data can be renamed, and its old name used again', async (t) => {
    same(await t.rename(), 0, 'the result for a tenant that has nothing')
    const { id } = await t.addWebhook({ tenantSlug: 'globex' })
    const back = await t.webhooks.renameTenant(named('globex'), named('acme'), { reseal: (secret) => secret })
    same(back, 1, 'the result of renaming it back')
    same([await t.webhooks.count('globex', {}), (await t.webhooks.find('acme', id))?.id], [0, id],
      'the webhook under both names')
  }),

  test('renameTenant', 'an attempt in flight counts after its tenant is renamed', async (t, webhook) => {
    await t.emitMany(2)
    const [first, second] = await t.claimAll(2)
    await t.rename()
    await t.recordAttempts([delivered(first), retry(second)])
    same([statuses(await t.log(webhook, 'globex')), await t.claim()], [['delivered', 'pending'], []],
      'the log, and the claimed deliveries')
  }),

  test('renameTenant',
    'renaming commits with the host\'s transaction; a storage without transactions rejects it',
    async (t, { id }) => {
      await followsTransaction(t, 'renaming', {
        write: (transaction) => t.rename({ transaction }),
        check: (webhooks) => same(webhooks, 1, 'the result in a transaction'),
        async look (isRenamed) {
          same([(await t.webhooks.find('acme', id))?.id, (await t.webhooks.find('globex', id))?.id],
            isRenamed ? [undefined, id] : [id, undefined], 'the webhook under both names')
          same(await t.webhooks.count('globex', {}), isRenamed ? 1 : 0, 'the number of webhooks of the new name')
        }
      })
    }),

  // About removing a tenant.
  test('removeTenant',
    'removing a tenant deletes its webhooks, deliveries and notices, and no others', async (t, webhook) => {
      const theirs = await t.addWebhook({ tenantSlug: 'globex' })
      await t.emit()
      await t.deliveries.recordAttempts([failed(await t.claimOne(), { isGone: true })], lenient)
      const another = await t.addWebhook()
      await t.emit()
      await t.emit({ tenantSlug: 'globex' })
      await t.remove()
      same([await t.webhooks.count('acme', {}), await t.webhooks.find('acme', webhook.id)], [0, null],
        'the number of webhooks, and one of them')
      same([await t.log(another), await t.takeNotices()], [[], []], 'the log and the notices')
      same((await t.claim()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]), [['globex', theirs.id]],
        'the claimed deliveries')
    }),

  test('removeTenant', 'an attempt in flight is not repeated after its tenant is removed', async (t) => {
    await t.emitMany(2)
    const [lost, done] = await t.claimAll(2, { leaseMs: 20 })
    await t.remove()
    await t.recordAttempts([delivered(done)])
    await t.wait(20)
    same([lost.tenantSlug, await t.claim()], ['acme', []], 'the tenant of the lost lease, and the claimed deliveries')
  }),

  test('removeTenant', 'a tenant with more events than the limit is removed by several calls', async (t) => {
    await t.emitMany(5)
    const counts = [await t.remove({ limit: 2 })]
    while (counts.at(-1) !== 0 && counts.length < 10) counts.push(await t.remove({ limit: 2 }))
    same([counts.filter((count) => count > 2), counts.at(-1)], [[], 0], 'results above the limit, and the last one')
  }),

  test('removeTenant', 'prune deletes the remaining events of a removed tenant', async (t) => {
    await t.emitMany(5)
    await t.remove({ limit: 1 })
    while (await t.deliveries.prune({ retentionDays: 1, limit: 2 }) > 0);
    same(await t.remove({ limit: 1 }), 0, 'the events left after prune')
  }),

  test('removeTenant', 'a new tenant with the name of a removed one sees none of its data', async (t) => {
    await t.emit(key)
    await t.emitMany(3)
    await t.remove({ limit: 1 })
    const webhook = await t.addWebhook()
    same(await t.replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'the result of replay')
    same(await t.erase(), 0, 'the number of erased events')
    same((await t.emit(key)).id, 'evt_5', 'the event recorded with the same idempotency key')
    same((await t.claimOne()).webhookId, webhook.id, 'the webhook of the claimed delivery')
  }),

  test('removeTenant',
    'removing commits with the host\'s transaction; a storage without transactions rejects it',
    async (t, { id }) => {
      await t.emit()
      await followsTransaction(t, 'removing', {
        write: (transaction) => t.remove({ transaction }),
        async look (isRemoved) {
          const claimed = await t.claim({ leaseMs: 10 })
          same([(await t.webhooks.find('acme', id))?.id, claimed.map(({ webhookId }) => webhookId)],
            isRemoved ? [undefined, []] : [id, [id]], 'the webhook, and those of the claimed deliveries')
        }
      })
    }),

  // About resting tenants, and about renaming a tenant that keeps its id.
  emptyTest('removeTenant', 'a removed tenant rests for the given time', async (t) => {
    let restMs = 20
    let { resting, tookMs } = await rest(t, restMs)
    // In real time, a short rest may end before a slow storage answers.
    while (resting.length === 0 && tookMs >= restMs && restMs < longestRestMs) {
      ;({ resting, tookMs } = await rest(t, (restMs *= 10)))
    }
    same(resting, ['acme'], 'the resting tenants')
    await t.wait(restMs + 10)
    same(await listResting(t), [], 'the resting tenants, after the time')
    await t.addWebhook()
  }),

  test('renameTenant', 'the previous id of a renamed tenant rests, and the new one does not', async (t) => {
    await t.rename({ restSeconds: 3600 })
    same(await listResting(t), ['acme'], 'the resting tenants')
    await t.emit({ tenantSlug: 'globex' })
  }),

  emptyTest('deliveries.record', 'nothing can be created or recorded for a resting tenant, only for others', async (t) => {
    await t.remove({ restSeconds: 3600 })
    const id = await t.webhooks.nextId('acme')
    await rejects(t.webhooks.create('acme', createWebhook(id), { maxPerTenant: 50 }), 'creating a webhook')
    same(await t.webhooks.count('acme', {}), 0, 'the number of webhooks')
    await rejects(t.deliveries.record('acme', createEvent('evt_late')), 'recording an event')
    await t.emit({ tenantSlug: 'globex' })
    same(await t.remove(), 0, 'the events left of the removed tenant')
  }),

  emptyTest('listStates', 'each resting tenant is listed with the end of its rest', async (t) => {
    await t.remove({ restSeconds: 60 })
    await t.webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    const resting = await t.webhooks.listStates()
    const [first, second] = resting.sort((one, other) => one.tenantId < other.tenantId ? -1 : 1)
    same([first?.tenantId, second?.tenantId], ['acme', 'globex'], 'the resting tenants')
    same(Math.round((Date.parse(String(second?.restsUntil)) - Date.parse(String(first?.restsUntil))) / 1000), 3540,
      'the seconds between the ends')
  }),

  emptyTest('renameTenant', 'a tenant that keeps its id keeps everything, under a new name', async (t) => {
    const { id } = await t.addWebhook({ tenantSlug: '4f1c6a2e', secret: 'sealed' })
    await t.emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })
    const unsealed = (): never => { throw new Error('a secret of a tenant that keeps its id was resealed') }
    const [from, to] = [{ slug: 'acme', id: '4f1c6a2e' }, { slug: 'globex', id: '4f1c6a2e' }]
    same(await t.webhooks.renameTenant(from, to, { reseal: unsealed, restSeconds: 0 }), 1, 'the result of renameTenant')
    const { tenantId, tenantSlug, webhookId, secrets } = await t.claimOne()
    same([tenantId, tenantSlug, webhookId, secrets], ['4f1c6a2e', 'globex', id, ['sealed']], 'the claimed delivery')
    same((await t.emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })).id, 'evt_1',
      'the event recorded with the same key')
    same(await listResting(t), [], 'the resting tenants')
  }),

  emptyTest('listStates', 'renamed and removed tenants are listed, each time with a later time', async (t) => {
    const options = { reseal: (secret: string): string => secret, restSeconds: 0 }
    const times: Array<string | null | undefined> = []
    for (const change of [
      () => t.webhooks.renameTenant(named('acme'), { slug: 'globex', id: 'acme' }, options),
      () => t.webhooks.renameTenant(named('acme'), { slug: 'initech', id: 'acme' }, options),
      () => t.remove()
    ]) {
      await change()
      const states = await t.webhooks.listStates()
      same(states.map(({ tenantId }) => tenantId), ['acme'], 'the tenants')
      times.push(states[0]?.renamedAt)
    }
    same([...new Set(times)].sort(), times, 'the times, in order and without repeats')
    same(times.filter((time) => typeof time !== 'string'), [], 'the times that are missing')
  })
]
