import t from 'tap'
import type pg from 'pg'
import { begin, startPostgresHost } from '../fixtures/postgres/postgres.js'

const batch = 500

/** Removes events and returns the buffers that each batch reads. */
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

t.test('each batch of a removal costs the same, because it starts where the previous one stopped', async (t) => {
  const { pool } = await startPostgresHost(t)
  // While an old snapshot is open, vacuum and scans keep the entries of deleted events.
  const reader = await begin(pool, 'begin isolation level repeatable read; select from recruiting.events')
  const buffers = await removeInBatches(pool, 6000).finally(() => reader.release(true))
  t.equal(buffers.length, 12)
  const [, second = 0] = buffers
  const last = Math.max(...buffers.slice(-3))
  t.ok(last < 1.3 * second, `buffers of the second and the last batches: ${second}, ${last}`)
})

t.test('the next pass deletes an event committed late under a removed key', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  await removeInBatches(pool, 600)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    values ('late', 'gone', 'job.created', '{}', '', now() - interval '1 day')`)
  await deliveries.prune({ retentionDays: 30, limit: 10 })
  t.equal((await pool.query('select from recruiting.events')).rows.length, 0)
})

t.test('a rename costs the same for any number of changes, and prune deletes them in batches', async (t) => {
  const { pool, storage: { changes, webhooks } } = await startPostgresHost(t)
  const named = (id: string) => ({ id, slug: id })
  const rowCount = async () =>
    (await pool.query('select id from recruiting.changes union all select id from recruiting.recent_changes')).rows
      .length
  await pool.query(
    "insert into recruiting.recent_changes (tenant, kind, id, deleted, changed_at) select 'acme', 'candidate', n, false, now() from generate_series(1, 25000) n"
  )
  await changes.prune({ retentionDays: 30, limit: 1 })
  await pool.query(
    "insert into recruiting.recent_changes (tenant, kind, id, deleted, changed_at) select 'acme', 'own_list', n, false, now() from generate_series(1, 100) n"
  )

  await webhooks.renameTenant(named('acme'), named('globex'), { reseal: (text) => text })
  t.equal(await rowCount(), 25_100)
  const start = await changes.begin('acme', 'candidate')
  t.strictSame(
    (
      await pool.query(
        "select read_to = (select max(seq) from recruiting.recent_changes) as is_behind from recruiting.change_bounds_v1('acme', 'candidate', 0)"
      )
    ).rows,
    [{ is_behind: true }]
  )
  await changes.record('acme', { kind: 'candidate', id: '7', deleted: false })

  const batches: number[] = []
  for (let left = await rowCount(); left > 1; left = await rowCount()) {
    await pool.query('select recruiting.delete_ended_changes_v1(10000)')
    batches.push(left - await rowCount())
  }
  // The new name has none.
  t.strictSame(batches, [0, 0, 10_000, 10_000, 5000, 100])
  await changes.prune({ retentionDays: 30, limit: 1 })
  t.strictSame((await changes.list('acme', 'candidate', { after: start, limit: 10 }))?.ids, ['7'])
  t.strictSame((await pool.query('select tenant from recruiting.ended_changes')).rows, [
    { tenant: null },
    { tenant: null }
  ])
})
