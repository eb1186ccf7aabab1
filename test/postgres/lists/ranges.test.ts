import t from 'tap'
import { judgePages } from '../../../src/tools/cli/doctor/pages.js'
import { findTenantColumn } from '../../../src/storages/postgres/lists/columns.js'
import { describeRelation } from '../../../src/storages/postgres/lists/relation.js'
import { candidateKind } from '../../../src/storages/postgres/lists/row-kind.js'
import { formatTotal } from '../../../src/storages/postgres/lists/row-statements.js'
import { createSession } from '../../../src/storages/postgres/session.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

// The planner takes the cheaper index of all tenants if it does not know that the tenant's rows are at its end.
t.test('pages read only their rows if few tenants own the table and their ids lie in separate ranges', async (t) => {
  const pool = (await startPostgres(t)).createPool()
  const session = createSession(pool, 5000)
  for (const [name, where] of [['people', ''], ['live_people', 'where deleted_at is null']] as const) {
    await pool.query(`
      create table ${name} (
        id bigint primary key, tenant_slug text not null, full_name text not null, headline text, source_id bigint, recruiter_id bigint,
        created_at timestamptz not null, updated_at timestamptz not null, deleted_at timestamptz
      );
      insert into ${name}
        select n, (array['m', 'a', 'z', 'c'])[1 + (n - 1) / 3000], 'Ada ' || n, repeat('x', 100), null, n % 100, at, at, null
        from generate_series(1, 12000) as n cross join lateral (select timestamptz '2026-01-01Z' + n * interval '1 minute') as m (at);
      create index on ${name} (updated_at); create index on ${name} (created_at);
      create index on ${name} (tenant_slug, id) ${where};
      create index on ${name} (tenant_slug, updated_at, id) ${where};
      create index on ${name} (tenant_slug, created_at, id) ${where};
      create index on ${name} (tenant_slug, recruiter_id, id) ${where};
      create index on ${name} (tenant_slug, full_name collate "C", id) ${where};
      create view api_${name} as select * from ${name} ${where}`)
    // A connection that opens at the same time keeps rows from being marked as visible to all.
    for (let isVisible = false; !isVisible;) {
      await pool.query(`vacuum analyze ${name}`)
      const { rows: [row] } = await pool.query(`select relallvisible = relpages as done from pg_class where relname = '${name}'`)
      isVisible = row.done
    }
    for (const relation of [`api_${name}`, ...where === '' ? [name] : []]) {
      const described = findTenantColumn(await describeRelation(session, 'candidates', relation), 'candidates', false)
      const { findings, most } = await judgePages(session, described, candidateKind)
      t.strictSame(findings, [], relation)
      t.ok(most <= 200, `${relation}: a page reads ${most} rows or blocks`)
      const { text, values } = formatTotal(described, candidateKind, 'a', {}) ?? { text: '', values: [] }
      const { rows } = await pool.query(`explain ${text}`, values)
      t.match(JSON.stringify(rows), new RegExp(`Index Only Scan using ${name}_tenant_slug_id_idx`), 'a total')
    }
  }
})
