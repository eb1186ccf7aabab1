// Your own operations: they create and update candidates and applications, and emit the events in the same
// transaction. Others list and sync applications as the API does with candidates and jobs. They share the plugin's
// keys, scopes, errors and document.
//
// npm install pg @sinclair/typebox@0.34
// DATABASE_URL=postgres://localhost/ats tsx examples/11-own-routes.ts

import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import pg from 'pg'
import { HttpError, type RecruitingRoutes, defineList, recruitingApi } from 'fastify-recruiting-api'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage, watch } from 'fastify-recruiting-api/postgres'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5000 })

/** Runs changes and emits in one transaction: all of them commit or none. */
async function transaction<T> (run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await run(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

/** Throws unless the tenant has a row with this id, and prevents its deletion before the commit. */
async function requireRow (
  client: pg.PoolClient,
  table: 'candidates' | 'jobs',
  tenantSlug: string,
  field: string,
  id: number
): Promise<void> {
  const { rows } = await client.query(`select from ${table} where company = $1 and id = $2 for key share`, [
    tenantSlug,
    id
  ])
  if (rows.length === 0) throw new HttpError('bad_request', [{ in: 'body', field, message: 'is not known' }])
}

const Id = Type.Integer({ minimum: 1, maximum: 2147483647 })
const Tenant = Type.Object({ tenant_slug: Type.String() })
const Item = Type.Object({ tenant_slug: Type.String(), id: Id })
const Name = Type.String({ minLength: 1, maxLength: 200 })
const Headline = Type.String({ maxLength: 200 })

const NewCandidate = Type.Object(
  { full_name: Name, headline: Type.Optional(Headline) },
  { additionalProperties: false }
)
const CandidateChanges = Type.Partial(NewCandidate, { additionalProperties: false, minProperties: 1 })
const Candidate = Type.Object({
  id: Type.Integer(),
  full_name: Type.String(),
  headline: Type.Union([Type.String(), Type.Null()])
})

const Stage = Type.Union([
  Type.Literal('applied'),
  Type.Literal('interview'),
  Type.Literal('offer'),
  Type.Literal('hired')
])
const NewApplication = Type.Object({ candidate_id: Id, job_id: Id }, { additionalProperties: false })
const ApplicationChanges = Type.Object({ stage: Stage }, { additionalProperties: false })
const Application = Type.Object({
  id: Type.Integer(),
  candidate_id: Type.Integer(),
  job_id: Type.Integer(),
  stage: Stage
})

const applications = defineList(Application, {
  kind: 'application',
  sort: ['id', 'candidate_id', 'job_id'],
  filters: { stage: Stage, candidate_id: Id }
})
const columns = 'id::int, candidate_id::int, job_id::int, stage'
const matches = 'company = $1 and ($2::text is null or stage = $2) and ($3::bigint is null or candidate_id = $3)'

const routes: RecruitingRoutes = async (app) => {
  app.post('/candidates', {
    config: { scopes: ['candidates:write'], idempotent: true },
    schema: {
      operationId: 'createCandidate',
      tags: ['candidates'],
      summary: 'Create a candidate',
      params: Tenant,
      body: NewCandidate,
      response: { 201: Type.Object({ data: Candidate }, { description: 'The candidate' }) }
    }
  }, async ({ recruiting: { tenantId }, body }, reply) => {
    const data = await transaction(async (client) => {
      const { rows: [row] } = await client.query(
        'insert into candidates (company, name, title) values ($1, $2, $3) returning id::int, name as full_name, title as headline',
        [tenantId, body.full_name, body.headline]
      )
      await app.recruiting.emit(
        { tenantId, type: 'candidate.created', data: row, subject: `candidate:${row.id}` },
        { transaction: client }
      )
      return row
    })
    reply.code(201)
    return { data }
  })

  app.patch('/candidates/:id', {
    config: { scopes: ['candidates:write'] },
    schema: {
      operationId: 'updateCandidate',
      tags: ['candidates'],
      summary: 'Update a candidate',
      params: Item,
      body: CandidateChanges,
      response: { 200: Type.Object({ data: Candidate }, { description: 'The current candidate' }) }
    }
  }, async ({ recruiting: { tenantId }, params: { id }, body }) => transaction(async (client) => {
    const { rows: [row] } = await client.query(
      `update candidates set name = coalesce($3, name), title = coalesce($4, title), updated_at = now()
      where company = $1 and id = $2 returning id::int, name as full_name, title as headline`,
      [tenantId, id, body.full_name, body.headline]
    )
    if (row === undefined) throw new HttpError('not_found')
    await app.recruiting.emit(
      { tenantId, type: 'candidate.updated', data: row, subject: `candidate:${id}` },
      { transaction: client }
    )
    return { data: row }
  }))

  app.post('/applications', {
    config: { scopes: ['applications:write'], idempotent: true },
    schema: {
      operationId: 'createApplication',
      tags: ['applications'],
      summary: 'Create an application',
      params: Tenant,
      body: NewApplication,
      response: { 201: Type.Object({ data: Application }, { description: 'The application' }) }
    }
  }, async ({ recruiting: { tenantId }, body }, reply) => {
    const data = await transaction(async (client) => {
      await requireRow(client, 'candidates', tenantId, 'candidate_id', body.candidate_id)
      await requireRow(client, 'jobs', tenantId, 'job_id', body.job_id)
      const { rows: [row] } = await client.query(
        `insert into applications (company, candidate_id, job_id) values ($1, $2, $3) returning ${columns}`,
        [tenantId, body.candidate_id, body.job_id]
      )
      const subject = `candidate:${row.candidate_id}`
      await app.recruiting.emit({ tenantId, type: 'application.created', data: row, subject }, { transaction: client })
      return row
    })
    reply.code(201)
    return { data }
  })

  app.get('/applications', {
    config: { scopes: ['applications:read'] },
    schema: {
      operationId: 'listApplications',
      tags: ['applications'],
      summary: 'List applications',
      params: Tenant,
      querystring: applications.query,
      response: { 200: applications.page }
    }
  }, (request, reply) => applications.read(request, reply, {
    async list (tenantId, { filter, sort, offset, limit }) {
      const order = sort.map(({ field, direction }) => `applications.${field} ${direction}`).join(', ')
      const { rows } = await pool.query(
        `select ${columns} from applications where ${matches} order by ${order} offset $4 limit $5`,
        [tenantId, filter.stage, filter.candidate_id, offset, limit]
      )
      return rows
    },
    async count (tenantId, filter) {
      const { rows: [row] } = await pool.query(
        `select count(*)::int as total from applications where ${matches}`,
        [tenantId, filter.stage, filter.candidate_id]
      )
      return row.total
    }
  }))

  app.get('/applications/sync', {
    config: { scopes: ['applications:read'] },
    schema: {
      operationId: 'syncApplications',
      tags: ['applications'],
      summary: 'Copy all applications, then follow their changes',
      params: Tenant,
      querystring: applications.sync.query,
      response: { 200: applications.sync.page }
    }
  }, (request) => applications.sync.read(request, {
    async listAfter (tenantId, { after, limit }) {
      const { rows } = await pool.query(
        `select ${columns} from applications where company = $1 and id > $2 order by applications.id limit $3`,
        [tenantId, after ?? 0, limit]
      )
      return rows
    },
    async findMany (tenantId, ids) {
      const { rows } = await pool.query(
        `select ${columns} from applications where company = $1 and id = any ($2)`,
        [tenantId, ids]
      )
      return rows
    }
  }))

  app.get('/applications/:id', {
    config: { scopes: ['applications:read'], resource: 'application' },
    schema: {
      operationId: 'getApplication',
      tags: ['applications'],
      summary: 'Get an application',
      params: Item,
      response: { 200: Type.Object({ data: Application }, { description: 'The application' }) }
    }
  }, async ({ recruiting: { tenantId }, params: { id } }) => {
    const { rows: [data] } = await pool.query(
      `select ${columns} from applications where company = $1 and id = $2`, [tenantId, id])
    if (data === undefined) throw new HttpError('not_found')
    return { data }
  })

  app.patch('/applications/:id', {
    config: { scopes: ['applications:write'] },
    schema: {
      operationId: 'updateApplication',
      tags: ['applications'],
      summary: 'Move an application to another stage',
      params: Item,
      body: ApplicationChanges,
      response: { 200: Type.Object({ data: Application }, { description: 'The current application' }) }
    }
  }, async ({ recruiting: { tenantId }, params: { id }, body }) => transaction(async (client) => {
    const { rows: [row] } = await client.query(
      `update applications set stage = $3 where company = $1 and id = $2 returning ${columns}`,
      [tenantId, id, body.stage]
    )
    if (row === undefined) throw new HttpError('not_found')
    const subject = `candidate:${row.candidate_id}`
    await app.recruiting.emit(
      { tenantId, type: 'application.stage_changed', data: row, subject },
      { transaction: client }
    )
    return { data: row }
  }))
}

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
await pool.query(
  "insert into jobs (company, name, state) select 'acme', 'Backend Engineer', 'published' where not exists (select from jobs where company = 'acme')"
)
// Triggers record every change for `sync`, including changes made by hand.
await watch(pool, 'candidates', { kind: 'candidate', id: 'id', tenant: 'company' })
await watch(pool, 'jobs', { kind: 'job', id: 'id', tenant: 'company' })
await watch(pool, 'applications', { kind: 'application', id: 'id', tenant: 'company' })

const app = Fastify({ logger: true })
// Added before the API, so that it runs after the API has closed.
app.addHook('onClose', () => pool.end())
await app.register(recruitingApi, {
  storage: postgresStorage(pool),
  keyLookup: postgresKeyLookup(pool),
  errorDetails: true,
  routes
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
const origin = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })

const { key } = await apiKeys(pool, { ownScopes: app.recruiting.scopes }).issue({
  tenantSlug: 'acme',
  scopes: ['candidates:read', 'candidates:write', 'applications:read', 'applications:write']
})
console.log(`curl ${origin}/api/v1/public/acme/candidates -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '{"full_name":"Ada Lovelace"}'`)
