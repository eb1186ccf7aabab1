import { readFile } from 'node:fs/promises'
import t from 'tap'
import { migrate, postgresStorage } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
const published = { candidates: ['id', 'full_name', 'headline', 'source_id'], jobs: ['id', 'name', 'status'], ids }

/** The statements of a page, in their order. */
async function readStatements (page: string): Promise<string[]> {
  const text = await readFile(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = '']) => sql)
}

t.test('the statements of the pages run, and what they make is what a storage needs', async (t) => {
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  const statements = [...await readStatements('operations.md'), ...await readStatements('adapters.md')]
  t.ok(statements.length > 1)
  for (const sql of statements) await t.resolves(pool.query(sql))

  await pool.query("create view api_jobs as select company as tenant_slug, nr as id, name, 'open'::text as status, created_at, changed_at as updated_at from people")
  await pool.query("insert into people (company, nr, name) values ('acme', 1, 'ÉLODIE')")
  const storage = postgresStorage(pool, { candidates: 'api_candidates', jobs: 'api_jobs' })
  t.strictSame(await storage.verify(published), [])
  t.equal(await storage.candidates.count('acme', { q: 'élodie' }), 1)

  const { rows: [applicant] } = await pool.query("insert into applicants (company, name, owner_id) values ('acme', 'Ada', gen_random_uuid()) returning id, owner_id")
  const texts = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
  const uuids = postgresStorage<string, string, string, string>(pool, { candidates: 'api_applicants', jobs: 'api_openings' })
  t.strictSame(await uuids.verify({ ...published, ids: texts }), [])
  t.match(await uuids.candidates.find('acme', applicant.id, { fields: published.candidates }), { id: applicant.id, full_name: 'Ada' })
  t.equal(await uuids.candidates.count('acme', { recruiterId: applicant.owner_id, q: 'ada' }), 1)

  const { rows: [company] } = await pool.query("insert into companies (slug) values ('acme') returning id")
  await pool.query("insert into persons (company_id, name) values ($1, 'Ada')", [company.id])
  const byId = postgresStorage(pool, { candidates: 'api_persons', jobs: 'api_posts' })
  t.strictSame(await byId.verify({ ...published, hasTenantIds: true }), [])
  t.equal(await byId.candidates.count(company.id, { q: 'ADA' }), 1)
})
