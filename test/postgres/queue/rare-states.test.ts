import t from 'tap'
import { createEvent, createWebhook, failed, lenient } from '../../../src/testing/support/samples.js'
import type { ClaimedDelivery } from '../../../src/ports/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('states that are rare', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)

  async function claimOne (): Promise<ClaimedDelivery> {
    await clear()
    const id = await webhooks.nextId('acme')
    await webhooks.create('acme', createWebhook(id), 10)
    await deliveries.record('acme', createEvent('evt_1'))
    const [claimed] = await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
    if (claimed === undefined) throw new Error('nothing was due')
    return claimed
  }

  t.test('a verdict on an earlier address does not disable the webhook', async (t) => {
    const { webhookId } = await claimOne()
    await webhooks.update('acme', webhookId, { target_url: 'https://new.example.com/' })
    await pool.query("insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, verdict) select id, revision - 1, now(), 1, false, 'gone' from recruiting.webhooks")
    await deliveries.record('acme', createEvent('evt_2'))
    await pool.query('update recruiting.queue set lane = 1, fence = null, leased_until = null')
    const [claimed] = await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
    t.ok(claimed)
    if (claimed !== undefined) await deliveries.recordAttempts([failed(claimed)], lenient)
    t.match(await webhooks.find('acme', webhookId), { status: 'active' })
    t.match((await pool.query('select verdict from recruiting.webhook_health')).rows, [{ verdict: null }])
  })

  t.test('a first attempt that is released is due at once, also below a mark', async (t) => {
    const claimed = await claimOne()
    await pool.query('insert into recruiting.marks (webhook_id, first_leased, first_fresh, safe_fresh) values ($1, 0, 1000000, 1000000)', [claimed.webhookId])
    await deliveries.release([claimed])
    t.match(await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 }), [{ eventId: 'evt_1' }])
  })

  t.test('a stopped delivery that a transaction of the host has locked is recorded later', async (t) => {
    const claimed = await claimOne()
    await webhooks.update('acme', claimed.webhookId, { status: 'inactive' })
    const client = await pool.connect()
    await client.query('begin')
    t.equal((await client.query('select from recruiting.deliveries for update')).rowCount, 1)
    const result = { ...failed(claimed), responseExcerpt: 'Ada Lovelace' }
    t.strictSame((await deliveries.recordAttempts([result], lenient)).map(({ deliveryId }) => deliveryId), [claimed.deliveryId])
    await client.query('rollback')
    client.release()
    t.strictSame(await deliveries.recordAttempts([result], lenient), [])
    const found = await deliveries.find('acme', claimed.webhookId, claimed.deliveryId)
    t.match(found, { status: 'skipped', attempts: [{ response_excerpt: 'Ada Lovelace' }] })
  })

  t.test('the response to a delivery that was stopped, and whose subject was erased then, is not kept', async (t) => {
    for (const storage of [postgresStorage(pool), memoryStorage()]) {
      await clear()
      const id = await storage.webhooks.nextId('acme')
      await storage.webhooks.create('acme', createWebhook(id), 10)
      await storage.deliveries.record('acme', { ...createEvent('evt_1'), subject: 'candidate:1', tombstone: '{"erased":true}' })
      const [claimed] = await storage.deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
      if (claimed === undefined) throw new Error('nothing was due')
      await storage.webhooks.update('acme', id, { status: 'inactive' })
      await storage.deliveries.erase('acme', 'candidate:1')
      await storage.deliveries.recordAttempts([{ ...failed(claimed), responseExcerpt: 'Ada Lovelace' }], lenient)
      t.match(await storage.deliveries.find('acme', id, claimed.deliveryId), { status: 'skipped', attempts: [{ response_excerpt: null }] })
    }
  })

  t.test('a notice that a transaction of the host has locked is confirmed later', async (t) => {
    const { webhookId } = await claimOne()
    await pool.query("insert into recruiting.notices (kind, tenant, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error) values ('failing', 'acme', 'acme', $1, now(), 1, 'timeout')", [webhookId])
    const [claimed] = await deliveries.claimNotices({ limit: 1, leaseMs: 0 })
    const client = await pool.connect()
    await client.query('begin')
    await client.query('select from recruiting.notices for update')
    await deliveries.confirmNotice(Number(claimed?.noticeId))
    await client.query('rollback')
    client.release()
    t.match(await deliveries.claimNotices({ limit: 1, leaseMs: 0 }), [{ noticeId: claimed?.noticeId }])
    await deliveries.confirmNotice(Number(claimed?.noticeId))
    t.strictSame(await deliveries.claimNotices({ limit: 1, leaseMs: 0 }), [])
  })
})
