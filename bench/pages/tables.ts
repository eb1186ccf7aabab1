import type pg from 'pg'

export const bigTenant = 'big'
export const smallTenant = 'small_7'

const bigCount = 1_000_000
const smallTenants = 500
const smallCount = 1_000

/** Creates a table of candidates without its indexes. */
export async function createCandidateTable (pool: pg.Pool, name: string): Promise<void> {
  await pool.query(`
    create table ${name} (
      tenant_slug text not null, id bigint not null, full_name text not null, headline text, source_id bigint,
      recruiter_id bigint, created_at timestamptz not null, updated_at timestamptz not null,
      name_key text collate "C" generated always as (lower(full_name collate "und-x-icu")) stored
    )`)
}

/** Creates the indexes in docs/adapters.md that every source has. */
export async function createCandidateIndexes (pool: pg.Pool, name: string): Promise<void> {
  await pool.query(`create unique index on ${name} (tenant_slug, id) include (name_key)`)
  await pool.query(`create index on ${name} (tenant_slug, updated_at, id)`)
}

/** Candidates of one big tenant and many small ones, with their indexes, and no jobs. */
export async function createCandidates (pool: pg.Pool): Promise<void> {
  await createCandidateTable(pool, 'candidates')
  await pool.query(`
    insert into candidates
    select tenant_slug, id,
      (array['Ada', 'Bruno', 'Chloé', 'Dan', 'Élise', 'Farah', 'Gianni', 'Hanna', 'Ivan', 'Jürgen', 'Kim', 'Leïla', 'Mo'])[1 + (hashint8(id) & 7)]
        || ' ' || md5(id::text),
      'Senior backend engineer', id % 17, id % 9, timestamptz '2026-01-01' + id * interval '1 second', timestamptz '2026-01-01' + id * interval '7 seconds'
    from (
      select $1 as tenant_slug, id from generate_series(1, $2) as id
      union all
      select 'small_' || tenant, id from generate_series(1, $3) as tenant, generate_series(1, $4) as id
    ) as rows (tenant_slug, id)
    -- As in a table that has been in use: not in the order of their ids.
    order by hashint8extended(id, 7)`, [bigTenant, bigCount, smallTenants, smallCount])
  await createCandidateIndexes(pool, 'candidates')
  await pool.query('vacuum analyze candidates')
  await pool.query('create table jobs (tenant_slug text, id bigint, name text, status text, created_at timestamptz, updated_at timestamptz)')
}
