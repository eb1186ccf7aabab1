import { omitNull } from '../keys/api-key.js'
import type { ApiKey, Clock, GeneratedKey, KeySortField, KeyStore, ManagedKey } from '../ports/index.js'
import { compareBy } from './lists/page.js'

/** A key of a tenant, and what the lookup returns for it. */
export interface KnownKey {
  tenant: string
  owner: ApiKey
  key: ManagedKey
}

export function createKnownKey (tenant: string, key: ManagedKey): KnownKey {
  const { id, scopes, allowed_ips: allowedIps, candidate_fields: candidateFields, job_fields: jobFields } = key
  const limits = omitNull(structuredClone({ allowedIps, candidateFields, jobFields }))
  return { tenant, key, owner: Object.freeze({ id, scopes: Object.freeze([...scopes]), ...limits }) }
}

export function isValid ({ key }: KnownKey, now: number): boolean {
  return key.revoked_at === null && (key.expires_at === null || now < Date.parse(key.expires_at))
}

export function toIso (ms: number): string {
  return new Date(ms).toISOString()
}

/** Creates a store of the keys of a lookup, by their digests. */
export function createKeyStore (
  known: Map<string, KnownKey>, prefix: string, clock: Pick<Clock, 'now'>
): KeyStore {
  const keysOf = (tenant: string): KnownKey[] => [...known.values()].filter((entry) => entry.tenant === tenant)
  const findBy = (tenant: string, id: string): KnownKey | undefined =>
    keysOf(tenant).find((entry) => entry.key.id === id)
  const isUsable = (entry: KnownKey): boolean => isValid(entry, clock.now()) && !entry.key.replaced

  function add (tenant: string, { id, digest, start, createdBy }: GeneratedKey, rest: KeyParts): ManagedKey {
    const key = {
      ...structuredClone(rest),
      id,
      start,
      created_at: toIso(clock.now()),
      created_by: createdBy,
      replaced: false,
      last_used_at: null,
      revoked_at: null
    }
    known.set(digest, createKnownKey(tenant, key))
    return structuredClone(key)
  }

  return {
    prefix,

    async list (tenant, { sort, offset, limit }) {
      const rows = keysOf(tenant).map(({ key }) => key)
      const compare = compareBy<ManagedKey, KeySortField>(sort, (row, field) => row[field])
      return structuredClone(rows.sort(compare).slice(offset, offset + limit))
    },

    count: async (tenant) => keysOf(tenant).length,

    async find (tenant, id) {
      return structuredClone(findBy(tenant, id)?.key ?? null)
    },

    async create (tenant, key, maxKeys) {
      if (keysOf(tenant).filter(isUsable).length >= maxKeys) return null
      const { name, scopes, allowedIps, candidateFields, jobFields, expiresInDays } = key
      return add(tenant, key, {
        name,
        scopes: [...scopes],
        allowed_ips: allowedIps && [...allowedIps],
        candidate_fields: candidateFields && [...candidateFields],
        job_fields: jobFields && [...jobFields],
        expires_at: toIso(clock.now() + expiresInDays * 86_400_000)
      })
    },

    async rotate (tenant, id, key, overlapSeconds) {
      const old = findBy(tenant, id)
      if (old === undefined || !isUsable(old)) return null
      const rotated = add(tenant, key, old.key)
      const end = clock.now() + overlapSeconds * 1000
      old.key.expires_at = toIso(Math.min(end, old.key.expires_at === null ? end : Date.parse(old.key.expires_at)))
      old.key.replaced = true
      return rotated
    },

    async revoke (tenant, id) {
      const key = findBy(tenant, id)?.key
      if (key !== undefined) key.revoked_at ??= toIso(clock.now())
      return key !== undefined
    }
  }
}

/** The parts of a key that a rotation keeps. */
type KeyParts = Pick<
  ManagedKey, 'name' | 'scopes' | 'allowed_ips' | 'candidate_fields' | 'job_fields' | 'expires_at'
>
