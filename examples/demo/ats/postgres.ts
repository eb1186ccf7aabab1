import { migrate, postgresStorage, watch } from 'fastify-recruiting-api/postgres'
import pg from 'pg'
import type { Database } from './database.js'

// Each start drops and creates this schema.
const schema = 'recruiting_demo'

/** Opens an empty database with the API's tables and the ATS's candidates and jobs. */
export async function openPostgres (connectionString: string): Promise<Database> {
  const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5000 })
  await pool.query(`drop schema if exists ${schema} cascade`)
  await migrate(pool, { schema })
  await pool.query(`
    create table ${schema}.candidates (
      tenant_slug text, id bigint, full_name text not null, headline text, source_id bigint, recruiter_id bigint,
      created_at timestamptz not null, updated_at timestamptz not null,
      name_key text collate "C" generated always as (lower(full_name collate "und-x-icu")) stored
    );
    create table ${schema}.jobs (
      tenant_slug text, id bigint, name text not null, status text not null, created_at timestamptz not null,
      updated_at timestamptz not null,
      name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored
    );
    create unique index on ${schema}.candidates (tenant_slug, id) include (name_key);
    create index on ${schema}.candidates (tenant_slug, updated_at, id);
    create unique index on ${schema}.jobs (tenant_slug, id) include (name_key);
    create index on ${schema}.jobs (tenant_slug, updated_at, id)`)
  await watch(pool, `${schema}.candidates`, { schema, kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  await watch(pool, `${schema}.jobs`, { schema, kind: 'job', id: 'id', tenant: 'tenant_slug' })

  /** Inserts or replaces a row. */
  async function save (table: string, tenantSlug: string, row: object): Promise<void> {
    const columns = ['tenant_slug', ...Object.keys(row)]
    await pool.query(
      `
      insert into ${schema}.${table} (${columns.join(', ')}) values (${columns.map((_, index) => `$${index + 1}`).join(', ')})
      on conflict (tenant_slug, id) do update set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
      [tenantSlug, ...Object.values(row)]
    )
  }

  return {
    storage: postgresStorage(pool, { schema }),
    saveCandidate: (tenantSlug, candidate) => save('candidates', tenantSlug, candidate),
    saveJob: (tenantSlug, job) => save('jobs', tenantSlug, job),
    close: () => pool.end()
  }
}
