import type { Client, Pool, PoolClient } from 'pg'
import type { RecruitingStorage } from '../../src/index.js'
import { type PgClient, type PgPool, type PgQueryable, migrate, postgresKeyLookup, postgresStorage } from '../../src/postgres/index.js'

/* Compiled by `npm run types`: the driver that nothing in src/ imports fits. */

export function fits (pool: Pool, client: Client, poolClient: PoolClient): [PgPool, PgQueryable, PgClient] {
  return [pool, client, poolClient]
}

export async function serves (pool: Pool): Promise<RecruitingStorage> {
  await migrate(pool, { schema: 'recruiting' })
  await postgresKeyLookup(pool)({ tenantSlug: 'acme', key: 'secret' })
  return postgresStorage(pool, { candidates: 'public.api_candidates', jobs: 'public.api_jobs' })
}

// @ts-expect-error a connection is no pool
export const refused = (client: Client) => postgresStorage(client)
