import t from 'tap'
import type { CandidateFilter, CandidateQuery, CandidateSortField } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { findTenantColumn } from '../../../src/postgres/lists/columns.js'
import { describeRelation } from '../../../src/postgres/lists/relation.js'
import { candidateKind } from '../../../src/postgres/lists/row-kind.js'
import { findSharedTable } from '../../../src/postgres/lists/slow-pages.js'
import { createSession } from '../../../src/postgres/session.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { measurePool, type Reading } from '../../fixtures/postgres/measured-pool.js'

const fields = ['id', 'full_name']
const query: CandidateQuery = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 25, fields }
const integers = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
const columns = `id bigint not null, full_name text not null, headline text, source_id bigint, recruiter_id bigint,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()`
const jobColumns = `id bigint not null, name text not null, status text not null,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()`

const uuid = '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70'
const notUuids = ['acme', '42', '', uuid.toUpperCase(), `{${uuid}}`, uuid.replaceAll('-', ''), `${uuid} `]
const notIntegers = ['acme', '042', '+42', ' 42', '42 ', '42.0', '0x2a', '4e1', '-0', '', '-', uuid, '9223372036854775808', '99999999999999999999']
const types: Array<[type: string, tenants: string[], unfit: string[]]> = [
  ['uuid', [uuid], notUuids],
  ['bigint', ['42', '-7', '0', '9223372036854775807', '-9223372036854775808'], notIntegers],
  ['integer', ['42', '-7'], [...notIntegers, '3000000000']],
  ['text', ['42', uuid, 'Ünïcode id', "o'clock $1"], ['042', uuid.toUpperCase(), 'ünïcode id']],
  ['varchar(80)', ['42', uuid], ['042', '42 ']]
]

t.test('rows belong to the tenant in tenant_id, whatever its type', async (t) => {
  const { pool } = await startPostgresHost(t)
  for (const [index, [type, tenants, unfit]] of types.entries()) {
    const table = `people_${index}`
    await pool.query(`create table ${table} (tenant_id ${type}, ${columns})`)
    for (const tenant of [...tenants, null]) {
      await pool.query(`insert into ${table} (tenant_id, id, full_name) select $1::text::${type}, n, coalesce($1, 'nobody') || ' ' || n from generate_series(1, 600) as n`, [tenant])
    }
    const { candidates } = postgresStorage(pool, { candidates: table })
    t.test(type, async (t) => {
      for (const tenant of tenants) {
        const row = (id: number) => ({ id, full_name: `${tenant} ${id}` })
        t.same(await candidates.list(tenant, { ...query, limit: 2 }), [row(1), row(2)])
        t.same(await candidates.list(tenant, { ...query, offset: 598 }), [row(599), row(600)])
        t.same(await candidates.count(tenant, {}), 600)
        t.same(await candidates.count(tenant, { q: ' 60' }), 2)
        t.same(await candidates.find(tenant, 7, { fields }), row(7))
        t.same(await candidates.listAfter?.(tenant, { after: 7, limit: 2, fields }), [row(8), row(9)])
        t.same(await candidates.findMany?.(tenant, [3, 601, 2], { fields }), [row(3), null, row(2)])
      }
      for (const tenant of unfit) {
        t.same(await candidates.list(tenant, query), [], tenant)
        t.same(await candidates.list(tenant, { ...query, offset: 598 }), [])
        t.same(await candidates.count(tenant, {}), 0)
        t.same(await candidates.find(tenant, 7, { fields }), null)
        t.same(await candidates.listAfter?.(tenant, { after: null, limit: 2, fields }), [])
        t.same(await candidates.findMany?.(tenant, [3, 2], { fields }), [null, null])
      }
    })
  }
})

