import t from 'tap'
import type pg from 'pg'
import { apiKeys, postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'
import { newEvent } from '../fixtures/postgres/changes.js'
import { begin, startPostgresHost } from '../fixtures/postgres/postgres.js'

const fields = ['id', 'full_name']

/** Returns our statements that the only connection of a pool has prepared. */
async function listPrepared (pool: pg.Pool): Promise<Array<{ operation: string, generic_plans: number }>> {
  const { rows } = await pool.query(`
    select substring(statement from '^/[*] fastify-recruiting-api (.*?) [*]/') as operation, generic_plans::int
    from pg_prepared_statements order by 1`)
  return rows
}

t.test('reads are prepared, and planned for their values', async (t) => {
  const { pool, server } = await startPostgresHost(t)
  // With two tenants, PostgreSQL expects that every tenant owns half of the rows.
  await pool.query(`
    insert into recruiting.candidates (tenant_slug, id, full_name, created_at, updated_at)
    select case when n < 20000 then 'large' else 'small' end, n, 'Ada', now(), now() from generate_series(1, 20010) as n;
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select n, case when n < 20000 then 'large' else 'small' end, 'job.created', '{}', '', now() from generate_series(1, 20010) as n;
    insert into recruiting.recent_changes (tenant, kind, id, deleted, changed_at)
    select case when n < 20000 then 'large' else 'small' end, 'candidate', n, false, now() from generate_series(1, 20010) as n`)
  await pool.query('vacuum analyze')
  const own = server.createPool({ max: 1 })
  const { candidates, feed, changes } = postgresStorage(own)
  const position = await changes.begin('large', 'candidate')
  for (let count = 0; count < 20; count++) {
    await candidates.page?.('large', { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200, fields })
    await candidates.find('large', 7, { fields })
    await candidates.listAfter?.('large', { fields, after: null, limit: 200 })
    await candidates.findMany?.('large', Array.from({ length: 200 }, (_, id) => id + 1), { fields })
    await feed.list('large', { after: null, limit: 200, eventTypes: null })
    await changes.list('large', 'candidate', { after: position, limit: 200 })
  }
  const prepared = await listPrepared(own)
  const values = prepared.filter(({ operation }) => !operation.startsWith('read bound '))
  t.same(values, [
    'find candidates', 'find many candidates', 'list candidates by id', 'list changes', 'list events',
    'page of candidates'
  ].map((operation) => ({ operation, generic_plans: 0 })))
})

t.test('a statement that takes too long is cancelled, and others with its text are not', async (t) => {
  const { pool } = await startPostgresHost(t)
  const keys = apiKeys(pool)
  const { key } = await keys.issue({ tenantSlug: 'acme', scopes: [] })
  const credentials = { tenantSlug: 'acme', tenantId: 'acme', key }
  const patient = postgresKeyLookup(pool, { queryTimeoutMs: 60_000, recordUses: false })
  const hurried = postgresKeyLookup(pool, { queryTimeoutMs: 500, recordUses: false })
  await Promise.all([patient(credentials), hurried(credentials)])

  const lock = await begin(pool, 'begin; lock table recruiting.api_keys')
  const waiting = patient(credentials)
  const countWaiting = async (): Promise<number> => {
    const { rows: [row] } = await pool.query(`
      select count(*)::int as count from pg_stat_activity
      where wait_event_type = 'Lock' and starts_with(query, '/* fastify-recruiting-api look up key */')`)
    return row.count
  }
  while (await countWaiting() < 1);
  await t.rejects(hurried(credentials), { code: 'storage_timeout' })
  while (await countWaiting() !== 1);
  await lock.finish('rollback')
  t.match(await waiting, { scopes: [] })
})

t.test('statements that the server no longer knows are sent in full', async (t) => {
  const { server } = await startPostgresHost(t)
  const own = server.createPool({ max: 1 })
  const { deliveries } = postgresStorage(own)
  await deliveries.record('acme', newEvent('1'))
  t.equal((await listPrepared(own)).length, 1)
  await own.query('deallocate all')
  for (const id of ['2', '3']) t.match(await deliveries.record('acme', newEvent(id)), { id })
  t.same(await listPrepared(own), [])
})

t.test('calls at the same time are each sent in full if their connections have forgotten the statement', async (t) => {
  const { server } = await startPostgresHost(t)
  const own = server.createPool({ max: 3 })
  const { deliveries } = postgresStorage(own)
  let count = 0
  const record = () => deliveries.record('acme', newEvent(String(++count)))
  const recordAll = () => Promise.all([record(), record(), record()])
  await recordAll()
  const clients = await Promise.all([own.connect(), own.connect(), own.connect()])
  for (const client of clients) {
    await client.query('deallocate all')
    client.release()
  }
  t.match(await recordAll(), [{ id: '4' }, { id: '5' }, { id: '6' }])
})

t.test('statements are prepared again after a view has changed', async (t) => {
  const { pool, server } = await startPostgresHost(t)
  await pool.query('create view people as select *, 1 as score from recruiting.candidates')
  await pool.query("insert into recruiting.candidates (tenant_slug, id, full_name, created_at, updated_at) values ('acme', 1, 'Ada', now(), now())")
  const own = server.createPool({ max: 1 })
  const { candidates } = postgresStorage(own, { candidates: 'people' })
  const selected = { fields: ['id', 'full_name'] }
  t.match(await candidates.find('acme', 1, selected), { full_name: 'Ada' })
  await pool.query('drop view people; alter table recruiting.candidates alter full_name type varchar(99); create view people as select *, 1 as score from recruiting.candidates')
  for (let count = 0; count < 2; count++) t.match(await candidates.find('acme', 1, selected), { full_name: 'Ada' })
  t.match(await listPrepared(own), [{ operation: 'find candidates' }])
})

t.test("a connection reads the cluster's identity once", async (t) => {
  const { pool, storage: { holds } } = await startPostgresHost(t)
  const client = await begin(pool)
  const read = async (): Promise<string | null> => {
    const { rows: [row] } = await client.query('select recruiting.system_identifier_v1()::text as id')
    return row.id
  }
  const id = await read()
  t.match(id, /^\d+$/)
  await client.query('alter function pg_control_system() rename to hidden')
  t.equal(await read(), id)
  await client.finish('rollback')
  t.equal(await holds.find(null), null)
})
