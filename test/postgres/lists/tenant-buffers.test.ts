import t from 'tap'
import type { CandidateFilter, CandidateSortField } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { type Reading, measurePool } from '../../fixtures/postgres/measured-pool.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

const fields = ['id', 'full_name', 'headline', 'source_id', 'recruiter_id', 'created_at', 'updated_at']
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
        { fields, filter, sort: field === 'id' ? [{ field, direction }] : [{ field, direction }, { field: 'id', direction }], offset, limit: 200 })
      const calls: Record<string, () => unknown> = {
        find: () => candidates.find(tenant, first, { fields }),
        'find of another tenant': () => candidates.find(tenant, foreign[0] ?? '', { fields }),
        'first sync page': () => candidates.listAfter?.(tenant, { after: null, limit: 200, fields }),
        'next sync page': () => candidates.listAfter?.(tenant, { after: first, limit: 200, fields }),
        'sync page of changes': () => candidates.findMany?.(tenant, own, { fields }),
        'sync page of changes of another tenant': () => candidates.findMany?.(tenant, foreign, { fields }),
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
