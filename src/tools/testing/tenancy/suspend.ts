import {
  benchCases, eventIds, followsTransaction, statuses, type StorageDriver, webhookCases
} from '../support/driver.js'
import { holds, same } from '../support/expect.js'
import { delivered, failed, retry } from '../support/samples.js'

const test = webhookCases('tenancy', 'webhooks')
const emptyTest = benchCases('tenancy', 'webhooks')

async function listSuspended ({ webhooks }: Pick<StorageDriver, 'webhooks'>): Promise<Array<[string, string]>> {
  return (await webhooks.listStates()).flatMap(({ tenantId, suspendedSince }) =>
    suspendedSince === null ? [] : [[tenantId, suspendedSince]])
}

export const suspendCases = [
  test('suspendTenant',
    'deliveries of a suspended tenant are recorded and wait, those of others do not', async (t, webhook) => {
      await t.addWebhook({ tenantSlug: 'globex' })
      await t.emitMany(3)
      await t.recordAttempts([retry(await t.claimOne(), { retryInMs: 0 }), failed(await t.claimOne())])
      await t.webhooks.suspendTenant('acme')
      same((await t.emit()).deliveries, 1, 'the number of deliveries of a new event')
      await t.emit({ tenantSlug: 'globex' })
      await t.replay(webhook)
      same(eventIds(await t.claim()), ['evt_5'], 'the claimed deliveries')
      same([await t.claim(), statuses(await t.log(webhook))],
        [[], ['pending', 'failed', 'pending', 'pending', 'pending']], 'the next claim, and the log')
      await t.webhooks.resumeTenant('acme', { pending: 'deliver' })
      same(eventIds(await t.claim()), ['evt_3', 'evt_4', 'evt_1', 'evt_2'], 'the claimed deliveries after the end')
    }),

  emptyTest('create', 'a webhook created for a suspended tenant waits too', async (t) => {
    await t.webhooks.suspendTenant('acme')
    await t.addWebhook()
    await t.emit()
    same(await t.claim(), [], 'the claimed deliveries')
    await t.webhooks.resumeTenant('acme', { pending: 'deliver' })
    same(eventIds(await t.claim()), ['evt_1'], 'the claimed deliveries after the end')
  }),

  emptyTest('suspendTenant', 'a tenant is suspended since the first call, until it is resumed', async (t) => {
    same(await t.webhooks.resumeTenant('acme', { pending: 'deliver' }), null, 'the result for an ordinary tenant')
    const since = await t.webhooks.suspendTenant('acme')
    await t.wait(5)
    same([await t.webhooks.suspendTenant('acme'), await listSuspended(t)], [since, [['acme', since]]],
      'the result of the second call, and the suspended tenants')
    const { suspendedSince } = await t.deliveries.tenantStats('acme')
    same([suspendedSince, (await t.deliveries.stats()).suspendedTenants], [since, 1], 'the stats')
    same(await t.webhooks.resumeTenant('acme', { pending: 'skip' }), since, 'the result of resumeTenant')
    same([await listSuspended(t), (await t.deliveries.tenantStats('acme')).suspendedSince], [[], null],
      'the suspended tenants, and the stats')
  }),

  test('resumeTenant', 'skipped deliveries are not claimed, and can be replayed', async (t, webhook) => {
    await t.emit()
    await t.webhooks.suspendTenant('acme')
    await t.emit()
    same(await t.claim(), [], 'the claimed deliveries')
    await t.webhooks.resumeTenant('acme', { pending: 'skip' })
    await t.emit()
    same(eventIds(await t.claimRest()), ['evt_3'], 'the claimed deliveries after the end')
    same(await t.replay(webhook), { queued: 2, truncated: false }, 'the result of replay')
    same(statuses(await t.log(webhook)), ['skipped', 'skipped', 'pending', 'pending', 'pending'], 'the log')
  }),

  test('resumeTenant', 'only active webhooks continue, without failures and pauses', async (t, { id }) => {
    await t.attempt((lease) => retry(lease, { pauseMs: 600_000, retryInMs: 0 }))
    const other = await t.addWebhook()
    await t.emit()
    await t.webhooks.suspendTenant('acme')
    await t.webhooks.update('acme', other.id, { status: 'inactive' })
    await t.webhooks.resumeTenant('acme', { pending: 'deliver' })
    const claimed = await t.claimRest()
    same(claimed.map(({ webhookId, eventId, isFailing }) => [webhookId, eventId, isFailing]),
      [[id, 'evt_2', false], [id, 'evt_1', false]], 'the claimed deliveries')
    same((await t.webhooks.findHealth('acme', id))?.failing_since, null, 'failing_since')
  }),

  test('deliveries.recordAttempts', 'an attempt in flight counts after its tenant is suspended', async (t, webhook) => {
    const [first, second] = await t.lease(2)
    await t.webhooks.suspendTenant('acme')
    if (first && second) await t.recordAttempts([delivered(first), retry(second, { retryInMs: 0 })])
    same([statuses(await t.log(webhook)), await t.claim()], [['delivered', 'pending'], []],
      'the log, and the claimed deliveries')
  }),

  test('deliveries.claimDue', 'a lease that expires in a suspension is claimed after it', async (t) => {
    await t.lease(1, { leaseMs: 20 })
    await t.webhooks.suspendTenant('acme')
    await t.wait(20)
    same(await t.claim(), [], 'the claimed deliveries')
    await t.webhooks.resumeTenant('acme', { pending: 'deliver' })
    same(eventIds(await t.claim()), ['evt_1'], 'the claimed deliveries after the end')
  }),

  test('deliveries.hasPending', 'deliveries of a suspended tenant are pending in the stats, but not due', async (t) => {
    await t.emitMany(2)
    await t.recordAttempts([retry(await t.claimOne(), { retryInMs: 0 })])
    await t.webhooks.suspendTenant('acme')
    const look = async (): Promise<unknown[]> => {
      const { pending, due, oldestDueMs } = await t.deliveries.stats()
      const own = await t.deliveries.tenantStats('acme')
      return [await t.deliveries.hasPending(1e9), pending, due, oldestDueMs, own.pending, own.oldestDueMs]
    }
    await t.wait(5)
    const waiting = [false, 2, 0, 0, 2, 0]
    same(await look(), waiting, 'hasPending and the stats before a claim')
    await t.claim()
    same(await look(), waiting, 'hasPending and the stats after a claim')
    await t.webhooks.resumeTenant('acme', { pending: 'deliver' })
    const [isPending, pending, due] = await look()
    same([isPending, pending, due], [true, 2, 2], 'hasPending and the stats after the end')
  }),

  test('deliveries.prune',
    'deliveries that wait for longer than the retention period are deleted', async (t, webhook) => {
      await t.addWebhook({ tenantSlug: 'globex' })
      await t.emit()
      await t.emit({ tenantSlug: 'globex' })
      await t.webhooks.suspendTenant('acme')
      await t.claim({ leaseMs: 10 })
      await t.wait(10)
      const pruned = await t.deliveries.prune({ retentionDays: 0, limit: 100 })
      same([pruned, await t.log(webhook), eventIds(await t.claim())], [2, [], ['evt_2']],
        'the result of prune, the log and the claimed deliveries')
    }),

  test('renameTenant', 'a suspended tenant stays suspended when it is renamed', async (t) => {
    const since = await t.webhooks.suspendTenant('acme')
    await t.emit()
    await t.rename()
    await t.emit({ tenantSlug: 'globex' })
    await t.addWebhook({ tenantSlug: 'acme' })
    await t.emit()
    same([await listSuspended(t), eventIds(await t.claim())], [[['globex', since]], ['evt_3']],
      'the suspended tenants, and the claimed deliveries')
    await t.webhooks.resumeTenant('globex', { pending: 'deliver' })
    same(eventIds(await t.claim()), ['evt_1', 'evt_2'], 'the claimed deliveries after the end')
  }),

  test('removeTenant', 'removing a suspended tenant ends the suspension', async (t) => {
    await t.webhooks.suspendTenant('acme')
    await t.remove()
    await t.addWebhook()
    await t.emit()
    same([await listSuspended(t), (await t.claim()).length], [[], 1],
      'the suspended tenants, and the claims of the next tenant')
  }),

  test('suspendTenant',
    "suspending and resuming commit with the host's transaction; a storage without transactions rejects it",
    async (t) => {
      const resume = (transaction: unknown) => t.webhooks.resumeTenant('acme', { pending: 'deliver', transaction })
      const suspend = (transaction: unknown) => t.webhooks.suspendTenant('acme', { transaction })
      const look = async (isSuspended: boolean): Promise<void> => {
        same((await listSuspended(t)).length, Number(isSuspended), 'the number of suspended tenants')
        await t.emit()
        same((await t.claim({ leaseMs: 10 })).length === 0, isSuspended, 'whether nothing is claimed')
      }
      await followsTransaction(t, 'suspending', { write: suspend, look })
      await t.webhooks.suspendTenant('acme')
      await followsTransaction(t, 'resuming', {
        write: resume,
        check: (since) => holds(since !== null, 'resumeTenant in a transaction returns when the suspension began'),
        look: (isResumed) => look(!isResumed)
      })
    })
]
