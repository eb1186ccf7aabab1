// Sample data, a key and a user for development. Requires DEVELOPER_SIGN_IN=yes.

import type pg from 'pg'
import { apiKeys } from 'fastify-recruiting-api/postgres'
import type { User } from './settings-page.js'

const scopes = [
  'candidates:read',
  'jobs:read',
  'webhooks:read',
  'webhooks:write',
  'applications:read',
  'applications:write'
]
const names = ['Ada Lovelace', 'Émilie du Châtelet', 'Emmy Noether', 'Mary Somerville', 'Sofja Kowalewskaja']
const dayMs = 86_400_000

/** Inserts sample data if there is none. Returns the settings page's user until you add your own sign-in. */
export async function createDeveloper (pool: pg.Pool): Promise<User> {
  await pool.query("insert into companies (slug) select 'acme' where not exists (select from companies)")
  const { rows: [{ id: companyId }] } = await pool.query('select min(id)::text as id from companies')
  await insertSamples(pool, companyId)
  return { id: 'dana@acme.example', companyId, isAdmin: true }
}

/** Issues a key that is valid for a day on this machine, and returns text with commands to try. */
export async function prepare (pool: pg.Pool, origin: string, { companyId }: User): Promise<string> {
  const { rows: [{ slug }] } = await pool.query('select slug from companies where id = $1', [companyId])
  const { key } = await apiKeys(pool, { ownScopes: scopes, tenantSlug: () => slug }).issue({
    tenantId: companyId,
    scopes,
    name: 'npm start',
    expiresAt: new Date(Date.now() + dayMs),
    allowedIps: ['127.0.0.0/8', '::1/128']
  })
  const { rows: [{ id }] } = await pool.query(
    "select min(id) as id from applications where company_id = $1 and stage <> 'hired'", [companyId])
  const api = `${origin}/api/v1/public/${slug}`
  const auth = `-H 'Authorization: Bearer ${key}'`
  const hire = `Hire a candidate. The webhooks of ${slug} receive application.hired:
  curl -X POST ${api}/applications/${id}/hire ${auth}
`
  return `
Server         ${origin}
Settings page  ${origin}/settings/webhooks, with the portal
API key        ${key}, of the company ${slug}, valid for a day on this machine

List candidates:
  curl ${api}/candidates ${auth}
Follow the changes of applications, to keep a copy of them:
  curl ${api}/applications/sync ${auth}
${id === null ? '' : hire}Check the database, while this runs:
  npx fastify-recruiting-api doctor
`
}

async function insertSamples (pool: pg.Pool, companyId: string): Promise<void> {
  await pool.query(
    `
    with candidate as (
      insert into candidates (company_id, name)
      select $2, name from unnest($1::text[]) as name where not exists (select from candidates) returning id
    ), job as (
      insert into jobs (company_id, name, state)
      select $2, 'Backend Engineer', 'published' where not exists (select from candidates) returning id
    )
    insert into applications (company_id, candidate_id, job_id) select $2, candidate.id, job.id from candidate, job`,
    [names, companyId]
  )
}
