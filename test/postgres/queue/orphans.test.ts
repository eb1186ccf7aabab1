import t from 'tap'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { createEvent, createWebhook } from '../../../src/testing/support/samples.js'

t.test('deliveries that are left pending to a webhook that is not active', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)

  const claim = () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
  const log = async (): Promise<string[]> => (await pool.query(`
    select 'pending' as status, id from recruiting.queue union all select status, id from recruiting.deliveries order by id`)).rows.map(({ status }) => status)

  async function addWebhook (): Promise<number> {
    const id = await webhooks.nextId('acme')
    await webhooks.create('acme', createWebhook(id), 10)
    return id
  }

  t.test('an emit that began before its webhook was stopped or deleted leaves them, and pruning ends them', async (t) => {
    const [stopped, deleted, active] = [await addWebhook(), await addWebhook(), await addWebhook()]
    const client = await pool.connect()
    await client.query('begin')
    await deliveries.record('acme', createEvent('evt_1'), client)
    await webhooks.update('acme', stopped, { status: 'inactive' })
    await webhooks.delete('acme', deleted)
    await client.query('commit')
    client.release()

    t.strictSame(await log(), ['pending', 'pending', 'pending'])
    t.strictSame((await claim()).map(({ webhookId }) => webhookId), [active])
    t.match(await deliveries.stats(), { pending: 1 })
    t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 0)
    t.strictSame(await log(), ['skipped', 'cancelled', 'pending'])
  })

  t.test('they are ended, and not delivered, before their webhook becomes active again', async (t) => {
    const id = await addWebhook()
    await deliveries.record('acme', createEvent('evt_1'))
    // As a process leaves it that dies between the two steps.
    await pool.query("update recruiting.webhooks set status = 'disabled'")
    await webhooks.update('acme', id, { status: 'active' })
    t.strictSame(await log(), ['skipped'])
    t.strictSame(await claim(), [])
  })
})
