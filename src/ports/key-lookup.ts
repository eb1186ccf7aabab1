/** The owner of a valid API key. */
export interface ApiKey {
  /** Names the key in logs and audits; never the key itself. */
  id: string
  /** Compared exactly, such as `candidates:read`. */
  scopes: readonly string[]
}

/**
 * Finds the owner of an API key, at once or by a promise.
 *
 * Resolves to `null` unless the key is known, neither expired nor revoked, and belongs to exactly this tenant: a key of
 * another tenant and a key of a tenant that does not exist are `null` too. `tenantSlug` is 1 to 100 characters and `key`
 * 1 to 512, neither with control characters. Compare digests, or in constant time: `hashApiKey` helps. A throw or a
 * rejection is answered with 500 and logged.
 */
export type KeyLookup = (credentials: { tenantSlug: string, key: string }) => ApiKey | null | Promise<ApiKey | null>

/** A `KeyLookup` that always returns a promise, as those of this package do. */
export type AsyncKeyLookup = (credentials: Parameters<KeyLookup>[0]) => Promise<ApiKey | null>
