import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import type { RecruitingStorage } from 'fastify-recruiting-api'
import { postgresStorage } from 'fastify-recruiting-api/postgres'
import { type CandidateData, createCandidates, tenantSlug } from './candidates.js'
import type { CandidatePages } from './plain-table.js'

/** Creates the candidates of 100 tenants, with the index of the docs, and a view of jobs. */
export async function fillCandidates (pool: pg.Pool, count: number): Promise<void> {
  await pool.query(`
    create table candidates (
      tenant_slug text not null, id bigint primary key, full_name text not null, headline text, source_id bigint,
      recruiter_id bigint, created_at timestamptz not null, updated_at timestamptz not null
    );
    create index on candidates (tenant_slug, id);
    create view jobs as
      select tenant_slug, id, full_name as name, 'published'::text as status, created_at, updated_at from candidates`)
  await pool.query(`
    insert into candidates
    select case when n = 0 then $1 else 'tenant_' || n end, c.id + n * $3::integer, c.full_name, c.headline, c.source_id,
      c.recruiter_id, c.created_at, c.updated_at
    from generate_series(0, 99) as n, json_populate_recordset(null::candidates, $2) as c`,
  [tenantSlug, JSON.stringify(createCandidates(count)), count])
  await pool.query('vacuum analyze candidates')
}

export function openStorage (pool: pg.Pool): RecruitingStorage {
  return postgresStorage(pool, { candidates: 'public.candidates', jobs: 'public.jobs' })
}

/** As a developer writes it: a page and its total at once, each with the pool. */
export function openPages (pool: pg.Pool): CandidatePages {
  return {
    async find ({ page, per_page: perPage }) {
      const [{ rows: data }, { rows: [counted] }] = await Promise.all([
        pool.query<CandidateData>(`
          select id::float8, full_name, headline, source_id::float8 from candidates
          where tenant_slug = $1 order by id limit $2 offset $3`, [tenantSlug, perPage, (page - 1) * perPage]),
        pool.query('select count(*)::integer as total from candidates where tenant_slug = $1', [tenantSlug])
      ])
      return { data, total: counted.total }
    }
  }
}

/** Returns a function that returns the microseconds of CPU used by a server's processes; only on Linux. */
export async function openServerCpu (pool: pg.Pool): Promise<() => number> {
  const { rows: [{ folder }] } = await pool.query("select current_setting('data_directory') as folder")
  const server = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0])
  // In hundredths of a second; those of ended processes belong to their parent.
  return () => 10_000 * readdirSync('/proc').filter((name) => /^\d+$/.test(name)).reduce((sum, pid) => {
    const [parent, own, ended] = readTimes(pid)
    return sum + (Number(pid) === server ? own + ended : parent === server ? own : 0)
  }, 0)
}

function readTimes (pid: string): [parent: number, own: number, ended: number] {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ').map(Number)
    const at = (index: number): number => fields[index] ?? 0
    return [at(1), at(11) + at(12), at(13) + at(14)]
  } catch {
    return [0, 0, 0]
  }
}
