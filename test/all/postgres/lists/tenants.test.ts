import t from 'tap'
import type { CandidateFilter, CandidateSortField } from '../../../../src/index.js'
import { postgresStorage } from '../../../../src/storages/postgres/index.js'
import { judgePages } from '../../../../src/tools/cli/doctor/pages.js'
import { findTenantColumn } from '../../../../src/storages/postgres/lists/columns.js'
import { describeRelation } from '../../../../src/storages/postgres/lists/relation.js'
import { candidateKind } from '../../../../src/storages/postgres/lists/row-kind.js'
import { createSession } from '../../../../src/storages/postgres/session.js'
import { startPostgresHost } from '../../../fixtures/postgres/postgres.js'
import { measurePool, type Reading } from '../../../fixtures/postgres/measured-pool.js'

t.test('doctor compares the rows that pages read with those that they return', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table companies (id bigint primary key, slug text not null unique, external_id uuid not null default gen_random_uuid());
    create table members (id bigint primary key, company_id bigint not null, at timestamptz not null default now());
    create index on members (company_id);
    create table clubs (id bigint primary key, slug text not null unique);
    create table sources (id bigint primary key, name text);
    create table people (
      id bigint primary key, company_id bigint not null references companies, name text not null, source_id bigint,
      at timestamptz not null default now(), name_key text generated always as (lower(name)) stored
    );
    create index on people (company_id, id);
    create index on people (company_id, at, id);
    create index on people (company_id, name collate "C", id);
    create index on people (company_id, source_id, id);
    insert into companies select n, 'tenant_' || n from generate_series(1, 40) as n;
    insert into sources select n, 'Source ' || n from generate_series(1, 3000) as n;
    insert into people select n, case when n % 2 = 0 then 1 else 1 + n % 39 end, 'Name ' || n, n % 3000 from generate_series(1, 20000) as n;
    insert into clubs select n, 'club_' || n from generate_series(1, 10000) as n;
    insert into members select n, n from generate_series(1, 10000) as n;
    insert into people select 20000 + n, 40, 'Name ' || n from generate_series(1, 5) as n`)
  const select = 'p.id, p.name as full_name, null::text as headline, p.source_id, null::bigint as recruiter_id, p.at as created_at, p.at as updated_at'
  await pool.query(`
    create view by_slug as select c.slug as tenant_slug, ${select} from people p join companies c on c.id = p.company_id;
    create view by_external_id as select c.external_id as tenant_id, ${select} from people p join companies c on c.id = p.company_id;
    create view by_id as select p.company_id as tenant_id, ${select} from people p;
    create view by_id_with_join as select p.company_id as tenant_id, ${select}, s.name as source from people p left join sources s on s.id = p.source_id;
    create view by_nobody as select c.slug as tenant_slug, ${select} from people p join companies c on c.id = p.company_id where p.id < 0;
    create view by_null as select nullif(c.slug, c.slug) as tenant_slug, ${select} from people p join companies c on c.id = p.company_id;
    create view by_group as select c.slug as tenant_slug, max(p.id) as id, max(p.name) as full_name, ''::text as headline, 1 as source_id, 1 as recruiter_id,
      now() as created_at, now() as updated_at from people p join companies c on c.id = p.company_id group by c.slug, p.id;
    create view by_subquery as select (select c.slug from companies c where c.id = p.company_id) as tenant_slug, ${select} from people p;
    create view by_constant as select 'acme.p.c'::text as tenant_slug, ${select} from people p left join companies c on c.id = p.company_id and c.slug <> '';
    create view "By ""Cast""" as select "C.o".external_id::text as tenant_id, ${select} from people p join companies "C.o" on "C.o".id = p.company_id;
    create view by_club as select c.slug as tenant_slug, m.id, c.slug as full_name, null::text as headline, 1 as source_id, 1 as recruiter_id, m.at as created_at,
      m.at as updated_at from members m join clubs c on c.id = m.company_id`)
  const session = createSession(pool, 60_000)
  async function judge (view: string, hasTenantIds = false): Promise<string[]> {
    const relation = findTenantColumn(await describeRelation(session, 'candidates', view), 'candidates', hasTenantIds)
    const { findings } = await judgePages(session, relation, candidateKind)
    return findings.map(({ state, text, remedy }) => `${state} ${text}: ${remedy}`)
  }
  await pool.query('vacuum analyze')
  const move = "whose first columns are the sources of r.tenant_slug, r.id; if the tenant comes from another table, set the option tenantId, and replace tenant_slug with tenant_id, the tenant's id in public.people"
  const everyPage = /^fault public\..*: every page of the tenant \S+ reads [1-9]\d{4,} rows or blocks to return \d+: /
  for (const view of ['by_id', 'by_id_with_join']) t.strictSame(await judge(view, true), [], view)
  t.strictSame(await judge('by_club'), [])
  for (const view of ['by_slug', 'by_subquery', 'by_group']) {
    t.match(await judge(view), [everyPage], view)
    t.match(await judge(view), [new RegExp(`: create an index on public.people ${move}$`)], view)
  }
  t.match(await judge('by_null'), [/every page reads all rows of the table companies/, /sort=updated_at reads all rows of the table companies/])
  for (const view of ['by_external_id', '"By ""Cast"""']) t.match(await judge(view, true), [everyPage], view)
  t.match(await judge('by_constant'), [
    /sort=full_name of the tenant acme\.p\.c reads 20005 rows or blocks to return 25: create index on public\.people \(name collate "C", id\)$/,
    /sort=created_at/, /sort=updated_at/
  ])

  t.test('of a small table, the planner judges the required pages', async (t) => {
    await pool.query('delete from people where id > 500')
    await pool.query('vacuum full analyze people')
    t.strictSame(await judge('by_id', true), [])
    await pool.query('drop index people_company_id_at_id_idx')
    t.match(await judge('by_id', true), [
      /^fault public\.by_id: sort=updated_at reads all rows of a tenant, because no index serves it: create index on public\.people \(company_id, at, id\)$/
    ])
    t.match(await judge('by_slug'), [/^fault public\.by_slug: every page /])
  })
})

const fieldsTenantBuffers = ['id', 'full_name', 'headline', 'source_id', 'recruiter_id', 'created_at', 'updated_at']
const small = '00000000-0000-4000-8000-00000000000a'
const middle = '00000000-0000-4000-8000-00000000000b'

t.test("a tenant with a uuid reads only its own rows, not the others' 22,000", async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table people (
      id uuid primary key default gen_random_uuid(), company_id uuid not null, name text not null, owner bigint, changed_at timestamptz not null default now(),
      name_key text collate "C" generated always as (lower(name)) stored
    );
    create view api_candidates as select company_id as tenant_id, id, name as full_name, null::text as headline, null::bigint as source_id,
      owner as recruiter_id, changed_at as created_at, changed_at as updated_at, name_key from people;
    insert into people (company_id, name, owner, changed_at)
      select lpad(to_hex(n % 40), 32, '0')::uuid, 'Name ' || n, n % 10, '2026-01-01'::timestamptz + n * interval '1 second' from generate_series(1, 22000) as n;
    insert into people (company_id, name, owner) select '${middle}', 'Name ' || n, n % 10 from generate_series(1, 200) as n;
    insert into people (company_id, name, owner) select '${small}', 'Name ' || n, n % 10 from generate_series(1, 5) as n;
    create unique index on people (company_id, id) include (name_key);
    create index on people (company_id, changed_at, id);
    create index on people (company_id, name collate "C", id);
    create index on people (company_id, owner, id)`)
  await pool.query('vacuum people')
  const readings: Reading[] = []
  const { candidates } = postgresStorage<string, number, number, number>(
    measurePool(pool, 'api_candidates', readings),
    { candidates: 'api_candidates' }
  )
  const { rows } = await pool.query<{ id: string; company_id: string }>(
    'select id, company_id::text from people order by id'
  )
  const idsOf = (tenant: string) => rows.filter(({ company_id: company }) => company === tenant).map(({ id }) => id)
  const foreign = rows.filter(({ company_id: company }) => company !== small && company !== middle).slice(0, 200)
    .map(({ id }) => id)

  async function readAll (tenant: string): Promise<Array<[name: string, reading: Reading]>> {
    const own = idsOf(tenant)
    const [first = ''] = own
    const page =
      (field: CandidateSortField, direction: 'asc' | 'desc', filter: CandidateFilter<number> = {}, offset = 0) =>
        () =>
          candidates.list(tenant, {
            fields: fieldsTenantBuffers,
            filter,
            sort: field === 'id' ? [{ field, direction }] : [{ field, direction }, { field: 'id', direction }],
            offset,
            limit: 200
          })
    const calls: Record<string, () => unknown> = {
      find: () => candidates.find(tenant, first, { fields: fieldsTenantBuffers }),
      'find of another tenant': () => candidates.find(tenant, foreign[0] ?? '', { fields: fieldsTenantBuffers }),
      'first sync page': () => candidates.listAfter?.(tenant, { after: null, limit: 200, fields: fieldsTenantBuffers }),
      'next sync page': () => candidates.listAfter?.(tenant, { after: first, limit: 200, fields: fieldsTenantBuffers }),
      'sync page of changes': () => candidates.findMany?.(tenant, own, { fields: fieldsTenantBuffers }),
      'sync page of changes of another tenant': () =>
        candidates.findMany?.(tenant, foreign, { fields: fieldsTenantBuffers }),
      'deep page': page('id', 'asc', {}, 501)
    }
    for (const field of ['id', 'full_name', 'created_at', 'updated_at'] as const) {
      for (const direction of ['asc', 'desc'] as const) calls[`page by ${field} ${direction}`] = page(field, direction)
    }
    for (const [name, filter] of Object.entries<CandidateFilter<number>>({
      none: {},
      q: { q: 'NAME' },
      recruiter: { recruiterId: 3 },
      'updated after': { updatedAfter: '2026-01-01T00:00:00.000Z' }
    })) {
      calls[`total, filter ${name}`] = () => candidates.count(tenant, filter)
      calls[`page, filter ${name}`] = page('id', 'asc', filter)
    }
    const results: Array<[string, Reading]> = []
    for (const [name, call] of Object.entries(calls)) {
      readings.length = 0
      await call()
      for (const reading of readings) results.push([name, reading])
    }
    return results
  }

  const { rows: [{ major }] } = await pool.query("select current_setting('server_version_num')::int / 10000 as major")
  // Before 17, PostgreSQL searches an index once for each id.
  const each = major < 17 ? 5 : 3
  for (const statistics of ['no statistics', 'statistics']) {
    if (statistics === 'statistics') await pool.query('analyze people')
    for (const [name, { buffers }] of await readAll(small)) {
      t.ok(buffers <= each * 5, `${name} of 5 rows reads ${buffers} buffers, with ${statistics}`)
    }
    for (const [name, { buffers, rows }] of await readAll(middle)) {
      t.ok(
        buffers <= Math.max(each * rows, 40),
        `${name} reads ${buffers} buffers for ${rows} of 200 rows, with ${statistics}`
      )
    }
  }
})
