import t from 'tap'
import type { NamedFinding } from '../../src/cli/doctor/doctor.js'
import { createCli } from '../fixtures/cli/cli.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('doctor and the tenants of relations', async (t) => {
  const { server, pool } = await startPostgresHost(t)
  await pool.query(`
    create table companies (id bigint primary key, slug text not null unique);
    create table people (
      id bigint primary key, company_id bigint not null, name text not null, at timestamptz not null default now(), name_key text
    );
    insert into companies select n, 'tenant_' || n from generate_series(1, 40) as n;
    insert into people (id, company_id, name) select n, 1 + n % 39, 'Name ' || n from generate_series(1, 20000) as n`)
  const select = `p.id, p.name as full_name, null::text as headline, null::bigint as source_id, null::bigint as recruiter_id,
    p.at as created_at, p.at as updated_at, name_key`
  await pool.query(`
    create view by_id as select company_id as tenant_id, ${select} from people p;
    create view by_slug as select c.slug as tenant_slug, ${select} from people p join companies c on c.id = p.company_id;
    create view by_both as select c.slug as tenant_slug, p.company_id as tenant_id, ${select} from people p join companies c on c.id = p.company_id;
    create table by_uuid (tenant_id uuid, id bigint, full_name text, headline text, source_id bigint, recruiter_id bigint, created_at timestamptz, updated_at timestamptz)`)
  const cli = createCli(server.url)

  async function examine (options: string): Promise<Array<Array<string | null>>> {
    const { out } = await cli(`doctor --json --wait-seconds 0 ${options}`)
    const { findings } = JSON.parse(out) as { findings: NamedFinding[] }
    return findings.filter(({ check, text }) => check === 'relations' && !/jobs/.test(text)).map(({ state, text, remedy }) => [state, text, remedy])
  }
  const healthy = (name: string) => [['ok', `public.${name} has its columns and indexes`, null]]
  const shared = (name: string) => [[
    'fault',
    `public.${name}: pages of a small tenant read the rows of all tenants in people, because tenant_slug is not a column of that table`,
    "set the option tenantId, and replace tenant_slug by tenant_id, the tenant's id in people"
  ]]

  await t.test('names the indexes by the column of the tenant', async (t) => {
    t.same(await examine('--candidates by_id'), [
      ['fault', 'public.by_id: every page reads all rows of a tenant, or of the table people', 'create index on public.people (company_id, id)'],
      ['fault', 'public.by_id: filter[updated_after] and sorting by updated_at read all rows of a tenant, or of the table people', 'create index on public.people (company_id, at, id)']
    ])
    t.same(await examine('--candidates by_uuid'), [
      ['fault', 'public.by_uuid: every page reads all rows of a tenant, or of the table by_uuid', 'create index on public.by_uuid (tenant_id, id)'],
      ['fault', 'public.by_uuid: filter[updated_after] and sorting by updated_at read all rows of a tenant, or of the table by_uuid', 'create index on public.by_uuid (tenant_id, updated_at, id)'],
      ['advice', 'public.by_uuid has no column name_key: filter[q] reads every row of the tenant', 'add a column name_key, generated as lower(full_name), in an index (tenant_id, id) include (name_key)']
    ])
    await pool.query('create index on people (company_id, id); create index on people (company_id, at, id); analyze')
    t.same(await examine('--candidates by_id'), healthy('by_id'))
  })

  await t.test('finds pages that read the rows of all tenants, because the slug comes from another table', async (t) => {
    t.same(await examine('--candidates by_slug'), shared('by_slug'))
  })

  await t.test('reads tenant_id of a relation with both columns if it is asked to', async (t) => {
    t.same(await examine('--candidates by_both'), shared('by_both'))
    t.same(await examine('--candidates by_both --tenant-ids'), healthy('by_both'))
    t.same(await examine('--candidates by_slug --tenant-ids'), [
      ['fault', 'candidates: public.by_slug has no column tenant_id, which the option tenantId needs', 'change the column in public.by_slug']
    ])
  })
})
