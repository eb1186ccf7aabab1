// Your own operations: they create and update candidates and applications, and emit the events in the same transaction. They
// share the plugin's keys, scopes, errors and document.
//
// npm install pg @sinclair/typebox@0.34 @fastify/type-provider-typebox@5
// DATABASE_URL=postgres://localhost/ats tsx examples/11-own-routes.ts

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import pg from 'pg'
import { HttpError, recruitingApi } from 'fastify-recruiting-api'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage } from 'fastify-recruiting-api/postgres'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5000 })

/** Runs changes and emits in one transaction: all of them commit, or none. */
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

/** Throws unless the tenant has a row with this id, and keeps the row from being deleted before the commit. */
async function requireRow (client: pg.PoolClient, table: 'people' | 'positions', tenantSlug: string, field: string, id: number): Promise<void> {
  const { rows } = await client.query(`select from ${table} where tenant_slug = $1 and id = $2 for key share`, [tenantSlug, id])
  if (rows.length === 0) throw new HttpError('bad_request', [{ in: 'body', field, message: 'is not known' }])
}

const Id = Type.Integer({ minimum: 1, maximum: 2147483647 })
const Tenant = Type.Object({ tenant_slug: Type.String() })
const Item = Type.Object({ tenant_slug: Type.String(), id: Id })
const Name = Type.String({ minLength: 1, maxLength: 200 })
const Headline = Type.String({ maxLength: 200 })

const NewCandidate = Type.Object({ full_name: Name, headline: Type.Optional(Headline) }, { additionalProperties: false })
const CandidateChanges = Type.Partial(NewCandidate, { additionalProperties: false, minProperties: 1 })
const Candidate = Type.Object({ id: Type.Integer(), full_name: Type.String(), headline: Type.Union([Type.String(), Type.Null()]) })

const Stage = Type.Union([Type.Literal('applied'), Type.Literal('interview'), Type.Literal('offer')])
const NewApplication = Type.Object({ candidate_id: Id, job_id: Id }, { additionalProperties: false })
const ApplicationChanges = Type.Object({ stage: Stage }, { additionalProperties: false })
const Application = Type.Object({ id: Type.Integer(), candidate_id: Type.Integer(), job_id: Type.Integer(), stage: Stage })

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/candidates', {
    config: { scopes: ['candidates:write'] },
    schema: {
      operationId: 'createCandidate',
      tags: ['candidates'],
      summary: 'Create a candidate',
      params: Tenant,
      body: NewCandidate,
      response: { 201: Type.Object({ data: Candidate }, { description: 'The candidate' }) }
    }
  }, async ({ params: { tenant_slug: tenantSlug }, body }, reply) => {
    const data = await transaction(async (client) => {
      const { rows: [row] } = await client.query(
        'insert into people (tenant_slug, full_name, headline) values ($1, $2, $3) returning id::int, full_name, headline',
        [tenantSlug, body.full_name, body.headline])
      await app.recruiting.emit({ tenantSlug, type: 'candidate.created', data: row, subject: `candidate:${row.id}` }, { transaction: client })
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
      response: { 200: Type.Object({ data: Candidate }, { description: 'The candidate as it is now' }) }
    }
  }, async ({ params: { tenant_slug: tenantSlug, id }, body }) => transaction(async (client) => {
    const { rows: [row] } = await client.query(
      `update people set full_name = coalesce($3, full_name), headline = coalesce($4, headline), updated_at = now()
      where tenant_slug = $1 and id = $2 returning id::int, full_name, headline`, [tenantSlug, id, body.full_name, body.headline])
    if (row === undefined) throw new HttpError('not_found')
    await app.recruiting.emit({ tenantSlug, type: 'candidate.updated', data: row, subject: `candidate:${id}` }, { transaction: client })
    return { data: row }
  }))

  app.post('/applications', {
    config: { scopes: ['applications:write'] },
    schema: {
      operationId: 'createApplication',
      tags: ['applications'],
      summary: 'Create an application',
      params: Tenant,
      body: NewApplication,
      response: { 201: Type.Object({ data: Application }, { description: 'The application' }) }
    }
  }, async ({ params: { tenant_slug: tenantSlug }, body }, reply) => {
    const data = await transaction(async (client) => {
      await requireRow(client, 'people', tenantSlug, 'candidate_id', body.candidate_id)
      await requireRow(client, 'positions', tenantSlug, 'job_id', body.job_id)
      const { rows: [row] } = await client.query(
        `insert into applications (tenant_slug, candidate_id, job_id) values ($1, $2, $3)
        returning id::int, candidate_id::int, job_id::int, stage`, [tenantSlug, body.candidate_id, body.job_id])
      const subject = `candidate:${row.candidate_id}`
      await app.recruiting.emit({ tenantSlug, type: 'application.created', data: row, subject }, { transaction: client })
      return row
    })
    reply.code(201)
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
      response: { 200: Type.Object({ data: Application }, { description: 'The application as it is now' }) }
    }
  }, async ({ params: { tenant_slug: tenantSlug, id }, body }) => transaction(async (client) => {
    const { rows: [row] } = await client.query(
      `update applications set stage = $3 where tenant_slug = $1 and id = $2
      returning id::int, candidate_id::int, job_id::int, stage`, [tenantSlug, id, body.stage])
    if (row === undefined) throw new HttpError('not_found')
    const subject = `candidate:${row.candidate_id}`
    await app.recruiting.emit({ tenantSlug, type: 'application.stage_changed', data: row, subject }, { transaction: client })
    return { data: row }
  }))
}

await migrate(pool)
await pool.query(`
  create table if not exists people (
    tenant_slug text, id bigint generated always as identity, full_name text not null, headline text, source_id bigint,
    recruiter_id bigint, created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
    primary key (tenant_slug, id)
  );
  create table if not exists positions (
    tenant_slug text, id bigint, name text not null, status text not null, created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(), primary key (tenant_slug, id)
  );
  create table if not exists applications (
    tenant_slug text, id bigint generated always as identity, candidate_id bigint not null, job_id bigint not null,
    stage text not null default 'applied', primary key (tenant_slug, id),
    -- Both belong to the tenant, even if a statement forgets to check.
    foreign key (tenant_slug, candidate_id) references people, foreign key (tenant_slug, job_id) references positions
  );
  insert into positions (tenant_slug, id, name, status) values
    ('acme', 7, 'Backend Engineer', 'published'), ('globex', 8, 'Henchman', 'published') on conflict do nothing`)

const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage: postgresStorage(pool, { candidates: 'people', jobs: 'positions' }),
  keyLookup: postgresKeyLookup(pool),
  errorDetails: true,
  routes
})
app.addHook('onClose', () => pool.end())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
const origin = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })

const { key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['candidates:read', 'candidates:write', 'applications:write'] })
console.log(`curl ${origin}/api/v1/public/acme/candidates -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '{"full_name":"Ada Lovelace"}'`)
