import type pg from 'pg'
import t from 'tap'
import type { PgPool } from '../../../src/postgres/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

/** Returns the lines of a plan that read the table, without their costs. */
async function readPlan (client: pg.PoolClient, text: string, values: unknown[]): Promise<string[]> {
  await client.query('begin')
  const { rows } = await client.query(`explain (costs off) ${text}`, values)
  await client.query('rollback')
  return rows.map((row) => String(row['QUERY PLAN']).replace(/^[ >-]+/, ''))
}

t.test('in a table without statistics, the earlier row of a candidate is found by its id', async (t) => {
  const { pool } = await startPostgresHost(t)
  const { rows } = await pool.query("explain (costs off) select from recruiting.changes where tenant_slug = 'acme' and kind = 'candidate' and id = '1'")
  t.match(rows[0]['QUERY PLAN'], /using changes_pkey/)
})

t.test('with many changes', async (t) => {
  const { pool, storage, saveCandidates } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.changes
    select 'tenant_' || n % 10, case n % 2 when 0 then 'candidate' else 'job' end, n::text, (n / 7 + 3)::text::xid8, false, now() - interval '1 day'
    from generate_series(1, 50000) as n`)
  await saveCandidates('acme', Array.from({ length: 2000 }, (_, id) => ({ id, full_name: 'x', headline: null, source_id: null, recruiter_id: null })))
  await pool.query('vacuum analyze')
  const statements: Array<[text: string, values: unknown[]]> = []
  const spy: PgPool = {
    query: (text, values) => pool.query(text, values),
    async connect () {
      const client = await pool.connect()
      return {
        query (text, values) {
          statements.push([text, values ?? []])
          return client.query(text, values)
        },
        release: (destroy) => client.release(destroy)
      }
    }
  }
  const { candidates, changes } = postgresStorage(spy)
  const planOf = async (call: () => Promise<unknown>) => {
    await call()
    const [text, values] = statements.at(-1) ?? ['', []]
    return withClient(pool, (client) => readPlan(client, text, values))
  }

  t.test('a page reads one index from its position to the horizon, and never the other tenants\' changes', async (t) => {
    const start = await storage.changes.begin()
    const plan = await planOf(() => changes.list('tenant_2', 'candidate', { after: start.replace(/^\d+/, '5'), limit: 100 }))
    const at = plan.findIndex((line) => /changes c$/.test(line))
    t.match(plan[at], /^Index (Only )?Scan using changes_feed on changes c$/)
    t.match(plan[at + 1], /^Index Cond: \(\(ROW\(\(\(kind \|\| ' '::text\) \|\| tenant_slug\), xid, id\) > ROW\('candidate tenant_2'::text, '5'::xid8, ''::text\)\) AND \(ROW\(\(\(kind \|\| ' '::text\) \|\| tenant_slug\), xid\) < ROW\('candidate tenant_2'::text, bounds\.horizon\)\)\)$/)
    t.match(plan[at - 1], /^Limit$/, plan.join('\n'))
  })

  t.test('rows after an id, and rows of ids, come from an index', async (t) => {
    const fields = ['id', 'full_name']
    for (const call of [() => candidates.listAfter?.('acme', { after: 500, limit: 10, fields }), () => candidates.findMany?.('acme', [1, 2, 3], { fields })]) {
      const plan = await planOf(async () => call())
      t.match(plan.join('\n'), /Index Cond: \(\(tenant_slug = 'acme'::text\) AND \(id (> '500'|= ANY \('\{1,2,3\})/)
    }
  })

  t.test('the functions read no more rows than they need', (t) => withClient(pool, async (client) => {
    const count = async () => {
      const { rows: [row] } = await client.query(`
        select sum(t.seq_scan)::int as scans, sum(t.idx_tup_fetch)::int as rows from pg_stat_xact_user_tables t
        where t.relid = 'recruiting.changes'::regclass`)
      return row
    }
    for (const [call, most] of [
      ['change_bounds_v1()', 2],
      ["record_change_v1('tenant_2', 'candidate', '2', 'false')", 2],
      ['prune_changes_v1(30, 50)', 60],
      ['prune_changes_v1(0, 50)', 120]
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
