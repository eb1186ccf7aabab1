import { hashApiKey } from '../keys/api-key.js'
import { type Readers, readOptions } from '../shared/read-options.js'
import type { AsyncKeyLookup } from '../ports/index.js'
import { assertPool, readQueryTimeout, readSchema } from './options.js'
import type { PgPool } from './pool.js'
import { createSession } from './session.js'
import { quoteName } from './sql.js'

/** Options of `postgresKeyLookup`. */
export interface PostgresKeyLookupOptions {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema?: string
  /**
   * Time limit of a query in milliseconds, 100 to 120,000. Slower lookups reject with `storage_timeout`.
   * @default 5000
   */
  queryTimeoutMs?: number
}

const readers: Readers<Required<PostgresKeyLookupOptions>> = { schema: readSchema, queryTimeoutMs: readQueryTimeout }

/** Looks up keys that `issueApiKey` created, by their digests. Throws `invalid_option`. */
export function postgresKeyLookup (pool: PgPool, options: PostgresKeyLookupOptions = {}): AsyncKeyLookup {
  assertPool(pool)
  const { schema, queryTimeoutMs } = readOptions(options, readers)
  const session = createSession(pool, queryTimeoutMs)
  const text = `
    select id, array_to_json(scopes)::text as scopes from ${quoteName(schema)}.api_keys
    where digest = $1 and tenant_slug = $2 and revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp())`

  return async ({ tenantSlug, key }) => {
    const [row] = await session.query<{ id: string, scopes: string }>('look up key', text, [hashApiKey(key), tenantSlug])
    return row === undefined ? null : { id: row.id, scopes: JSON.parse(row.scopes) }
  }
}
