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
export interface KeyLookup extends KeyUses {
  (credentials: KeyCredentials): ApiKey | null | Promise<ApiKey | null>
}

/** A `KeyLookup` that always returns a promise, like those of this package. */
export interface AsyncKeyLookup extends KeyUses {
  (credentials: KeyCredentials): Promise<ApiKey | null>
}

/** The credentials of a request. */
export interface KeyCredentials {
  /** From the path. */
  tenantSlug: string
  /** The id of the tenant; without the option `tenantId` it is the slug. */
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
