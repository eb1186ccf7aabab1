import type { ListQuery } from './lists.js'

/** The owner of a valid API key. */
export interface ApiKey {
  /** Identifies the key in logs and audits; never the key itself. */
  id: string
  /** For example `candidates:read`. Compared exactly. */
  scopes: readonly string[]
  /**
   * Networks that requests with the key may come from, as 1 to 100 CIDRs. Requests from elsewhere get the 401 of an
   * unknown key. Absent or `null`: requests may come from anywhere.
   */
  allowedIps?: readonly string[] | null
  /** The published fields of a candidate that the key sees besides `id`. Absent or `null`: all of them. */
  candidateFields?: readonly string[] | null
  /** The published fields of a job that the key sees besides `id`. Absent or `null`: all of them. */
  jobFields?: readonly string[] | null
}

/**
 * Finds the owner of an API key, synchronously or by a promise.
 *
 * Returns `null` unless the key is known, neither expired nor revoked, and belongs to exactly this tenant. Another
 * tenant's key and a key for an unknown tenant return `null` too. `tenantSlug` has 1 to 100 characters and `key` 1 to
 * 512, without control characters. Compare digests (see `hashApiKey`), or compare in constant time. If the function
 * throws or rejects, the error is logged and the client gets 500.
 */
export interface KeyLookup extends KeyUses, KeyManagement {
  (credentials: KeyCredentials): ApiKey | null | Promise<ApiKey | null>
}

/** A `KeyLookup` that always returns a promise, like those of this package. */
export interface AsyncKeyLookup extends KeyUses, KeyManagement {
  (credentials: KeyCredentials): Promise<ApiKey | null>
}

/** The credentials of a request. */
export interface KeyCredentials {
  /** From the path. */
  tenantSlug: string
  /**
   * The id of the tenant; without the option `tenantId` it is the slug. For a slug that no tenant has it is text that
   * begins with U+0001, which no id does: the key is looked up like any other, so that the time of the response does
   * not show which tenants exist. The result is ignored.
   */
  tenantId: string
  /** From the header `Authorization`. */
  key: string
}

/** The other method of a `KeyLookup` that keeps the time when a key was last used. */
export interface KeyUses {
  /**
   * Records that the key with this id was used without a lookup. `cacheKeyLookup` calls it for answers from its cache,
   * at most once a second for a key. Returns immediately and never throws, even for an unknown key.
   */
  recordUse? (id: string): void
}

/** The part of a `KeyLookup` with which customers manage their keys. */
export interface KeyManagement {
  /** Where the keys that the lookup finds are stored. Absent: customers cannot manage their keys. */
  store?: KeyStore
}

/** A stored API key: everything but the key. */
export interface ManagedKey {
  id: string
  /** The name that people gave the key; `null` without one. */
  name: string | null
  scopes: string[]
  /** Networks that requests may come from, as CIDRs. `null`: any address. */
  allowed_ips: string[] | null
  /** The published fields of a candidate that the key sees besides `id`. `null`: all of them. */
  candidate_fields: string[] | null
  /** The published fields of a job that the key sees besides `id`. `null`: all of them. */
  job_fields: string[] | null
  /** The first 4 characters of the key after its prefix. `null` if they are unknown. */
  start: string | null
  created_at: string
  /** Who created the key. `null` if unknown. */
  created_by: string | null
  /** When the key expires: its own date, or the end of its grace period if that is earlier. `null`: never. */
  expires_at: string | null
  /** Whether another key replaces it, so that it expires after its grace period. */
  replaced: boolean
  /** May lag by some minutes. `null` if the key was never used. */
  last_used_at: string | null
  /** `null` unless the key was revoked. */
  revoked_at: string | null
}

/** The fields that keys are sorted by. */
export type KeySortField = 'id' | 'created_at'

/** The stored parts of a key that was just generated. */
export interface GeneratedKey {
  id: string
  /** `hashApiKey` of the key. No other key has it. */
  digest: string
  /** The first 4 characters of the key after its prefix. */
  start: string
  /** Who creates the key, 1 to 255 characters. */
  createdBy: string
}

/** A key to store. */
export interface NewManagedKey extends GeneratedKey {
  /** The tenant's name. */
  tenantSlug: string
  name: string
  scopes: readonly string[]
  allowedIps: readonly string[] | null
  candidateFields: readonly string[] | null
  jobFields: readonly string[] | null
  expiresInDays: number
}

/**
 * Stores the keys that a `KeyLookup` finds. A key of another tenant is treated as if it did not exist. Expired and
 * revoked keys stay in the store.
 */
export interface KeyStore {
  /** The beginning of new keys, before `_`: 2 to 16 characters of `a-z 0-9`, the first a letter. */
  readonly prefix: string
  /** Returns one page of the tenant's keys, valid or not, in the requested order. */
  list (tenant: string, query: Omit<ListQuery<unknown, KeySortField>, 'filter'>): Promise<ManagedKey[]>
  /** Counts the tenant's keys, valid or not. */
  count (tenant: string): Promise<number>
  /** Returns a key of the tenant, valid or not; `null` if there is none with this id. */
  find (tenant: string, id: string): Promise<ManagedKey | null>
  /**
   * Stores a key. Returns `null` if the tenant already has `maxKeys` valid keys that were not replaced, even if several
   * are created at the same time.
   */
  create (tenant: string, key: NewManagedKey, maxKeys: number): Promise<ManagedKey | null>
  /**
   * Stores a key that replaces another one, with its name, scopes, limits and expiry date. The old key expires
   * after `overlapSeconds`, unless it expires earlier. Returns the new key; `null` unless the tenant has the old one,
   * and it is valid and was not replaced. Of several calls for one key at the same time, one succeeds.
   */
  rotate (tenant: string, id: string, key: GeneratedKey, overlapSeconds: number): Promise<ManagedKey | null>
  /**
   * Revokes a key, so that lookups from now on return `null`. Returns `false` if the tenant has no such key; a key that
   * was revoked before keeps its date.
   */
  revoke (tenant: string, id: string): Promise<boolean>
}
