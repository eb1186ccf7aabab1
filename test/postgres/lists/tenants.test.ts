import t from 'tap'
import type { CandidateQuery } from '../../../src/index.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
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

t.test('rows belong to the tenant in tenant_id, with every allowed type', async (t) => {
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

t.test('if a relation has both columns, the option tenantId decides which one counts', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table people (tenant_slug text, tenant_id bigint, ${columns});
    create table openings (tenant_slug text, tenant_id bigint, ${jobColumns});
    insert into people (tenant_slug, tenant_id, id, full_name) values ('acme', 42, 1, 'Ada'), ('42', 7, 2, 'Grace')`)
  const storage = postgresStorage(pool, { candidates: 'people', jobs: 'openings' })
  const published = { candidates: fields, jobs: ['id'], ids: integers }
  const names = async (tenant: string) =>
    (await storage.candidates.list(tenant, query)).map(({ full_name: name }) => name)
  t.same([await names('42'), await names('acme')], [['Grace'], ['Ada']], 'an unverified storage uses tenant_slug')
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
