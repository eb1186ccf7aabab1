import type { Client, Pool, PoolClient } from 'pg'
import type { ApiKey, AsyncKeyLookup, KeyLookup, RecruitingStorage } from '../../src/index.js'
import { type PgClient, type PgPool, type PgQueryable, type StoredApiKey, apiKeys, migrate, postgresKeyLookup, postgresStorage } from '../../src/storages/postgres/index.js'

/* Compiled by `npm run types`: pg fits, although src/ does not import it. */

export function fits (pool: Pool, client: Client, poolClient: PoolClient): [PgPool, PgQueryable, PgClient] {
  return [pool, client, poolClient]
}

export async function serves (pool: Pool): Promise<RecruitingStorage> {
  await migrate(pool, { schema: 'recruiting' })
  await postgresKeyLookup(pool)({ tenantSlug: 'acme', tenantId: 'acme', key: 'secret' })
  return postgresStorage(pool, { candidates: 'public.api_candidates', jobs: 'public.api_jobs' })
}

// @ts-expect-error a connection is not a pool
export const rejected = (client: Client) => postgresStorage(client)

export async function keys (pool: Pool, transaction: PoolClient): Promise<StoredApiKey | null> {
  const { issue, list, rotate, revoke, find } = apiKeys(pool, { schema: 'recruiting', prefix: 'acme' })
  const { key, id }: { key: string, id: string } = await issue({ tenantSlug: 'acme', scopes: [], expiresAt: new Date(), name: key1, allowedIps: ['203.0.113.0/24'], candidateFields: [] }, { transaction })
  const listed: StoredApiKey[] = await list({ tenantSlug: 'acme' })
  await rotate({ tenantSlug: 'acme' }, id, { overlapSeconds: 5 }, { transaction })
  const isRevoked: boolean = await revoke({ tenantId: 5 }, listed[0]?.id ?? key)
  // @ts-expect-error a listed key does not contain its secret
  listed[0]?.key.slice(Number(isRevoked))
  // @ts-expect-error a key needs scopes
  await issue({ tenantSlug: 'acme' })
  // @ts-expect-error no tenant
  await revoke(id)
  return find({ tenantId: '5' }, id)
}

const key1 = 'CRM'

/** A lookup is a function, with or without `recordUse`. The package's own lookups always return a promise. */
export const lookups: KeyLookup[] = [
  () => null,
  async ({ tenantSlug, key }) => tenantSlug === key ? { id: '', scopes: [] } : null,
  Object.assign((): ApiKey | null => null, { recordUse (id: string) { id.trim() } })
]
export const promises = (lookup: AsyncKeyLookup): KeyLookup => lookup
