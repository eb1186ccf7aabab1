import t from 'tap'
import type { CandidateQuery } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

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

t.test('rows belong to the tenant in tenant_id, of every allowed type', async (t) => {
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

t.test('a relation that does not match the option tenantId is rejected at startup', async (t) => {
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
