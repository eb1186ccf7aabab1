import t from 'tap'
import type pg from 'pg'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

/** Inserts events whose age in days is an SQL expression over their number, `n`. */
async function insertEvents (pool: pg.Pool, count: number, days: string): Promise<void> {
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select gen_random_uuid(), 'acme', 'job.created', '{}', '', date_trunc('milliseconds', now()) - (${days}) * interval '1 day'
    from generate_series(1, $1) n`, [count])
}

async function countEvents (pool: pg.Pool): Promise<number> {
  return Number((await pool.query('select count(*) from recruiting.events')).rows[0].count)
}

t.test('events with a future date do not prevent later ones from being pruned', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  await insertEvents(pool, 1500, '-1')
  await insertEvents(pool, 30, '40.5 - n % 20')
  await insertEvents(pool, 10, '5')
  let pruned = 0
  for (let count = -1; count !== 0; pruned += count) count = await deliveries.prune({ retentionDays: 30, limit: 7 })
  t.equal(pruned, 21)
  t.equal(await countEvents(pool), 1519)
})

t.test('pruning skips old events that still have deliveries and continues after them', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  await insertEvents(pool, 20, '40')
  await pool.query(`
    insert into recruiting.queue (event_seq, webhook_id, event_type, due_at, created_at)
    select seq, 1, type, now(), now() from recruiting.events`)
  await insertEvents(pool, 3, '40')
  t.equal(await deliveries.prune({ retentionDays: 30, limit: 5 }), 3)
  t.equal(await countEvents(pool), 20)
})

t.test('a prune reads old events only', async (t) => {
  const { pool } = await startPostgresHost(t)
  async function readBuffers (): Promise<number> {
    const { rows } = await pool.query(
      'explain (analyze, buffers, format json) select pruned from recruiting.prune_v1(30, 1000, null)')
    const plan = rows[0]['QUERY PLAN'][0].Plan
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  }
  await insertEvents(pool, 100, '5')
  await pool.query('analyze recruiting.events')
  await readBuffers()
  const few = await readBuffers()
  await insertEvents(pool, 5000, '5')
  await pool.query('analyze recruiting.events')
  await readBuffers()
  t.ok(await readBuffers() <= few + 10, `${few} buffers at 100 young events`)
})
