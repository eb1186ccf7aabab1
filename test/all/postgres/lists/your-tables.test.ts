import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import t from 'tap'
import { findHostRelation, listHeld } from '../../../../src/storages/postgres/grants.js'
import { migrate, postgresStorage } from '../../../../src/storages/postgres/index.js'
import { judgePages } from '../../../../src/tools/cli/doctor/pages.js'
import { findTenantColumn } from '../../../../src/storages/postgres/lists/columns.js'
import { describeRelation } from '../../../../src/storages/postgres/lists/relation.js'
import { candidateKind, jobKind } from '../../../../src/storages/postgres/lists/row-kind.js'
import { ask, createSession } from '../../../../src/storages/postgres/session.js'
import { startPostgres } from '../../../fixtures/postgres/postgres-server.js'
import type { Teardown } from '../../../fixtures/api/app.js'

const companies = "case when n <= 12000 then '10000000-0000-0000-0000-000000000000' else '30000000-0000-0000-0000-000000000000' end"

/** Creates what docs/your-tables.md describes, with rows of a large and a small tenant. */
async function startYourTables (t: Teardown): Promise<pg.Pool> {
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  const text = await readFile(new URL('../../../../docs/your-tables.md', import.meta.url), 'utf8')
  for (const [, sql = ''] of text.matchAll(/^```sql\n(.*?)^```$/gms)) await pool.query(sql)
  await pool.query(`
    insert into "Candidate" ("id", "companyId", "firstName", "lastName", "ownerId", "createdAt", "updatedAt", "deletedAt", "consentedAt")
    select 'c' || n, ${companies}, 'Ada', n, 'o' || n % 50, now(), now() + n * interval '1 s', case when n % 7 = 0 then now() end, case when n % 5 > 0 then now() end
    from generate_series(1, 12050) as n;
    insert into "Job" ("id", "companyId", "title", "state", "updatedAt")
    select 'j' || n, ${companies}, 'Job ' || n, 'OPEN', now() + n * interval '1 s' from generate_series(1, 12050) as n;
    insert into drizzle_jobs (company_id, title, state) select (${companies})::uuid, 'Job ' || n, 'open' from generate_series(1, 12050) as n;
    insert into person ("companyId", "firstName", "lastName", "recruiterId") select (${companies})::uuid, 'Ada', n, gen_random_uuid() from generate_series(1, 12050) as n`)
  await pool.query('vacuum (analyze) "Candidate", "Job", drizzle_jobs, person')
  return pool
}

async function judge (pool: pg.Pool, name: string): Promise<string[]> {
  const kind = name.endsWith('jobs') ? jobKind : candidateKind
  const session = createSession(pool, 5000)
  const relation = findTenantColumn(await describeRelation(session, kind.option, name), kind.option, true)
  return (await judgePages(session, relation, kind)).findings.filter(({ state }) => state !== 'advice').map(({ text }) => text)
}

const views = { api_candidates: 'Candidate', api_jobs: 'Job', api_drizzle_jobs: 'drizzle_jobs', api_persons: 'person' }

t.test('the views and indexes for Prisma, Drizzle and TypeORM serve every page, and doctor misses each index', async (t) => {
  const pool = await startYourTables(t)
  for (const [view, table] of Object.entries(views)) {
    t.strictSame(await judge(pool, view), [], view)
    const { rows } = await pool.query(`
      select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
      from pg_index i where i.indrelid = $1::regclass and not i.indisprimary`, [`"${table}"`])
    for (const { name, definition } of rows) {
      await pool.query(`drop index ${name}`)
      t.ok((await judge(pool, view)).length > 0, `${view} without ${definition}`)
      await pool.query(definition)
    }
  }
})

t.test('the views show live rows of the tenant, with times in UTC', async (t) => {
  const pool = await startYourTables(t)
  const storage = postgresStorage<string, string, string, string>(pool, { candidates: 'api_candidates', jobs: 'api_jobs' })
  const tenant = '30000000-0000-0000-0000-000000000000'
  const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
  t.strictSame(await storage.verify({ candidates: ['id', 'full_name'], jobs: ['id', 'name'], ids, hasTenantIds: true }), [])
  t.equal(await storage.candidates.count(tenant, {}), 35)
  t.equal(await storage.candidates.count(tenant, { q: 'ADA 12001' }), 1)
  t.equal(await storage.jobs.count(tenant, { status: 'open' }), 50)
})

t.test('the privileges of views can be granted again', async (t) => {
  const pool = await startYourTables(t)
  const role = `views_${process.pid}`
  await pool.query(`create role ${role}; grant select on api_candidates to ${role}; grant select (id) on api_jobs to ${role}`)
  t.teardown(() => pool.query(`drop owned by ${role}; drop role ${role}`))
  const query = <Row>(text: string, values?: unknown[]) => ask<Row>(pool, text, values)
  const found = await Promise.all(['api_candidates', 'api_jobs'].map((name) => findHostRelation(query, name)))
  const lists = found.flatMap((list) => list ?? [])
  const held = await listHeld(query, lists)
  t.strictSame(held, [`grant select (id) on table public.api_jobs to ${role}`, `grant select on table public.api_candidates to ${role}`])
  await pool.query(`revoke all on api_candidates, api_jobs from ${role}; revoke all (id) on api_jobs from ${role}`)
  for (const statement of held) await pool.query(statement)
  t.strictSame(await listHeld(query, lists), held)
})
