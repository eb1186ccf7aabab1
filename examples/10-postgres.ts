// Everything in PostgreSQL, next to the vendor's own tables. Two views provide candidates and jobs to the API. Each
// event is emitted in the transaction that makes the change.
//
// DATABASE_URL=postgres://localhost/ats tsx examples/10-postgres.ts

import Fastify from 'fastify'
import pg from 'pg'
import recruitingApi from 'fastify-recruiting-api'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage, watch } from 'fastify-recruiting-api/postgres'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5000 })

// The vendor's own tables: people, positions and applications of its customers.
await pool.query(`
  create table if not exists people (
    company text not null, id bigint generated always as identity, name text not null, title text, recruiter bigint,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
    name_key text collate "C" generated always as (lower(name)) stored, primary key (company, id)
  );
  create table if not exists positions (
    company text not null, id bigint generated always as identity, name text not null, state text not null default 'draft',
    created_at timestamptz not null default now(), updated_at timestamptz not null default now(), primary key (company, id)
  );
  create table if not exists applications (
    id bigint generated always as identity primary key, company text not null, person bigint not null, position bigint not null,
    -- Ids of another customer are refused.
    foreign key (company, person) references people, foreign key (company, position) references positions
  );

  create or replace view api_candidates as
    select company as tenant_slug, id, name as full_name, title as headline, null::bigint as source_id,
      recruiter as recruiter_id, created_at, updated_at, name_key
    from people;
  create or replace view api_jobs as
    select company as tenant_slug, id, name, state as status, created_at, updated_at from positions`)

await migrate(pool)
// Triggers record every change for `sync`, also one that is made by hand.
await watch(pool, 'people', { kind: 'candidate', id: 'id', tenant: 'company' })
await watch(pool, 'positions', { kind: 'job', id: 'id', tenant: 'company' })

const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage: postgresStorage(pool, { candidates: 'api_candidates', jobs: 'api_jobs' }),
  keyLookup: postgresKeyLookup(pool)
})
app.addHook('onClose', () => pool.end())

/** Records an application and its event in one transaction. */
async function apply (company: string, name: string, position: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows: [person] } = await client.query('insert into people (company, name) values ($1, $2) returning id::int', [company, name])
    const { rows: [application] } = await client.query(
      'insert into applications (company, person, position) values ($1, $2, $3) returning id::int', [company, person.id, position])
    await app.recruiting.emit({
      tenantSlug: company,
      type: 'application.created',
      data: { id: application.id, candidate_id: person.id, job_id: position },
      subject: `candidate:${person.id}`
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

await pool.query("insert into positions (company, name, state) values ('acme', 'Backend Engineer', 'published')")
await apply('acme', 'Ada Lovelace', 1)
const { key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['candidates:read', 'jobs:read'] })
console.log(`curl ${origin}/api/v1/public/acme/candidates -H 'Authorization: Bearer ${key}'`)
