import t from 'tap'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

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

t.test('a page of events with a subject reads a few rows, however many events there are', async (t) => {
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
