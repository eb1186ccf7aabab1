import { benchCases, type StorageDriver, endedTransactions } from '../support/driver.js'
import { rejects, same } from '../support/expect.js'
import { createEvent, createWebhook, delivered, failed, lenient, named } from '../support/samples.js'

const test = benchCases('tenancy')

const key = { idempotencyKey: 'once', subject: 'candidate:42', tombstone: '{"erased":true}' }

/** Cases about removing a tenant. */
export const removeCases = [
  test('webhooks.removeTenant',
    'a removed tenant has no webhook, no delivery and no notice, and others keep theirs', async (t) => {
      const webhook = await t.addWebhook()
      const theirs = await t.addWebhook({ tenantSlug: 'globex' })
      await t.emit()
      await t.deliveries.recordAttempts([failed(await t.claimOne(), { isGone: true })], lenient)
      const another = await t.addWebhook()
      await t.emit()
      await t.emit({ tenantSlug: 'globex' })
      await t.webhooks.removeTenant('acme', { limit: 100 })
      same(
        [
          await t.webhooks.count('acme', {}),
          await t.webhooks.find('acme', webhook.id),
          await t.log(another),
          await t.takeNotices()
        ],
        [0, null, [], []],
        'the webhooks, one webhook, the log and the notices'
      )
      same((await t.claim()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]), [['globex', theirs.id]],
        'the claimed deliveries')
    }),

  test('webhooks.removeTenant', 'an attempt in flight is not repeated after its tenant is removed', async (t) => {
    await t.addWebhook()
    await t.emit()
    await t.emit()
    const [lost, done] = await t.claimAll(2, { leaseMs: 20 })
    await t.webhooks.removeTenant('acme', { limit: 100 })
    await t.recordAttempts([delivered(done)])
    await t.wait(20)
    same([lost.tenantSlug, await t.claim()], ['acme', []], 'the tenant of the lost lease, and the claimed deliveries')
  }),

  test('webhooks.removeTenant', 'a tenant with more events than the limit is removed by several calls', async (t) => {
    await t.addWebhook()
    await t.emitMany(5)
    const counts = [await t.webhooks.removeTenant('acme', { limit: 2 })]
    while (counts.at(-1) !== 0 && counts.length < 10) counts.push(await t.webhooks.removeTenant('acme', { limit: 2 }))
    same([counts.filter((count) => count > 2), counts.at(-1)], [[], 0], 'results above the limit, and the last one')
  }),

  test('webhooks.removeTenant', 'prune removes the events that removing a tenant has left', async (t) => {
    await t.addWebhook()
    await t.emitMany(5)
    await t.webhooks.removeTenant('acme', { limit: 1 })
    while (await t.deliveries.prune({ retentionDays: 1, limit: 2 }) > 0);
    same(await t.webhooks.removeTenant('acme', { limit: 1 }), 0, 'the events left after prune')
  }),

  test('webhooks.removeTenant', 'a new tenant with the name of a removed one sees nothing of it', async (t) => {
    await t.addWebhook()
    await t.emit(key)
    await t.emitMany(3)
    await t.webhooks.removeTenant('acme', { limit: 1 })
    const webhook = await t.addWebhook()
    same(await t.replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'the result of replay')
    same((await t.deliveries.erase('acme', 'candidate:42')).events, 0, 'the number of erased events')
    same((await t.emit(key)).id, 'evt_5', 'the event recorded with the same idempotency key')
    same((await t.claimOne()).webhookId, webhook.id, 'the webhook of the claimed delivery')
  }),

  test('webhooks.removeTenant',
    'removing commits with the host\'s transaction, or is rejected by a storage without transactions', async (t) => {
      const { id } = await t.addWebhook()
      await t.emit()
      if (t.harness.begin === undefined) {
        await rejects(t.webhooks.removeTenant('acme', { limit: 100, transaction: {} }), 'removing with a transaction')
      } else {
        const lost = await t.harness.begin()
        await t.webhooks.removeTenant('acme', { limit: 100, transaction: lost.transaction })
        await lost.rollback()
        for (const transaction of await endedTransactions(t.harness)) {
          await rejects(t.webhooks.removeTenant('acme', { limit: 100, transaction }),
            'removing with a transaction that has ended')
        }
      }
      same([(await t.webhooks.find('acme', id))?.id, (await t.claimOne({ leaseMs: 10 })).webhookId], [id, id],
        'the webhook, and that of the claimed delivery')
      if (t.harness.begin === undefined) return
      const done = await t.harness.begin()
      await t.webhooks.removeTenant('acme', { limit: 100, transaction: done.transaction })
      await done.commit()
      same([await t.webhooks.find('acme', id), await t.claim()], [null, []], 'the webhook, and the claimed deliveries')
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
  test('webhooks.removeTenant', 'a removed tenant rests for the given time', async (t) => {
    let restMs = 20
    let { resting, tookMs } = await rest(t, restMs)
    // In real time, a slow storage is asked after the end of a short rest.
    while (resting.length === 0 && tookMs >= restMs && restMs < longestRestMs) {
      ;({ resting, tookMs } = await rest(t, (restMs *= 10)))
    }
    same(resting, ['acme'], 'the resting tenants')
    await t.wait(restMs + 10)
    same(await listResting(t), [], 'the resting tenants, after the time')
    await t.addWebhook()
  }),

  test('webhooks.renameTenant', 'the previous id of a renamed tenant rests, and the new one does not', async (t) => {
    await t.addWebhook()
    await t.webhooks.renameTenant(named('acme'), named('globex'), { ...keep, restSeconds: 3600 })
    same(await listResting(t), ['acme'], 'the resting tenants')
    await t.emit({ tenantSlug: 'globex' })
  }),

  test('webhooks.renameTenant', 'a tenant cannot be renamed to one that rests', async (t) => {
    const { id } = await t.addWebhook()
    await t.webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    same(await t.webhooks.renameTenant(named('acme'), named('globex'), keep), null, 'the result of renameTenant')
    same((await t.webhooks.find('acme', id))?.id, id, 'the webhook under the old name')
  }),

  test('webhooks.create', 'a tenant that rests gets no webhook', async (t) => {
    await t.webhooks.removeTenant('acme', { limit: 10, restSeconds: 3600 })
    const id = await t.webhooks.nextId('acme')
    await rejects(t.webhooks.create('acme', createWebhook(id), 50), 'creating a webhook')
    same(await t.webhooks.count('acme', {}), 0, 'the number of webhooks')
  }),

  test('deliveries.record', 'a tenant that rests gets no event, and others do', async (t) => {
    await t.webhooks.removeTenant('acme', { limit: 10, restSeconds: 3600 })
    await rejects(t.deliveries.record('acme', createEvent('evt_late')), 'recording an event')
    await t.emit({ tenantSlug: 'globex' })
    same(await t.webhooks.removeTenant('acme', { limit: 10 }), 0, 'the events left of the removed tenant')
  }),

  test('webhooks.listResting', 'each resting tenant is listed with the end of its rest', async (t) => {
    await t.webhooks.removeTenant('acme', { limit: 10, restSeconds: 60 })
    await t.webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    const resting = await t.webhooks.listResting()
    const [first, second] = resting.sort((one, other) => one.tenantId < other.tenantId ? -1 : 1)
    same([first?.tenantId, second?.tenantId], ['acme', 'globex'], 'the resting tenants')
    same(Math.round((Date.parse(String(second?.until)) - Date.parse(String(first?.until))) / 1000), 3540,
      'the seconds between the ends')
  }),

  test('webhooks.renameTenant', 'a tenant that keeps its id keeps everything, under a new name', async (t) => {
    const { id } = await t.addWebhook({ tenantSlug: '4f1c6a2e', secret: 'sealed' })
    await t.emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })
    const unsealed = (): never => { throw new Error('a secret of a tenant that keeps its id was resealed') }
    same(
      await t.webhooks.renameTenant(
        { slug: 'acme', id: '4f1c6a2e' },
        { slug: 'globex', id: '4f1c6a2e' },
        { reseal: unsealed, restSeconds: 0 }
      ),
      1,
      'the result of renameTenant'
    )
    const claimed = await t.claimOne()
    same(
      [claimed.tenantId, claimed.tenantSlug, claimed.webhookId, claimed.secrets],
      ['4f1c6a2e', 'globex', id, ['sealed']],
      'the claimed delivery'
    )
    same((await t.emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })).id, 'evt_1',
      'the event recorded with the same key')
    same(await t.webhooks.listResting(), [], 'the resting tenants')
  })
]
