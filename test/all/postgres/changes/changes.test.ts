import type pg from 'pg'
import t from 'tap'
import { postgresStorage } from '../../../../src/storages/postgres/index.js'
import { startPostgresHost, startPostgresServerHost } from '../../../fixtures/postgres/postgres.js'
import { follow, withClient } from '../../../fixtures/postgres/changes.js'
import { watchPool } from '../../../fixtures/postgres/watched-pool.js'

t.test('after a server crash, no change is missed, even though numbers are reused', async (t) => {
  const settings = ['fsync=off', 'autovacuum=off', 'wal_writer_delay=10s']
  const { server, pool, storage: { changes } } = await startPostgresServerHost(t, { settings })
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const start = await changes.begin('acme', 'candidate')
  await record('1')
  await withClient(pool, async (client) => {
    await client.query('begin')
    for (let n = 0; n < 50; n++) await record('lost', client)
    await client.query('rollback')
  })
  const { ids, position } = await follow(changes, start)
  t.strictSame(ids, ['1'])

  await server.stop('immediate')
  await server.start()
  await record('2')
  const { rows: [{ seq }] } = await pool.query("select seq::int from recruiting.recent_changes where id = '2'")
  t.ok(seq <= 50, `the number ${seq} is used again`)
  t.strictSame((await follow(changes, position)).ids, ['2'])
})

/** Returns a plan's lines that read the table, without their costs. */
async function readPlan (client: pg.PoolClient, text: string, values: unknown[]): Promise<string[]> {
  await client.query('begin')
  const { rows } = await client.query(`explain (costs off) ${text}`, values)
  await client.query('rollback')
  return rows.map((row) => String(row['QUERY PLAN']).replace(/^[ >-]+/, ''))
}

t.test('with many changes', async (t) => {
  const { pool, storage, saveCandidates } = await startPostgresHost(t)
  for (const table of ['changes', 'recent_changes']) {
    await pool.query(`
      insert into recruiting.${table} (tenant, kind, id, seq, deleted, changed_at) overriding system value
      select 'tenant_' || n % 10, case n % 2 when 0 then 'candidate' else 'job' end, n::text, n, false,
        now() - n * interval '1 second'
      from generate_series(1, 50000) as n`)
  }
  await pool.query("select setval('recruiting.recent_changes_seq_seq', 50000)")
  await saveCandidates('acme', Array.from({ length: 2000 }, (_, id) => ({ id, full_name: 'x', headline: null, source_id: null, recruiter_id: null })))
  const statements: Array<[text: string, values: unknown[]]> = []
  const spy = watchPool(pool, (text, values) => { statements.push([text, values]) })
  const { candidates, changes } = postgresStorage(spy)
  const planOf = async (call: () => Promise<unknown>) => {
    await call()
    const [text, values] = statements.at(-1) ?? ['', []]
    return withClient(pool, (client) => readPlan(client, text, values))
  }

  for (const statistics of ['no statistics', 'statistics']) {
    t.test(`a page reads one index of each table from its position to the bound, with ${statistics} for the tables`, async (t) => {
      if (statistics === 'statistics') await pool.query('vacuum analyze')
      const start = await storage.changes.begin('tenant_2', 'candidate')
      const plan = await planOf(() => changes.list('tenant_2', 'candidate', { after: start.replace(/^\d+/, '5'), limit: 100 }))
      const at = plan.indexOf('Limit')
      const merge = plan.slice(at, at + 5).map((line) => line.replace(/\w*changes\./g, ''))
      const expected = ['Limit', 'InitPlan 1', 'Result', 'Merge Append', 'Sort Key: tenant COLLATE "C", seq']
      t.strictSame(merge, expected, plan.join('\n'))
      for (const [index, table] of ['changes', 'recent_changes'].entries()) {
        const [scan, condition] = plan.slice(at + 5 + 2 * index)
        t.match(scan, new RegExp(`^Index (Only )?Scan using ${table}_feed on ${table}$`))
        t.match(condition ?? '', "Index Cond: ((tenant = ANY (ARRAY[(InitPlan 1).col1])) AND (kind = 'candidate'::text) AND (seq > '5'::bigint) AND (seq <= ")
      }
    })
  }

  t.test('rows after an id, and rows with given ids, are read from an index', async (t) => {
    const fields = ['id', 'full_name']
    for (const call of [() => candidates.listAfter?.('acme', { after: 500, limit: 10, fields }), () => candidates.findMany?.('acme', [1, 2, 3], { fields })]) {
      const plan = await planOf(async () => call())
      t.match(plan.join('\n'), /Index Cond: \(\(tenant_slug = ANY \('\{acme\}'::text\[\]\)\) AND \(id (> '500'|= ANY \('\{1,2,3\})/)
    }
  })

  t.test('the functions read only the rows that they need', (t) => withClient(pool, async (client) => {
    const count = async () => {
      const { rows: [row] } = await client.query(`
        select sum(t.seq_scan)::int as scans, sum(t.idx_tup_fetch)::int as rows from pg_stat_xact_user_tables t
        where t.relid in ('recruiting.changes'::regclass, 'recruiting.recent_changes'::regclass)`)
      return row
    }
    for (const [call, most] of [
      ["change_bounds_v1('tenant_2', 'candidate', 50000)", 1],
      ['prune_changes_v1(30, 50)', 0],
      ['prune_changes_v1(0, 50)', 100]
    ] as const) {
      await client.query('begin')
      const before = await count()
      await client.query(`select recruiting.${call}`)
      const after = await count()
      await client.query('rollback')
      t.equal(after.scans, before.scans, `${call} never reads the whole table`)
      t.ok(after.rows - before.rows <= most, `${call} reads ${after.rows - before.rows} rows`)
    }
  }))
})
