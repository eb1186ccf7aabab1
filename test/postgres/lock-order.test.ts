import t from 'tap'
import { createEvent, createWebhook, delivered, lenient } from '../../src/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres.js'

// Who stops or erases deliveries locks them in the order of webhooks and ids. In another order two would wait for each other.
t.test('deliveries are completed in the order in which everybody locks them', async (t) => {
  const { pool, lockWaited, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  for (const id of [1, 2]) await webhooks.create('acme', createWebhook(id), 10)
  for (const id of ['evt_1', 'evt_2', 'evt_3']) await deliveries.record('acme', createEvent(id))
  const claimed = await deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
  t.equal(claimed.length, 6)
  const ordered = claimed.toSorted((a, b) => a.webhookId - b.webhookId || a.deliveryId - b.deliveryId)

  const client = await pool.connect()
  await client.query('begin')
  const lock = (which: string) => client.query(
    `select webhook_id::int, id::int from recruiting.deliveries where ${which} order by webhook_id, id for no key update skip locked`)
  const [first] = ordered
  await lock(`(webhook_id, id) = (${first?.webhookId}, ${first?.deliveryId})`)

  const completing = deliveries.complete(ordered.toReversed().map(delivered), lenient)
  await lockWaited('complete_attempts')
  const { rows } = await lock('true')
  await client.query('commit')
  client.release()
  await completing
  t.same(rows, ordered.map(({ webhookId, deliveryId }) => ({ webhook_id: webhookId, id: deliveryId })), 'none but the first is waited for')
})
