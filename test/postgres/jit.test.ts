import t from 'tap'
import { measureBuffers } from '../fixtures/postgres/buffers.js'
import { postgresStorage, watch } from '../../src/storages/postgres/index.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'
import { watchPool } from '../fixtures/postgres/watched-pool.js'

t.test("none of the schema's functions uses JIT", async (t) => {
  const { pool } = await startPostgresHost(t)
  await watch(pool, 'recruiting.candidates', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  const { rows } = await pool.query(`
    select proname from pg_proc
    where pronamespace = 'recruiting'::regnamespace and not coalesce('jit=off' = any (proconfig), false)`)
  t.same(rows, [])
})

t.test('statements that read the queue do not use JIT', async (t) => {
  const { pool } = await startPostgresHost(t)
  const compiled = new Map<string, string>()
  const observed = watchPool(pool, async (text, _values, client) => {
    if (!text.includes('.queue ')) return
    const { rows: [row] } = await client.query('show jit')
    compiled.set(text.split(' fastify-recruiting-api ')[1]?.split(/ \w+-\d+ /)[0] ?? text, (row as { jit: string }).jit)
  })
  const { deliveries } = postgresStorage(observed)
  await deliveries.stats()
  await deliveries.tenantStats?.('acme')
  await deliveries.hasPending(0)
  t.strictSame(Object.fromEntries(compiled), {
    'read stats': 'off', 'read stats of a tenant': 'off', 'look for pending deliveries': 'off'
  })
})

t.test("the role's planner settings do not change the plans of workers", async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select n, 'acme', 'x', '{}', '', now() from generate_series(1, 20000) as n;
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'acme', 'acme', 'x', 'active', 'https://x.example/', '{x}', 's', now(), now() from generate_series(1, 2000) as n;
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, fence, leased_until, created_at)
    select seq, seq % 2000 + 1, 'x', case when seq < 100 then 0 else 1 end, now(), 7, now() + interval '1 hour', now() from recruiting.events`)
  await pool.query('vacuum analyze')
  const { rows: leases } = await pool.query(
    'select webhook_id, id as delivery_id, fence, event_seq from recruiting.queue where lane = 0 limit 64'
  )
  const results = leases.map((lease, ordinal) => ({ ...lease, ordinal, outcome: 'delivered', duration_ms: 1 }))
  const column = (name: string) => leases.map((lease) => lease[name])
  const statements: Record<string, [string, unknown[]]> = {
    claim: ['select * from recruiting.claim_v1(64, 4, 60000, null)', []],
    'record attempts': ['select recruiting.record_attempts_v1($1, 60, 1, 60, null)', [JSON.stringify(results)]],
    'read deliveries': ['select recruiting.read_claimed_v1($1, $2)', [column('webhook_id'), column('event_seq')]],
    release: ['select recruiting.release_v1($1, $2, $3)', ['webhook_id', 'delivery_id', 'fence'].map(column)],
    sweep: ['select recruiting.sweep_v1(1, 100)', []]
  }
  const settings = ['indexscan', 'indexonlyscan', 'bitmapscan', 'tidscan', 'nestloop']
    .map((name) => `set enable_${name} to off`)
    .join('; ')
  for (const [name, [text, values]] of Object.entries(statements)) {
    const buffers: number[] = []
    for (const set of ['', settings]) {
      const client = await pool.connect()
      await client.query(`begin; ${set}`)
      buffers.push(await measureBuffers(client, text, values))
      await client.query('rollback')
      client.release(true)
      await pool.query('vacuum recruiting.queue')
    }
    const [usual = 0, forced = 0] = buffers
    t.ok(forced <= 2 * usual + 50, `${name}: ${usual} and ${forced} buffers`)
  }
})
