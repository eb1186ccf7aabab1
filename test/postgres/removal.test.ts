import t from 'tap'
import { postgresStorage } from '../../src/postgres/index.js'
import { createGatedPool } from '../fixtures/postgres/gated-pool.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const insert = `
  insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
  select $1 || n, $1, 'candidate.created', '{}', '', now() - interval '2 days' from generate_series(1, $2::integer) as n`

t.test('a batch of a removed tenant reads no more than its own events, however many are left', async (t) => {
  const { pool, storage: { webhooks } } = await startPostgresHost(t)

  async function readBuffers (tenantSlug: string, events: number): Promise<number> {
    await pool.query(insert, [tenantSlug, events])
    await pool.query('vacuum analyze recruiting.events')
    t.equal(await webhooks.removeTenant(tenantSlug, { limit: 10 }), 10)
    const { rows } = await pool.query('explain (analyze, buffers, format json) select recruiting.remove_events_v1(10)')
    const plan = rows[0]['QUERY PLAN'][0].Plan
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  }

  await readBuffers('first', 1000)
  const few = await readBuffers('few', 1000)
  const many = await readBuffers('many', 100_000)
  t.ok(many <= 1.5 * few, `${many} buffers with 100,000 events, ${few} with 1,000`)
  t.equal(await webhooks.removeTenant('many', { limit: 200_000 }), 0)
})

t.test('pruning looks for stopped deliveries once at the start, not with every batch', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(insert, ['acme', 100])
  const gated = createGatedPool(pool, /find_stopped/, -1)
  const { deliveries } = postgresStorage(gated.pool)
  for (let batch = 0; batch < 9; batch++) t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 10)
  t.equal(gated.count, 1)
})

t.test('a prune that failed starts again with the next one', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(insert, ['acme', 100])
  const stopped = createGatedPool(pool, /find_stopped/, -1)
  const failing = createGatedPool(stopped.pool, /prune_v1/, 1)
  const { deliveries } = postgresStorage(failing.pool)
  t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 10)
  failing.open(new Error('the server is gone'))
  await t.rejects(deliveries.prune({ retentionDays: 1, limit: 10 }), { message: 'the server is gone' })
  t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 10)
  t.equal(stopped.count, 2)
})
