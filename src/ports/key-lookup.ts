/** The owner of a valid API key. */
export interface ApiKey {
  /** Identifies the key in logs and audits; never the key itself. */
  id: string
  /** For example `candidates:read`. Compared exactly. */
  scopes: readonly string[]
}

/**
 * Finds the owner of an API key, synchronously or by a promise.
 *
 * Returns `null` unless the key is known, neither expired nor revoked, and belongs to exactly this tenant. A key of
 * another tenant and a key for an unknown tenant give `null` too. `tenantSlug` has 1 to 100 characters and `key` 1 to
 * 512, without control characters. Compare digests (see `hashApiKey`), or compare in constant time. If the function
 * throws or rejects, the error is logged and the client gets 500.
 */
export type KeyLookup = (credentials: { tenantSlug: string, key: string }) => ApiKey | null | Promise<ApiKey | null>

/** A `KeyLookup` that always returns a promise, like those of this package. */
export type AsyncKeyLookup = (credentials: Parameters<KeyLookup>[0]) => Promise<ApiKey | null>
