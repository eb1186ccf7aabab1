import type { Creator } from './ids.js'
import type { ListQuery } from './lists.js'
import type { AnswerToStore, StoresAnswers } from './idempotency.js'

/** The owner of a valid API key. */
export interface ApiKey {
  /** Identifies the key in logs and audits; never the key itself. */
  id: string
  /** For example `candidates:read`. Compared exactly. */
  scopes: readonly string[]
  /**
   * Networks that the key can be used from, as 1 to 100 CIDRs. Requests from other addresses get the 401 of an unknown
   * key. Absent or `null`: any address.
   */
  allowedIps?: readonly string[] | null
  /** The published candidate fields that the key can read besides `id`. Absent or `null`: all of them. */
  candidateFields?: readonly string[] | null
  /** The published job fields that the key can read besides `id`. Absent or `null`: all of them. */
  jobFields?: readonly string[] | null
  /** A description, which `GET …/api_key` returns. Absent or `null`: none. */
  name?: string | null
  /** When the key expires, as RFC 3339, for `GET …/api_key`. Absent or `null`: never, or unknown. */
  expiresAt?: string | null
}

/**
 * Finds the owner of an API key, synchronously or by a promise.
 *
 * Returns `null` unless the key exists, is neither expired nor revoked, and belongs to exactly this tenant. Also
 * returns `null` for an unknown tenant. `tenantSlug` has 1 to 100 characters and `key` 1 to 512, without control
 * characters. Compare digests (see `hashApiKey`), or compare in constant time. If the function throws or rejects, the
 * error is logged and the client gets 500.
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
   * The tenant's id; without the option `tenantId`, its slug. For an unknown tenant, text that begins with U+0001, as
   * no id does: the key is still looked up, so that response times do not reveal which tenants exist. The result is
   * ignored.
   */
  tenantId: string
  /** From the header `Authorization`. */
  key: string
}

/** The optional method of a `KeyLookup` that stores when keys were last used. */
export interface KeyUses {
  /**
   * Records that the key with this id was used without a lookup. `cacheKeyLookup` calls it for cached results, at most
   * once a second per key. Returns immediately and never throws, even for an unknown key.
   */
  recordUse? (id: string): void
}

/** The part of a `KeyLookup` that lets customers manage their keys. */
export interface KeyManagement {
  /** The store of the lookup's keys. Absent: customers cannot manage their keys. */
  store?: KeyStore
}

/** A stored API key, without the key itself. */
export interface ManagedKey {
  id: string
  /** `null` for a key without a name. */
  name: string | null
  scopes: string[]
  /** Networks that the key can be used from, as CIDRs. `null`: any address. */
  allowed_ips: string[] | null
  /** The published candidate fields that the key can read besides `id`. `null`: all of them. */
  candidate_fields: string[] | null
  /** The published job fields that the key can read besides `id`. `null`: all of them. */
  job_fields: string[] | null
  /** The first 4 characters of the key after its prefix. `null` if they are unknown. */
  start: string | null
  created_at: string
  created_by: Creator
  /** When the key expires: its own date, or the end of its grace period if that is earlier. `null`: never. */
  expires_at: string | null
  /** Whether another key replaces it, so that it expires after its grace period. */
  replaced: boolean
  /** Can lag by some minutes. `null` if the key was never used. */
  last_used_at: string | null
  /** `null` unless the key was revoked. */
  revoked_at: string | null
}

/** A key that replaces another one. */
export interface RotatedKey extends ManagedKey {
  /** When the old key expires. */
  previous_key_expires_at: string
}

/** The fields that keys are sorted by. */
export type KeySortField = 'id' | 'created_at'

/** The stored parts of a new key. */
export interface GeneratedKey {
  id: string
  /** `hashApiKey` of the key, unique. */
  digest: string
  /** The first 4 characters of the key after its prefix. */
  start: string
  /** Its id has 1 to 255 characters. */
  createdBy: Creator
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
  /** The key never outlives the key that creates it. */
  expiresInDays: number
}

/**
 * Why a key was not stored:
 *
 * - `full`: the tenant already has `maxKeys` valid keys
 * - `creator_ended`: the key that creates it has expired, or was revoked or replaced
 * - `too_deep`: it would descend from more than 20 keys
 */
export type KeyRejection = 'full' | 'creator_ended' | 'too_deep'

/**
 * Stores the keys of a `KeyLookup`. A key of another tenant is treated as if it did not exist. Expired and revoked keys
 * stay in the store for a year or longer.
 *
 * The children of a key are the keys that it created, the keys that replace them, and their children. A key that
 * replaces another one also has its children. A creator that is not in the store counts as a valid key without an
 * expiry date.
 *
 * Calls that wait for another call of the tenant hold no connection. They reject after some seconds with
 * `RecruitingApiError` (`busy`).
 */
export interface KeyStore extends StoresAnswers {
  /** The beginning of new keys, before `_`: 2 to 16 characters of `a-z 0-9`, the first a letter. */
  readonly prefix: string
  /** Returns one page of the tenant's keys, valid or not, in the requested order. */
  list (tenant: string, query: Omit<ListQuery<unknown, KeySortField>, 'filter'>): Promise<ManagedKey[]>
  /** Counts the tenant's keys, valid or not. */
  count (tenant: string): Promise<number>
  /** Returns one of the tenant's keys, valid or not; `null` if there is none with this id. */
  find (tenant: string, id: string): Promise<ManagedKey | null>
  /**
   * Stores a key. It expires no later than the key that creates it. The tenant never gets more than `maxKeys` valid
   * keys, including replaced ones, even with concurrent calls.
   */
  create (
    tenant: string, key: NewManagedKey, options: { maxKeys: number, answer?: AnswerToStore<ManagedKey> | undefined }
  ): Promise<ManagedKey | KeyRejection>
  /**
   * Stores a key that replaces another one, with its name, scopes, limits and expiry date; it expires no later than
   * the key that rotates it. The old key expires after `overlapSeconds`, unless it expires earlier. Returns the new
   * key; `null` unless the tenant has the old one, and it is valid and was not replaced. With an overlap of 0,
   * `maxKeys` does not apply. Of several concurrent calls for one key, one succeeds.
   */
  rotate (tenant: string, id: string, key: GeneratedKey, options: RotateKeyOptions): Promise<
    RotatedKey | KeyRejection | null
  >
  /**
   * Revokes a key, so that lookups from now on return `null`; with `children`, its children too. An already revoked
   * key keeps its date. Returns the number of children that were valid; `null` if the tenant has no such key. A key
   * that was created while this call runs is among the children, or its creation is rejected.
   */
  revoke (tenant: string, id: string, options: { children: boolean }): Promise<{ children: number } | null>
  /**
   * Returns those of these ids that belong to the key, to keys that it replaced, directly or not, or with `children` to
   * its children, valid or not; empty if the tenant has no such key.
   */
  selectFamily (tenant: string, id: string, options: { ids: readonly string[], children: boolean }): Promise<string[]>
}

/** Options of `rotate`. */
export interface RotateKeyOptions {
  /** Seconds for which the old key stays valid, 0 or more. */
  overlapSeconds: number
  maxKeys: number
  answer?: AnswerToStore<RotatedKey> | undefined
}
