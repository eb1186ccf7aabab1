// Everything in PostgreSQL, next to the vendor's own tables. Two views provide candidates and jobs to the API. Each
// event is emitted in the transaction of its change.
//
// npm install pg @sinclair/typebox@0.34
// DATABASE_URL=postgres://localhost/ats tsx examples/10-postgres.ts

import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import pg from 'pg'
import recruitingApi from 'fastify-recruiting-api'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage, watch } from 'fastify-recruiting-api/postgres'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5000 })

await migrate(pool)
// Your own tables: your customers' candidates, jobs and applications, and the two views that the API reads.
await pool.query(`
  create table if not exists candidates (
    company text not null,
    id bigint generated always as identity,
    name text not null,
    title text,
    email text,
    external_id text,
    started_at timestamptz not null default now(),
    source_id bigint,
    recruiter_id bigint,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    -- filter[q] searches this: the name in lower case, for all scripts.
    name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored,
    -- Pages by id, totals and filter[q] read only this index.
    primary key (company, id) include (name_key)
  );
  -- sort=updated_at and filter[updated_after], sort=full_name, filter[recruiter_id].
  create index if not exists candidates_by_update on candidates (company, updated_at, id);
  create index if not exists candidates_by_name on candidates (company, name collate "C", id);
  create index if not exists candidates_by_recruiter on candidates (company, recruiter_id, id);
  -- The filters of candidateFilters.
  create index if not exists candidates_by_email on candidates (company, lower(email), id);
  create index if not exists candidates_by_external_id on candidates (company, external_id, id);
  create index if not exists candidates_by_start on candidates (company, started_at, id);

  create table if not exists jobs (
    company text not null,
    id bigint generated always as identity,
    name text not null,
    state text not null default 'draft',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored,
    primary key (company, id) include (name_key)
  );
  create index if not exists jobs_by_update on jobs (company, updated_at, id);

  create table if not exists applications (
    company text not null,
    id bigint generated always as identity,
    candidate_id bigint not null,
    job_id bigint not null,
    stage text not null default 'applied',
    primary key (company, id),
    -- Rejects ids of another company.
    foreign key (company, candidate_id) references candidates,
    foreign key (company, job_id) references jobs
  );

  create or replace view recruiting.candidates as
    select company as tenant_slug, id, name as full_name, title as headline, source_id, recruiter_id, created_at, updated_at, name_key,
      lower(email) as email, external_id, started_at
    from candidates;

  create or replace view recruiting.jobs as
    select company as tenant_slug, id, name, state as status, created_at, updated_at, name_key
    from jobs`)
// Triggers record every change for `sync`, including changes made by hand.
await watch(pool, 'candidates', { kind: 'candidate', id: 'id', tenant: 'company' })
await watch(pool, 'jobs', { kind: 'job', id: 'id', tenant: 'company' })

const app = Fastify({ logger: true })
// Added before the API, so that it runs after the API has closed.
app.addHook('onClose', () => pool.end())
await app.register(recruitingApi, {
  storage: postgresStorage(pool),
  keyLookup: postgresKeyLookup(pool),
  candidateFields: Type.Object({
    email: Type.Union([Type.String(), Type.Null()]),
    external_id: Type.Union([Type.String(), Type.Null()]),
    started_at: Type.String({ format: 'date-time' })
  }),
  candidateFilters: { email: ['equals'], external_id: ['equals'], started_at: ['after', 'sort'] }
})

/** Records an application and its event in one transaction. */
async function apply (company: string, name: string, jobId: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const {
      rows: [candidate]
    } = await client.query('insert into candidates (company, name) values ($1, $2) returning id::int', [company, name])
    const { rows: [application] } = await client.query(
      'insert into applications (company, candidate_id, job_id) values ($1, $2, $3) returning id::int',
      [company, candidate.id, jobId]
    )
    await app.recruiting.emit({
      tenantSlug: company,
      type: 'application.created',
      data: { id: application.id, candidate_id: candidate.id, job_id: jobId },
      subject: `candidate:${candidate.id}`
    }, { transaction: client })
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
const origin = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })

const {
  rows: [job]
} = await pool.query(
  "insert into jobs (company, name, state) values ('acme', 'Backend Engineer', 'published') returning id::int"
)
await apply('acme', 'Ada Lovelace', job.id)
const { key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['candidates:read', 'jobs:read'] })
console.log(`curl ${origin}/api/v1/public/acme/candidates -H 'Authorization: Bearer ${key}'`)