t.test('if a relation has both columns, the one that fits the option tenantId counts', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table people (tenant_slug text, tenant_id bigint, ${columns});
    create table openings (tenant_slug text, tenant_id bigint, ${jobColumns});
    insert into people (tenant_slug, tenant_id, id, full_name) values ('acme', 42, 1, 'Ada'), ('42', 7, 2, 'Grace')`)
  const storage = postgresStorage(pool, { candidates: 'people', jobs: 'openings' })
  const published = { candidates: fields, jobs: ['id'], ids: integers }
  const names = async (tenant: string) => (await storage.candidates.list(tenant, query)).map(({ full_name: name }) => name)
  t.same([await names('42'), await names('acme')], [['Grace'], ['Ada']], 'a storage that nobody has verified takes tenant_slug')
  t.match(await storage.verify({ ...published, hasTenantIds: true }), [/^public\.people has no index on \(tenant_id, id\)/, / \(tenant_id, updated_at, id\)/, / \(tenant_id, id\) include/, /openings/, /openings/, /openings/])
  t.same([await names('42'), await names('acme')], [['Ada'], []])
  await storage.verify({ ...published, hasTenantIds: false })
  t.same([await names('42'), await names('acme')], [['Grace'], ['Ada']])
  await pool.query(`
    create index on people (tenant_id, id); create index on people (tenant_id, updated_at); alter table people add name_key text;
    create index on openings (tenant_id, id); create index on openings (tenant_id, updated_at); alter table openings add name_key text`)
  t.same(await storage.verify({ ...published, hasTenantIds: true }), [], 'indexes that begin with tenant_id serve')
  t.match(await storage.verify(published), [/tenant_slug/, /tenant_slug/, /tenant_slug/, /tenant_slug/], 'and do not serve tenant_slug')
})

t.test('a relation that does not fit the option tenantId is refused at the start', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table by_id (tenant_id uuid, ${columns});
    create table by_slug (tenant_slug text, ${columns});
    create table by_nobody (${columns});
    create table by_number (tenant_id numeric, ${columns});
    create table by_char (tenant_id char(36), tenant_slug text, ${columns});
    create table by_date (tenant_slug date, ${columns});
    create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table blindly (tenant_id text collate blind, ${columns});
    create table jobs_by_id (tenant_id uuid, ${jobColumns})`)
  const refusal = (candidates: string, hasTenantIds: boolean, jobs = hasTenantIds ? 'jobs_by_id' : 'recruiting.jobs') =>
    postgresStorage(pool, { candidates, jobs }).verify({ candidates: fields, jobs: ['id'], ids: integers, hasTenantIds })
      .then(() => null, ({ code, field, message }) => `${code} ${field} ${message}`)
  const idTypes = 'expected text or character varying or uuid or bigint or integer or smallint'

  t.equal(await refusal('by_id', true), null)
  t.equal(await refusal('by_slug', false), null)
  t.equal(await refusal('by_char', false), null, 'a column tenant_id of the host\'s own is ignored')
  const problems: Array<[candidates: string, hasTenantIds: boolean, problem: string]> = [
    ['by_id', false, 'public.by_id has the column tenant_id and no tenant_slug, so it needs the option tenantId'],
    ['by_slug', true, 'public.by_slug has no column tenant_id, which the option tenantId needs'],
    ['by_nobody', true, 'public.by_nobody has no column tenant_id, which the option tenantId needs'],
    ['by_nobody', false, 'public.by_nobody has no column tenant_slug'],
    ['by_number', true, `the column tenant_id of public.by_number is numeric, ${idTypes}`],
    ['by_char', true, `the column tenant_id of public.by_char is character, ${idTypes}`],
    ['by_date', false, 'the column tenant_slug of public.by_date is date, expected text or character varying'],
    ['blindly', true, 'the column tenant_id of public.blindly has a collation by which different texts are equal']
  ]
  for (const [relation, hasTenantIds, problem] of problems) {
    t.equal(await refusal(relation, hasTenantIds), `storage_not_ready candidates candidates: ${problem}`)
  }
  t.equal(await refusal('by_slug', false, 'jobs_by_id'), 'storage_not_ready jobs jobs: public.jobs_by_id has the column tenant_id and no tenant_slug, so it needs the option tenantId')
  await t.rejects(postgresStorage(pool, { candidates: 'by_nobody' }).candidates.count('acme', {}), { message: 'candidates: public.by_nobody has no column tenant_slug' })
})

