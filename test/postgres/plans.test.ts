import type pg from 'pg'
import t from 'tap'
import { postgresStorage } from '../../src/storages/postgres/index.js'
import { measureBuffers } from '../fixtures/postgres/buffers.js'
import { type Reading, measurePool } from '../fixtures/postgres/measured-pool.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const most = 110

/** Two tenants own all rows, so the planner expects that every tenant owns half of them. */
async function startWithTwoTenants (t: Parameters<typeof startPostgresHost>[0]) {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, subject, fingerprint, recorded_at)
    select 'evt_' || n, case when n <= 10000 then 'first' else 'second' end, 'job.created', '{}', 'job ' || n % 20, '',
      '2030-01-01Z'::timestamptz + n * interval '1 s'
    from generate_series(1, 40000) as n;
    insert into recruiting.recent_changes (tenant, kind, id, deleted, changed_at)
    select case when n <= 10000 then 'first' else 'second' end, 'candidate', n, false, now() from generate_series(1, 40000) n;
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, tenant, tenant, '', 'active', 'https://acme.test/', '{job.created}', '', now(), now()
    from unnest('{first, third}'::text[]) with ordinality as of (tenant, n)`)
  await pool.query('vacuum (analyze) recruiting.events, recruiting.recent_changes')
  return pool
}

t.test('reads for a tenant without rows, and of the first page, do not read the rows of others', async (t) => {
  const pool = await startWithTwoTenants(t)
  const readings: Reading[] = []
  const { feed, deliveries, changes } = postgresStorage(measurePool(pool, '"recruiting".', readings))
  const all = { include: 'all', eventIds: null, since: null, until: null, limit: 10 } as const
  const reads: Record<string, (tenant: string) => Promise<unknown>> = {
    'list events': (tenant) => feed.list(tenant, { after: null, limit: 10, eventTypes: null }),
    'list events of a type': (tenant) => feed.list(tenant, { after: null, limit: 10, eventTypes: ['job.closed'] }),
    'find a position': (tenant) => feed.endBefore(tenant, '2030-01-02T00:00:00.000Z'),
    'latest events': (tenant) => feed.latest(tenant, { limit: 10, eventTypes: null }),
    'latest events of a type': (tenant) => feed.latest(tenant, { limit: 10, eventTypes: ['job.closed'] }),
    'events of a subject': (tenant) => deliveries.listSubjectEvents(tenant, 'job 19', { after: 0, limit: 10 }),
    'count a replay': (tenant) =>
      deliveries.countReplay(tenant, tenant === 'first' ? 1 : 2, { ...all, eventTypes: null, until: '2030-01-01T00:00:20.000Z' }),
    'list changes': async (tenant) => changes.list(tenant, 'candidate', { after: await changes.begin(tenant, 'candidate'), limit: 10 })
  }
  for (const [name, read] of Object.entries(reads)) {
    for (const tenant of ['first', 'second', 'third']) {
      // The first call also reads the catalogue.
      await read(tenant)
      readings.splice(0)
      await read(tenant)
      t.ok(readings.length > 0, 'is measured')
      for (const { buffers } of readings) t.ok(buffers < most, `${name} of ${tenant}: ${buffers} buffers`)
    }
  }
})

t.test('renames and removals do not read the rows of others', async (t) => {
  const pool = await startWithTwoTenants(t)
  for (const text of [
    "select recruiting.has_events_v1('third')", "select recruiting.lock_tenant_v1('third', 'fourth')",
    "select recruiting.merge_tenant_v1('fifth', 'fourth', 'fourth', '[]', 1000)",
    "select recruiting.remove_tenant_v1('third', 1000, 60)", "select recruiting.remove_tenant_v1('third', 1000, 60)",
    'select recruiting.remove_events_v1(1000)'
  ]) {
    await pool.query('begin')
    await pool.query(text)
    const buffers = await measureBuffers(pool, text)
    await pool.query('commit')
    t.ok(buffers < most, `${text}: ${buffers} buffers`)
  }
})

t.test('without subscriptions of agents, a poll is one statement that reads no webhooks', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.webhooks
      (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'first', 'first', '', 'active', 'https://acme.test/', '{job.created}', '', now(), now()
    from generate_series(1, 10000) as n`)
  const readings: Reading[] = []
  const { subscriptions } = postgresStorage(measurePool(pool, '"recruiting".', readings))
  for (const moment of ['before statistics', 'with statistics']) {
    readings.splice(0)
    await subscriptions.fill({ limit: 10, window: 10 })
    t.equal(readings.length, 1, moment)
    for (const { buffers } of readings) t.ok(buffers < 10, `${moment}: ${buffers} buffers`)
    await pool.query('vacuum analyze recruiting.webhooks')
  }
})

