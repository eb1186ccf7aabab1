import t from 'tap'
import type { CandidateSortField, IdKinds, RowQuery } from '../../../src/index.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

const fields = ['id', 'full_name', 'headline', 'source_id']
const sort = [{ field: 'id', direction: 'asc' }] as const
const query: RowQuery<object, CandidateSortField> = { filter: {}, sort, offset: 0, limit: 25, fields }
const text: IdKinds = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' }
const headers = bearer(keys.full)

/** The columns of candidates and jobs, with ids of this type, without indexes. */
const columns = {
  candidates: (idType: string) => `tenant_slug text not null, id ${idType} not null, full_name text not null, headline text,
    source_id ${idType}, recruiter_id ${idType}, created_at timestamptz not null default now(), updated_at timestamptz not null default now()`,
  jobs: (idType: string) => `tenant_slug text not null, id ${idType} not null, name text not null, status text not null,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now()`
}

t.test('a host with uuids exposes its tables through two views', async (t) => {
  const { pool } = await startPostgresHost(t)
  const [ada, grace, owner] = ['0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70', 'f197f4c2-8a10-7d3e-9b51-6c2f8e1a4d71', 'a0000000-0000-4000-8000-000000000001']
  await pool.query(`
    create table people (id uuid primary key, company text not null, name text not null, source uuid, owner uuid, at timestamptz default now());
    create table vacancies (id uuid primary key, company text not null, title text not null, at timestamptz default now());
    insert into people values ('${grace}', 'acme', 'Grace', null, null), ('${ada}', 'acme', 'Ada', '${owner}', '${owner}');
    insert into vacancies values ('${ada}', 'acme', 'Nurse');
    create view api_candidates as select company as tenant_slug, id, name as full_name, null::text as headline, source as source_id,
      owner as recruiter_id, at as created_at, at as updated_at from people;
    create view api_jobs as select company as tenant_slug, id, title as name, 'open'::text as status, at as created_at, at as updated_at from vacancies`)
  const storage = postgresStorage(pool, { candidates: 'api_candidates', jobs: 'api_jobs' })
  const app = await buildApp(t, { ids: text, storage })
  const get = (path: string) => app.inject({ url: `/api/v1/public/acme/${path}`, headers })
  const [first, second] = [
    { id: ada, full_name: 'Ada', headline: null, source_id: owner }, { id: grace, full_name: 'Grace', headline: null, source_id: null }
  ]

  t.same((await get('candidates?sort=-id')).json().data, [second, first])
  t.same((await get(`jobs/${ada}`)).json(), { data: { id: ada, name: 'Nurse', status: 'open' } })

  t.test('a uuid in upper case is found, and returned in lower case', async (t) => {
    t.same((await get(`candidates/${ada.toUpperCase()}`)).json(), { data: first })
    t.same((await get(`candidates?filter[recruiter_id]=${owner.toUpperCase()}`)).json(), {
      data: [first], meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
    })
  })

  t.test('sync reads rows by uuids in any letter case; other text matches no row and precedes none', async (t) => {
    const { candidates } = postgresStorage<string, string, string, string>(pool, { candidates: 'api_candidates' })
    t.same(await candidates.findMany?.('acme', [grace.toUpperCase(), 'nobody', ada], { fields }), [second, null, first])
    t.same(await candidates.listAfter?.('acme', { after: ada.toUpperCase(), limit: 5, fields }), [second])
    t.same(await candidates.listAfter?.('acme', { after: 'nobody', limit: 5, fields }), [])
  })

  t.test('text that is not a uuid is an unknown id', async (t) => {
    for (const id of ['nobody', '1', ada.replaceAll('-', ''), `{${ada}}`, `${ada}0`, "'", '%25']) {
      checkError(t, await get(`candidates/${id}`), 404, id)
      checkError(t, await get(`jobs/${id}`), 404, id)
      const empty = await get(`candidates?filter[recruiter_id]=${id}`)
      t.same([empty.statusCode, empty.json().meta.total], [200, 0], id)
    }
  })
})

t.test('startup advises an index in code point order if text ids have another collation', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table words (${columns.candidates('text')}, name_key text, primary key (tenant_slug, id));
    create table codes (${columns.jobs('varchar(64) collate "C"')}, name_key text, primary key (tenant_slug, id));
    create index on words (tenant_slug, updated_at);
    create index on codes (tenant_slug, updated_at)`)
  const storage = postgresStorage(pool, { candidates: 'words', jobs: 'codes' })
  const verify = () => storage.verify({ candidates: fields, jobs: ['id'], ids: text })
  t.same(await verify(), ['public.words has no index on (tenant_slug, id collate "C"): pages read the whole table'])
  await pool.query('create index on words (tenant_slug, id collate "C")')
  t.same(await verify(), [])
})

t.test('an unverified storage derives the kinds of ids from its columns', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table uuids (${columns.candidates('uuid')});
    insert into uuids (tenant_slug, id, full_name) values ('acme', '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70', 'Ada');
    create table dates (${columns.candidates('date')})`)
  const { candidates } = postgresStorage<number | string, number, number, number | string>(pool, { candidates: 'uuids' })
  t.match(await candidates.list('acme', { ...query, filter: {} }), [{ id: '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70' }])
  t.equal(await candidates.find('acme', 7, { fields }), null)
  t.equal(await candidates.count('acme', { recruiterId: 7 }), 0)
  t.same(await postgresStorage<string>(pool).candidates.list('acme', { ...query, filter: {} }), [], 'integers')
  t.equal(await postgresStorage<string>(pool).candidates.find('acme', '7', { fields }), null)
  await t.rejects(postgresStorage(pool, { candidates: 'dates' }).candidates.count('acme', {}), {
    message: 'candidates: the column id of public.dates is date, expected bigint or integer or smallint or uuid or text or character varying'
  })
})
