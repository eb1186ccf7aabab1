import type pg from 'pg'
import { watch } from '../../../src/postgres/index.js'
import { idCount, proofTenants } from './world.js'

export const candidateView = `
  create view api_candidates as
    select p.tenant_slug, p.id, p.name as full_name, f.title as headline, null::bigint as source_id, null::bigint as recruiter_id,
      p.created_at, greatest(p.updated_at, f.updated_at) as updated_at, greatest(p.version, f.version) as version
    from people p left join profiles f on f.tenant_slug = p.tenant_slug and f.person = p.id
    where p.is_visible`

export const profilesColumns = `
  tenant_slug text not null, person bigint not null, title text not null, version integer not null,
  updated_at timestamptz not null default now(), primary key (tenant_slug, person)`

export function watchPeople (pool: pg.Pool): Promise<void> {
  return watch(pool, 'people', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
}

export function watchProfiles (pool: pg.Pool): Promise<void> {
  return watch(pool, 'profiles', { kind: 'candidate', id: 'person', tenant: 'tenant_slug' })
}

/**
 * Creates the tables of a vendor. Candidates are people with a profile, as far as they are visible; triggers record what
 * changes. Jobs are positions; the writers record what changes.
 */
export async function createProofTables (pool: pg.Pool): Promise<void> {
  const columns = `
    tenant_slug text not null, id bigint not null, name text not null, is_visible boolean not null default true, version integer not null,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now(), primary key (tenant_slug, id)`
  await pool.query(`
    create sequence versions as integer;
    create table people (${columns});
    create table positions (${columns});
    create table profiles (${profilesColumns}) partition by range (person);
    create table profiles_low partition of profiles for values from (0) to (500);
    create table profiles_high partition of profiles for values from (500) to (maxvalue);
    ${candidateView};
    create view api_jobs as
      select tenant_slug, id, name, 'published'::text as status, created_at, updated_at, version from positions where is_visible`)
  for (const table of ['people', 'positions']) {
    await pool.query(`
      insert into ${table} (tenant_slug, id, name, version)
      select tenant, id, 'Name', nextval('versions') from unnest($1::text[]) as tenant, generate_series(1, $2::integer) as id`,
    [proofTenants, idCount])
  }
  await watchPeople(pool)
  await watchProfiles(pool)
}
