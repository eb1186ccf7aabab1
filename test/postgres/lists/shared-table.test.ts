import pg from 'pg'
import t from 'tap'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
const published = { candidates: ['id', 'full_name'], jobs: ['id', 'name'], ids }

t.test('the start warns of pages of a small tenant that read the rows of all tenants', async (t) => {
  const { server, pool } = await startPostgresHost(t)
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
    insert into companies select n, 'tenant_' || n from generate_series(1, 40) as n;
    insert into sources select n, 'Source ' || n from generate_series(1, 3000) as n;
    insert into people select n, 1 + n % 39, 'Name ' || n, n % 3000 from generate_series(1, 20000) as n;
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
      m.at as updated_at from members m join clubs c on c.id = m.company_id;
    create view by_sleep as select (select c.slug from pg_sleep(60)) as tenant_slug, ${select} from people p join companies c on c.id = p.company_id;
    create view api_jobs as select company_id as tenant_id, 'acme'::text as tenant_slug, id, name, ''::text as status, at as created_at, at as updated_at from people`)
  const warnings = (candidates: string, hasTenantIds = false) => postgresStorage(pool, { candidates, jobs: 'api_jobs' }).verify({ ...published, hasTenantIds })

  async function testHealthy (statistics: string) {
    for (const view of ['by_id', 'by_id_with_join']) t.same(await warnings(view, true), [], `${view}, ${statistics}`)
    for (const view of ['by_club', 'by_constant', 'by_nobody', 'by_null', 'by_group', 'by_sleep']) t.same(await warnings(view), [], `${view}, ${statistics}`)
  }

  await testHealthy('no statistics')
  await pool.query('analyze')
  await testHealthy('statistics')
  t.same(await warnings('by_slug'), [
    'public.by_slug: pages of a small tenant read the rows of all tenants in people, because tenant_slug is not a column of that table: ' +
    "set the option tenantId, and replace tenant_slug by tenant_id, the tenant's id in people"
  ])
  t.same(await warnings('by_external_id', true), [
    'public.by_external_id: pages of a small tenant read the rows of all tenants in people, because tenant_id is not a column of that table: let tenant_id be a column of people'
  ])
  t.match(await warnings('by_subquery'), [/^public.by_subquery: pages of a small tenant/])
  t.match(await warnings('"By ""Cast"""', true), [/^public."By ""Cast""": pages of a small tenant/])

  t.test('the statements that the warning is about read those rows', async (t) => {
    const text = "select id from by_slug where tenant_slug = 'tenant_40' order by id limit 25"
    const { rows: [row] } = await pool.query(`explain (analyze, buffers, format json) ${text}`)
    t.ok(row['QUERY PLAN'][0].Plan['Shared Hit Blocks'] > 100)
  })

  t.test('a driver that returns JSON as text gets the same warning, one that changes it none', async (t) => {
    for (const [parse, expected] of [[String, 1], [() => 'mine', 0]] as const) {
      const types = { getTypeParser: (oid: number) => oid === pg.types.builtins.JSON ? parse : pg.types.getTypeParser(oid) }
      const storage = postgresStorage(server.createPool({ types }), { candidates: 'by_slug', jobs: 'api_jobs' })
      t.equal((await storage.verify(published)).length, expected)
    }
  })

  t.test('a small table may be read whole', async (t) => {
    await pool.query('delete from people where id > 500 and id <= 20000')
    await pool.query('vacuum full analyze people')
    t.same(await warnings('by_slug'), [])
  })
})
