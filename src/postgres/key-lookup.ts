import { hashApiKey } from '../keys/api-key.js'
import { expectNames } from '../shared/expect.js'
import type { AsyncKeyLookup } from '../ports/index.js'
import { parseSchema, quoteName } from './names.js'
import { defaultQueryTimeoutMs, parseMilliseconds, parsePool } from './parse-options.js'
import type { PgPool } from './pool.js'
import { createSession } from './session.js'

/** Options of `postgresKeyLookup`. */
export interface PostgresKeyLookupOptions {
  /**
   * The schema that `migrate` made.
   * @default 'recruiting'
   */
  schema?: string
  /**
   * How long the database may take to answer, in milliseconds, 100 to 120,000. What takes longer rejects with
   * `storage_timeout`.
   * @default 5000
   */
  queryTimeoutMs?: number
}

const optionNames = { schema: true, queryTimeoutMs: true } satisfies Record<keyof PostgresKeyLookupOptions, true>

/** Looks up the keys of `issueApiKey`, by their digests. Throws `invalid_option`. */
export function postgresKeyLookup (pool: PgPool, options: PostgresKeyLookupOptions = {}): AsyncKeyLookup {
  parsePool(pool)
  expectNames(options, optionNames)
  const session = createSession(pool, parseMilliseconds('queryTimeoutMs', options.queryTimeoutMs ?? defaultQueryTimeoutMs, 100, 120_000))
  const text = `
    select id, array_to_json(scopes)::text as scopes from ${quoteName(parseSchema(options.schema))}.api_keys
    where digest = $1 and tenant_slug = $2 and revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp())`

  return async ({ tenantSlug, key }) => {
    const [row] = await session.query<{ id: string, scopes: string }>('look up key', text, [hashApiKey(key), tenantSlug])
    return row === undefined ? null : { id: row.id, scopes: JSON.parse(row.scopes) }
  }
}
