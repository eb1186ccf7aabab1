import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { createRecruiting } from '../../../src/index.js'
import { createEvent, failed, lenient } from '../../../src/tools/testing/support/samples.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { createGatedPool } from '../../fixtures/postgres/gated-pool.js'
import { addWebhook, storeWebhook } from '../../fixtures/api/webhooks.js'

t.test('a notice reaches the host', async (t) => {
  const { pool, storage, clear } = await startPostgresHost(t)
  const { webhooks, deliveries } = storage

  async function claimOne () {
    await clear()
    await addWebhook(webhooks)
    await deliveries.record('acme', createEvent('evt_1'))
    const [lease] = await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
    if (lease === undefined) throw new Error('nothing was claimed')
    return lease
  }

  /** Returns what another process reports to its host at startup. */
  async function startHost (): Promise<unknown> {
    const engine = createRecruiting({ storage })
    const notice = await new Promise((resolve) => {
      engine.on('webhookDisabled', resolve)
      engine.on('webhookFailing', resolve)
    })
    await engine.close()
    return notice
  }

  t.test('even if the process dies after the verdict', async (t) => {
    const lease = await claimOne()
    const gated = createGatedPool(pool, /disable_failing_webhooks/, 0)
    const completing = postgresStorage(gated.pool).deliveries.recordAttempts([failed(lease, { isGone: true })], lenient)
    await gated.stopped
    t.match(await webhooks.find('acme', lease.webhookId), { status: 'active' })
    t.same(await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 1 }), [])
    gated.open(new Error('the process has died'))
    await t.rejects(completing)
    t.match(await startHost(), { kind: 'gone', webhookId: lease.webhookId })
    t.match(await webhooks.find('acme', lease.webhookId), { status: 'disabled' })
  })

  t.test('even if its webhook was reactivated or deleted in between', async (t) => {
    const lease = await claimOne()
    await deliveries.recordAttempts([failed(lease, { isGone: true })], lenient)
    await webhooks.update('acme', lease.webhookId, { status: 'active' })
    await webhooks.delete('acme', lease.webhookId)
    t.match(await startHost(), { kind: 'gone', webhookId: lease.webhookId })
  })

  t.test('only if it still applies', async (t) => {
    const lease = await claimOne()
    const gated = createGatedPool(pool, /disable_failing_webhooks/, 0)
    const completing = postgresStorage(gated.pool).deliveries.recordAttempts([failed(lease, { isGone: true })], lenient)
    await gated.stopped
    await webhooks.update('acme', lease.webhookId, { target_url: 'https://hooks.example/moved' })
    gated.open()
    await completing
    t.same(await deliveries.claimNotices({ limit: 1, leaseMs: 1 }), [])
    t.match(await webhooks.find('acme', lease.webhookId), { status: 'active' })
  })
})

t.test('statements that wait for a lock or a connection time out', async (t) => {
  const { server, pool, storage } = await startPostgresHost(t)
  const { id } = await storeWebhook(storage, 'acme')
  const small = server.createPool({ max: 1 })
  const hurried = postgresStorage(small, { queryTimeoutMs: 1000 }).webhooks

  const client = await begin(pool, 'begin; lock table recruiting.webhooks')
  const waiting = [hurried.find('acme', id), hurried.create('acme', { id: id + 1, tenantSlug: 'acme', name: 'x', status: 'active', target_url: 'x', event_types: [], secret: 'x' }, { maxPerTenant: 5 })]
  await t.rejects(Promise.all(waiting.map((each) => each.then(() => 'done'))), { code: 'storage_timeout' })
  await Promise.allSettled(waiting)
  await client.finish('rollback')

  t.match(await hurried.find('acme', id), { id })
  t.equal(await hurried.find('acme', id + 1), null)
  while (small.totalCount - small.idleCount > 0) await sleep(20)
})
