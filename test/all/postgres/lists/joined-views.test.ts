import t from 'tap'
import { findTenantColumn } from '../../../../src/storages/postgres/lists/columns.js'
import { describeRelation } from '../../../../src/storages/postgres/lists/relation.js'
import { formatPageAfter } from '../../../../src/storages/postgres/lists/row-statements.js'
import { createSession } from '../../../../src/storages/postgres/session.js'
import { measureBuffers } from '../../../fixtures/postgres/buffers.js'
import { startPostgresHost } from '../../../fixtures/postgres/postgres.js'

t.test(
  'a page of sync over a view that joins by primary key reads its rows and no others, at the beginning and at the end',
  async (t) => {
    const { pool } = await startPostgresHost(t)
    const rows = 50_000
    await pool.query(`
    create table people (id bigint primary key, tenant_slug text not null, name text not null, at timestamptz not null default now());
    create index on people (tenant_slug, id);
    create table profiles (person_id bigint primary key, headline text not null);
    insert into people select n, 'acme', 'Name ' || n from generate_series(1, ${rows}) as n;
    insert into profiles select n, 'Headline ' || n from generate_series(1, ${rows}) as n;
    create view api_candidates as
      select p.tenant_slug, p.id, p.name as full_name, h.headline, null::bigint as source_id, null::bigint as recruiter_id,
        p.at as created_at, p.at as updated_at
      from people p left join profiles h on h.person_id = p.id`)
    await pool.query('vacuum analyze people, profiles')
    const session = createSession(pool, 60_000)
    const relation = findTenantColumn(
      await describeRelation(session, 'candidates', 'api_candidates'),
      'candidates',
      false
    )
    const buffers: number[] = []
    for (const share of [0.01, 0.25, 0.5, 0.95]) {
      const after = rows * share
      const page = formatPageAfter(relation, 'id, full_name, headline', 'acme', { after, limit: 200 })
      if (page === null) throw new Error('no row can pass')
      const { rows: found } = await pool.query(page.text, page.values)
      t.same(found.map(({ id, headline }) => [Number(id), headline]).at(-1), [after + 200, `Headline ${after + 200}`])
      buffers.push(await measureBuffers(pool, page.text, page.values))
    }
    for (const count of buffers) t.ok(count < 800, `${count} buffers for 200 rows`)
  }
)