t.test('doctor finds views whose pages read the rows of all tenants for a small one', async (t) => {
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
      m.at as updated_at from members m join clubs c on c.id = m.company_id`)
  const session = createSession(pool, 60_000)
  async function sharedTable (view: string, hasTenantIds = false): Promise<string | null> {
    const relation = findTenantColumn(await describeRelation(session, 'candidates', view), 'candidates', hasTenantIds)
    return session.transaction('explain', (query) => findSharedTable(query, relation, candidateKind))
  }

  async function testHealthy (statistics: string) {
    for (const view of ['by_id', 'by_id_with_join']) {
      t.equal(await sharedTable(view, true), null, `${view}, ${statistics}`)
    }
    for (const view of ['by_club', 'by_constant', 'by_nobody', 'by_null', 'by_group']) {
      t.equal(await sharedTable(view), null, `${view}, ${statistics}`)
    }
  }

  await testHealthy('no statistics')
  await pool.query('analyze')
  await testHealthy('statistics')
  for (const view of ['by_slug', 'by_subquery']) t.equal(await sharedTable(view), 'people', view)
  for (const view of ['by_external_id', '"By ""Cast"""']) t.equal(await sharedTable(view, true), 'people', view)

  t.test('the pages of such a view read those rows', async (t) => {
    const text = "select id from by_slug where tenant_slug = 'tenant_40' order by id limit 25"
    const { rows: [row] } = await pool.query(`explain (analyze, buffers, format json) ${text}`)
    t.ok(row['QUERY PLAN'][0].Plan['Shared Hit Blocks'] > 100)
  })

  t.test('a small table may be read whole', async (t) => {
    await pool.query('delete from people where id > 500 and id <= 20000')
    await pool.query('vacuum full analyze people')
    t.equal(await sharedTable('by_slug'), null)
  })
})

const fieldsTenantBuffers = ['id', 'full_name', 'headline', 'source_id', 'recruiter_id', 'created_at', 'updated_at']
const kinds = {
  uuid: { small: '00000000-0000-4000-8000-00000000000a', middle: '00000000-0000-4000-8000-00000000000b', other: "lpad(to_hex(n % 40), 32, '0')::uuid" },
  bigint: { small: '7000000000', middle: '7000000001', other: 'n % 40' }
}

for (const [type, { small, middle, other }] of Object.entries(kinds)) {
  t.test(`a tenant with a ${type} reads its own rows, and none of the 22,000 of others`, async (t) => {
    const { pool } = await startPostgresHost(t)
    await pool.query(`
      create table people (
        id uuid primary key default gen_random_uuid(), company_id ${type} not null, name text not null, owner bigint, changed_at timestamptz not null default now(),
        name_key text collate "C" generated always as (lower(name)) stored
      );
      create view api_candidates as select company_id as tenant_id, id, name as full_name, null::text as headline, null::bigint as source_id,
        owner as recruiter_id, changed_at as created_at, changed_at as updated_at, name_key from people;
      insert into people (company_id, name, owner, changed_at)
        select ${other}, 'Name ' || n, n % 10, '2026-01-01'::timestamptz + n * interval '1 second' from generate_series(1, 22000) as n;
      insert into people (company_id, name, owner) select '${middle}', 'Name ' || n, n % 10 from generate_series(1, 200) as n;
      insert into people (company_id, name, owner) select '${small}', 'Name ' || n, n % 10 from generate_series(1, 5) as n;
      create unique index on people (company_id, id) include (name_key);
      create index on people (company_id, changed_at, id);
      create index on people (company_id, name collate "C", id);
      create index on people (company_id, owner, id)`)
    await pool.query('vacuum people')
    const readings: Reading[] = []
    const { candidates } = postgresStorage<string, number, number, number>(measurePool(pool, 'api_candidates', readings), { candidates: 'api_candidates' })
    const { rows } = await pool.query<{ id: string, company_id: string }>('select id, company_id::text from people order by id')
    const idsOf = (tenant: string) => rows.filter(({ company_id: company }) => company === tenant).map(({ id }) => id)
    const foreign = rows.filter(({ company_id: company }) => company !== small && company !== middle).slice(0, 200).map(({ id }) => id)

    async function readAll (tenant: string): Promise<Array<[name: string, reading: Reading]>> {
      const own = idsOf(tenant)
      const [first = ''] = own
      const page = (field: CandidateSortField, direction: 'asc' | 'desc', filter: CandidateFilter<number> = {}, offset = 0) => () => candidates.list(tenant,
        { fields: fieldsTenantBuffers, filter, sort: field === 'id' ? [{ field, direction }] : [{ field, direction }, { field: 'id', direction }], offset, limit: 200 })
      const calls: Record<string, () => unknown> = {
        find: () => candidates.find(tenant, first, { fields: fieldsTenantBuffers }),
        'find of another tenant': () => candidates.find(tenant, foreign[0] ?? '', { fields: fieldsTenantBuffers }),
        'first sync page': () => candidates.listAfter?.(tenant, { after: null, limit: 200, fields: fieldsTenantBuffers }),
        'next sync page': () => candidates.listAfter?.(tenant, { after: first, limit: 200, fields: fieldsTenantBuffers }),
        'sync page of changes': () => candidates.findMany?.(tenant, own, { fields: fieldsTenantBuffers }),
        'sync page of changes of another tenant': () => candidates.findMany?.(tenant, foreign, { fields: fieldsTenantBuffers }),
        'deep page': page('id', 'asc', {}, 501)
      }
      for (const field of ['id', 'full_name', 'created_at', 'updated_at'] as const) {
        for (const direction of ['asc', 'desc'] as const) calls[`page by ${field} ${direction}`] = page(field, direction)
      }
      for (const [name, filter] of Object.entries<CandidateFilter<number>>({ none: {}, q: { q: 'NAME' }, recruiter: { recruiterId: 3 }, 'updated after': { updatedAfter: '2026-01-01T00:00:00.000Z' } })) {
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

    for (const statistics of ['no statistics', 'statistics']) {
      if (statistics === 'statistics') await pool.query('analyze people')
      for (const [name, { buffers }] of await readAll(small)) t.ok(buffers <= 3 * 5, `${name} of 5 rows reads ${buffers} buffers, with ${statistics}`)
      for (const [name, { buffers, rows }] of await readAll(middle)) {
        t.ok(buffers <= Math.max(3 * rows, 40), `${name} reads ${buffers} buffers for ${rows} of 200 rows, with ${statistics}`)
      }
    }
  })
}
