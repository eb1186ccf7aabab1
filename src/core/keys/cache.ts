import { hashApiKey } from './api-key.js'
import { assertOption, type OptionsOf, integer, readOptions } from '../shared/read-options.js'
import type { ApiKey, AsyncKeyLookup, KeyCredentials, KeyLookup } from '../ports/index.js'
import { readClock, withinTime } from '../shared/clock.js'
import { omitUndefined } from '../shared/fields.js'
import { LruMap } from '../shared/cached.js'

/** The doc, type, default and check of each option. */
const cacheOptions = {
  /**
   * How long a result is cached, in milliseconds from the start of the lookup, 0 to 3,600,000. Creating or revoking a
   * key takes effect within this time. 0 disables the cache.
   * @default 10000
   */
  ttlMs: integer(0, 3_600_000, 10_000),
  /**
   * Maximum number of valid keys in the cache, 1 to 10,000,000. The least recently used key is dropped first.
   * @default 10000
   */
  max: integer(1, 10_000_000, 10_000),
  /**
   * Maximum number of invalid keys in the cache, 1 to 10,000,000. They never displace valid ones.
   * @default 1000
   */
  maxInvalid: integer(1, 10_000_000, 1000),
  /**
   * Timeout of a lookup in milliseconds, 1 to 120,000. When it expires, the request gets 503.
   * @default 5000
   */
  timeoutMs: integer(1, 120_000, 5000),
  /**
   * The clock, for tests.
   * @default the system clock
   */
  clock: readClock
}

/** Options of `cacheKeyLookup`. */
export interface CacheKeyLookupOptions extends OptionsOf<typeof cacheOptions> {}

interface CachedKey {
  key: ApiKey | null
  expiresAtMs: number
  /** When a use was last recorded. */
  recordedAtMs: number
}

const recordEveryMs = 1000

/**
 * Adds a short cache and a timeout to a key lookup. Concurrent requests with the same key share one lookup. Failures
 * are not cached, and keys are stored only as digests. Throws `invalid_option`.
 */
export function cacheKeyLookup (lookup: KeyLookup, options: CacheKeyLookupOptions = {}): AsyncKeyLookup {
  assertOption(typeof lookup === 'function', 'lookup', 'a function', lookup)
  const { ttlMs, max, maxInvalid, timeoutMs, clock } = readOptions(options, cacheOptions)
  const valid = new LruMap<CachedKey>(max)
  const invalid = new LruMap<CachedKey>(maxInvalid)
  const pending = new Map<string, Promise<ApiKey | null>>()

  async function lookUp (name: string, credentials: KeyCredentials): Promise<ApiKey | null> {
    // From the start of the lookup: the key may be revoked before the lookup returns.
    const recordedAtMs = clock.monotonic()
    const expiresAtMs = recordedAtMs + ttlMs
    const key = await withinTime(lookup(credentials), timeoutMs, clock, 'the key lookup') ?? null
    valid.delete(name)
    invalid.delete(name)
    const cache = key === null ? invalid : valid
    cache.set(name, { key, expiresAtMs, recordedAtMs })
    return key
  }

  function lookUpOnce (name: string, credentials: KeyCredentials): Promise<ApiKey | null> {
    const known = pending.get(name)
    if (known !== undefined) return known
    const looking = lookUp(name, credentials)
    const end = (): void => { pending.delete(name) }
    pending.set(name, looking)
    looking.then(end, end)
    return looking
  }

  function recordUse (cached: CachedKey, { id }: ApiKey, now: number): void {
    if (now - cached.recordedAtMs < recordEveryMs) return
    cached.recordedAtMs = now
    lookup.recordUse?.(id)
  }

  const { store } = lookup
  return Object.assign(find, store === undefined ? {} : { store })

  async function find (credentials: KeyCredentials): Promise<ApiKey | null> {
    const name = `${hashApiKey(credentials.key)}/${credentials.tenantId}`
    const cached = valid.get(name) ?? invalid.get(name)
    const now = clock.monotonic()
    const isFresh = cached !== undefined && now < cached.expiresAtMs
    const key = isFresh ? cached.key : await lookUpOnce(name, credentials)
    if (isFresh && key !== null) recordUse(cached, key, now)
    return key && copyKey(key)
  }
}

/** Copies the lists, because callers may change them. */
function copyKey (key: ApiKey): ApiKey {
  const { scopes, allowedIps, candidateFields, jobFields } = key
  const limits = {
    allowedIps: allowedIps?.slice(),
    candidateFields: candidateFields?.slice(),
    jobFields: jobFields?.slice()
  }
  return { ...key, scopes: scopes.slice(), ...omitUndefined(limits) }
}
