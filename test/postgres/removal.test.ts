import t from 'tap'
import type pg from 'pg'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const batch = 500

/** Buffers that each batch of a removal reads. */
async function removeInBatches (pool: pg.Pool, events: number): Promise<number[]> {
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select gen_random_uuid(), 'gone', 'job.created', '{}', '', date_trunc('milliseconds', now()) - n * interval '1 second'
    from generate_series(1, $1) n order by random()`, [events])
  await pool.query(`
    insert into recruiting.deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at)
    select 1, seq, seq, 'job.created', 'delivered', now(), now() from recruiting.events`)
  await pool.query("insert into recruiting.tenants (key) values ('gone') on conflict do nothing")
  await pool.query('analyze recruiting.events, recruiting.deliveries')
  const buffers: number[] = []
  for (let left = 1; left > 0;) {
    await pool.query('begin')
    const { rows } = await pool.query(`explain (analyze, buffers, format json) select recruiting.remove_events_v1(${batch}) as left`)
    await pool.query('commit')
    const plan = rows[0]['QUERY PLAN'][0].Plan
    buffers.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])
    left = Number((await pool.query('select count(*) from recruiting.events')).rows[0].count)
  }
  return buffers
}

t.test('each batch of a removal costs the same, because it begins where the one before stopped', async (t) => {
  const { pool } = await startPostgresHost(t)
  // While an old snapshot is open, vacuum and scans keep the entries of deleted events.
  const reader = await pool.connect()
  await reader.query('begin isolation level repeatable read; select from recruiting.events')
  const buffers = await removeInBatches(pool, 6000).finally(() => reader.release(true))
  t.equal(buffers.length, 12)
  const [, second = 0] = buffers
  const last = Math.max(...buffers.slice(-3))
  t.ok(last < 1.3 * second, `buffers of the second and the last batches: ${second}, ${last}`)
})

t.test('an event that commits late under a removed key goes with the next pass', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  await removeInBatches(pool, 600)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    values ('late', 'gone', 'job.created', '{}', '', now() - interval '1 day')`)
  await deliveries.prune({ retentionDays: 30, limit: 10 })
  t.equal((await pool.query('select from recruiting.events')).rows.length, 0)
})
