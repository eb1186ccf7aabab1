import t from 'tap'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('a page of a subject\'s events reads few rows for any number of events', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, subject, recorded_at)
    select 'evt_' || n, 'acme', 'job.updated', '{}', '', 'job:' || n % 2, now() from generate_series(1, 40000) as n`)
  await pool.query("insert into recruiting.event_subjects select 'acme', 'team:' || seq % 2, seq from recruiting.events")
  await pool.query('vacuum analyze recruiting.events')
  await pool.query('vacuum analyze recruiting.event_subjects')
  const client = await pool.connect()
  await client.query("load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set client_min_messages = log")
  client.release()
  const plans: string[] = []
  client.on('notice', ({ message }) => { plans.push(String(message)) })
  for (const subject of ['job:1', 'team:1']) {
    t.equal((await deliveries.listSubjectEvents('acme', subject, { after: 20_000, limit: 10 })).length, 10)
  }
  const buffers = plans.filter((plan) => plan.includes('event_subjects')).map((plan) => Number(/Buffers: shared hit=(\d+)/.exec(plan)?.[1]))
  t.equal(buffers.length, 2)
  for (const count of buffers) t.ok(count < 200, `${count} buffers`)
})
