import t from 'tap'
import type { AttemptResult } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { createEvent, createWebhook, failed, lenient } from '../../../src/testing/support/samples.js'
import { createGatedPool } from '../../fixtures/postgres/gated-pool.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('a retry that meets others', async (t) => {
  const { pool, storage: { webhooks, deliveries }, lockWaited } = await startPostgresHost(t)

  /** A webhook with one failed delivery. */
  async function addFailed (): Promise<{ webhookId: number, id: number }> {
    const webhookId = await webhooks.nextId('acme')
    await webhooks.create('acme', createWebhook(webhookId), 50)
    await deliveries.record('acme', createEvent(`evt_${webhookId}`))
    const claimed = await deliveries.claimDue({ limit: 50, perEndpoint: 50, leaseMs: 60_000 })
    await deliveries.recordAttempts(claimed.map((lease): AttemptResult => failed(lease)), lenient)
    const id = claimed.find((lease) => lease.webhookId === webhookId)?.deliveryId ?? 0
    return { webhookId, id }
  }

  t.test('a replay that queued the event at the same time: the retry returns its delivery', async (t) => {
    const { webhookId, id } = await addFailed()
    const client = await pool.connect()
    await client.query('begin')
    await client.query(`
      insert into recruiting.queue (event_seq, webhook_id, lane, is_replay, due_at, created_at)
      select seq, $1, 3, true, now(), now() from recruiting.events where id = $2`, [webhookId, `evt_${webhookId}`])
    const retrying = deliveries.retry('acme', webhookId, id)
    await lockWaited(' retry ')
    await client.query('commit')
    client.release()
    const retried = await retrying
    const filter = { status: 'pending' } as const
    const pending = await deliveries.list('acme', webhookId, { filter, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 9 })
    t.strictSame(pending, [retried])
  })

  t.test('a stop of its webhook: nothing is left pending', async (t) => {
    const { webhookId, id } = await addFailed()
    const gated = createGatedPool(pool, /check webhook/, 0)
    const retrying = postgresStorage(gated.pool).deliveries.retry('acme', webhookId, id)
    await gated.stopped
    await pool.query("update recruiting.webhooks set status = 'inactive', skip_before = nextval('recruiting.delivery_ids') where id = $1", [webhookId])
    gated.open()
    t.match(await retrying, { status: 'skipped' })
    t.equal(await deliveries.count('acme', webhookId, { status: 'pending' }), 0)
  })

  t.test('a deletion of its webhook: there is no delivery', async (t) => {
    const { webhookId, id } = await addFailed()
    const gated = createGatedPool(pool, /check webhook/, 0)
    const retrying = postgresStorage(gated.pool).deliveries.retry('acme', webhookId, id)
    await gated.stopped
    await webhooks.delete('acme', webhookId)
    gated.open()
    t.equal(await retrying, null)
  })
})
