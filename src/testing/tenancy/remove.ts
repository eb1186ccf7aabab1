import { benchCase, type StorageDriver } from '../support/driver.js'
import { rejects, same } from '../support/expect.js'
import { createEvent, createWebhook, delivered, failed, lenient, named } from '../support/samples.js'
import { endedTransactions } from '../support/wait.js'

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

const longestRestMs = 2000
const keep = { reseal: (secret: string): string => secret }

async function listResting ({ webhooks }: Pick<StorageDriver, 'webhooks'>): Promise<string[]> {
  return (await webhooks.listResting()).map(({ tenantId }) => tenantId)
}

/** Lets acme rest, and lists at once. */
async function rest (driver: StorageDriver, restMs: number): Promise<{ resting: string[], tookMs: number }> {
  const start = performance.now()
  await driver.webhooks.removeTenant('acme', { limit: 10, restSeconds: restMs / 1000 })
  const resting = await listResting(driver)
  return { resting, tookMs: performance.now() - start }
}

/** Cases about tenants whose names rest, and about names of tenants with ids of their own. */
export const restCases = [
  benchCase('tenancy', {
    port: 'webhooks.removeTenant', name: 'a removed tenant rests for the given time'
  }, async (driver) => {
    let restMs = 20
    let { resting, tookMs } = await rest(driver, restMs)
    // In real time, a slow storage is asked after the end of a short rest.
    while (resting.length === 0 && tookMs >= restMs && restMs < longestRestMs) {
      ;({ resting, tookMs } = await rest(driver, (restMs *= 10)))
    }
    same(resting, ['acme'], 'the resting tenants')
    await driver.wait(restMs + 10)
    same(await listResting(driver), [], 'the resting tenants, after the time')
    await driver.addWebhook()
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'the previous id of a renamed tenant rests, and the new one does not'
  }, async (driver) => {
    await driver.addWebhook()
    await driver.webhooks.renameTenant(named('acme'), named('globex'), { ...keep, restSeconds: 3600 })
    same(await listResting(driver), ['acme'], 'the resting tenants')
    await driver.emit({ tenantSlug: 'globex' })
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a tenant cannot be renamed to one that rests'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    await webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    same(await webhooks.renameTenant(named('acme'), named('globex'), keep), null, 'the result of renameTenant')
    same((await webhooks.find('acme', id))?.id, id, 'the webhook under the old name')
  }),

  benchCase('tenancy', {
    port: 'webhooks.create', name: 'a tenant that rests gets no webhook'
  }, async ({ webhooks }) => {
    await webhooks.removeTenant('acme', { limit: 10, restSeconds: 3600 })
    const id = await webhooks.nextId('acme')
    await rejects(webhooks.create('acme', createWebhook(id), 50), 'creating a webhook')
    same(await webhooks.count('acme', {}), 0, 'the number of webhooks')
  }),

  benchCase('tenancy', {
    port: 'deliveries.record', name: 'a tenant that rests gets no event, and others do'
  }, async ({ webhooks, deliveries, emit }) => {
    await webhooks.removeTenant('acme', { limit: 10, restSeconds: 3600 })
    await rejects(deliveries.record('acme', createEvent('evt_late')), 'recording an event')
    await emit({ tenantSlug: 'globex' })
    same(await webhooks.removeTenant('acme', { limit: 10 }), 0, 'the events left of the removed tenant')
  }),

  benchCase('tenancy', {
    port: 'webhooks.listResting', name: 'each resting tenant is listed with the end of its rest'
  }, async ({ webhooks }) => {
    await webhooks.removeTenant('acme', { limit: 10, restSeconds: 60 })
    await webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    const [first, second] = (await webhooks.listResting()).sort((one, other) => one.tenantId < other.tenantId ? -1 : 1)
    same([first?.tenantId, second?.tenantId], ['acme', 'globex'], 'the resting tenants')
    same(
      Math.round((Date.parse(String(second?.until)) - Date.parse(String(first?.until))) / 1000),
      3540,
      'the seconds between the ends'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a tenant that keeps its id keeps everything, under a new name'
  }, async ({ webhooks, addWebhook, emit, claimOne }) => {
    const { id } = await addWebhook({ tenantSlug: '4f1c6a2e', secret: 'sealed' })
    await emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })
    const unsealed = (): never => { throw new Error('a secret of a tenant that keeps its id was resealed') }
    same(
      await webhooks.renameTenant(
        { slug: 'acme', id: '4f1c6a2e' },
        { slug: 'globex', id: '4f1c6a2e' },
        { reseal: unsealed, restSeconds: 0 }
      ),
      1,
      'the result of renameTenant'
    )
    const claimed = await claimOne()
    same(
      [claimed.tenantId, claimed.tenantSlug, claimed.webhookId, claimed.secrets],
      ['4f1c6a2e', 'globex', id, ['sealed']],
      'the claimed delivery'
    )
    same(
      (await emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })).id,
      'evt_1',
      'the event recorded with the same key'
    )
    same(await webhooks.listResting(), [], 'the resting tenants')
  })
]