t.test('searches by time do not read what is due later', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  // A claim on a slow machine marks queues, for which it reads all webhooks.
  await pool.query(`
    create or replace function recruiting.mark_v1 (p_after bigint, p_until bigint) returns void language sql as '';
    insert into recruiting.webhooks
      (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'first', 'first', '', 'active', 'https://acme.test/', '{job.created}', '', now(), now()
    from generate_series(1, 2000) n;
    insert into recruiting.queue (event_seq, webhook_id, event_type, due_at, created_at)
    select n, n, 'job.created', now() + interval '1 day', now() from generate_series(1, 2000) n;
    insert into recruiting.paused_webhooks (webhook_id, until)
    select n, now() + interval '1 day' from generate_series(1, 2000) n;
    insert into recruiting.requests (tenant, digest, fingerprint, claim, is_atomic, leased_until, expires_at)
    select 'first', n, '', '', false, now(), now() + interval '1 day' from generate_series(1, 2000) n`)
  await pool.query('vacuum analyze')
  const calls: Record<string, () => Promise<unknown>> = {
    claim: () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 }),
    hasPending: () => deliveries.hasPending(0),
    prune: () => deliveries.prune({ retentionDays: 30, limit: 1000 })
  }
  for (const [name, call] of Object.entries(calls)) {
    const before = await countEntries(pool)
    await call()
    t.ok(await countEntries(pool) - before < 100, name)
  }
})

t.test('a claim does not read the log', async (t) => {
  const { pool, storage: { deliveries } } = await startPostgresHost(t)
  const claim = () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
  await pool.query(`
    insert into recruiting.webhooks
      (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    values (1, 'first', 'first', '', 'active', 'https://acme.test/', '{job.created}', '', now(), now());
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select n, 'first', 'job.created', '{}', '', now() from generate_series(1, 20) n`)
  // After some calls, the plans for empty tables stay.
  for (let seq = 1; seq <= 20; seq++) {
    await pool.query(`
      insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
      values ($1, 1, 'job.created', 1, now(), now())`, [seq])
    if (seq <= 10) t.equal((await claim()).length, 1)
  }
  // Those with a fence were stopped in a process that was killed.
  await pool.query(`
    insert into recruiting.deliveries
      (webhook_id, id, event_seq, event_type, status, created_at, ended_at, fence, leased_until)
    select 1, 100 + n, n, 'job.created', 'skipped', now(), now(), case when n % 2 = 0 then n end, now()
    from generate_series(1, 20000) n;
    update recruiting.queue set leased_until = now() where lane = 0`)
  const before = await countEntries(pool)
  t.equal((await claim()).length, 10)
  t.ok(await countEntries(pool) - before < 200)
})

/** Returns how many index entries and rows of whole tables were read so far. */
async function countEntries (pool: pg.Pool): Promise<number> {
  // Each connection reports its reads when it is idle.
  await Promise.all(Array.from({ length: pool.totalCount }, () =>
    pool.query('select pg_stat_force_next_flush(), pg_sleep(0.05)')))
  const { rows: [row] } = await pool.query(`
    select (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = 'recruiting')
      + (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = 'recruiting') as count`)
  return Number(row.count)
}
