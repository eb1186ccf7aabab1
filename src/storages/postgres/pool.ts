import { readField } from '../../core/shared/fields.js'
import { assertOption } from '../../core/shared/read-options.js'

/** Runs one statement. Implemented by `pg.Pool`, `pg.Client` and `pg.PoolClient`. */
export interface PgQueryable {
  /** `values` replace `$1`, `$2` and so on in `text`. */
  query (text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** A connection checked out of a pool, for example `pg.PoolClient`. */
export interface PgClient extends PgQueryable {
  /** Returns the connection to the pool, or closes it if `destroy` is `true`. */
  release (destroy?: boolean): void
  /** If absent, workers find deliveries of other processes by polling. */
  on?: (event: 'error' | 'end' | 'notification', listener: (value?: unknown) => void) => unknown
  /** Removes a listener. */
  removeListener?: (event: 'error' | 'end' | 'notification', listener: (value?: unknown) => void) => unknown
}

/** The methods of a connection pool that this package uses. Implemented by `pg.Pool`. The host ends the pool. */
export interface PgPool extends PgQueryable {
  /** Checks out a connection. */
  connect (): Promise<PgClient>
  /** If absent, no `error` listeners are added, and a restart of PostgreSQL can crash the process. */
  on?: (event: 'error' | 'acquire', listener: (client: PgClient) => void) => unknown
  /** Whether the host has called `end`. */
  readonly ending?: boolean
  /** The options of `pg.Pool`. */
  readonly options?: { max?: unknown, connectionTimeoutMillis?: unknown }
}

const clientMethods = ['release', 'escapeIdentifier']

/** Throws `invalid_option` unless the value has the methods of a pool. */
export function assertPool (pool: unknown): asserts pool is PgPool {
  const hasMethod = (name: string): boolean => typeof readField(pool, name) === 'function'
  assertOption(
    !clientMethods.some(hasMethod), 'pool',
    'a pool such as new pg.Pool(), not a client, because each call needs its own connection', pool
  )
  for (const name of ['query', 'connect']) assertOption(hasMethod(name), 'pool', `a pool with a method ${name}`, pool)
}

/** The settings that our statements need. The host's role may override them. */
export const neededSettings = [
  // Each statement must see the commits of others.
  {
    name: 'default_transaction_isolation',
    needed: "= 'read committed'",
    begin: 'begin isolation level read committed'
  },
  { name: 'quote_all_identifiers', needed: "= 'off'", begin: 'set local quote_all_identifiers to off' },
  // Below 1, numbers formatted as text lose digits.
  { name: 'extra_float_digits', needed: '::integer > 0', begin: 'set local extra_float_digits to 1' }
]

export const begin = neededSettings.map((setting) => setting.begin).join('; ')

/**
 * Returns the statement that overrides the database user's time limits of statements and transactions, which are for
 * short ones. PostgreSQL 17 introduced the latter. Without `isLocal`, it does so until the connection closes.
 */
export function overrideTimeouts (statementMs: number, isLocal = true): string {
  return `select set_config('statement_timeout', '${statementMs}', ${isLocal}),
    case when current_setting('transaction_timeout', true) is not null
      then set_config('transaction_timeout', '0', ${isLocal}) end`
}

// A pool may serve several storages.
const connections = new WeakMap<PgPool, { readonly max: number }>()

/** Returns the size of a pool, always in the same object; 10 is the default of `pg.Pool`. */
export function connectionsOf (pool: PgPool): { readonly max: number } {
  const max = Number(pool.options?.max)
  const known = connections.get(pool) ?? { max: Number.isInteger(max) && max > 0 ? max : 10 }
  connections.set(pool, known)
  return known
}

const watched = new WeakSet<PgPool | PgClient>()

/**
 * Keeps broken connections of a pool from crashing the process: Node.js exits on an `error` event without a listener.
 * Queries on such a connection still reject.
 */
export function watchPool (pool: PgPool): void {
  if (watched.has(pool)) return
  watched.add(pool)
  pool.on?.('error', ignore)
  // A connection may break before the caller of `connect` resumes.
  pool.on?.('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    client.on?.('error', ignore)
  })
}

/** Runs `work` in a transaction. If it rejects, the connection is closed, which rolls back. */
export async function inTransaction<Result> (
  pool: PgPool, work: (client: PgClient) => Promise<Result>
): Promise<Result> {
  watchPool(pool)
  const client = await pool.connect()
  let isDone = false
  try {
    await client.query(begin)
    const result = await work(client)
    await client.query('commit')
    isDone = true
    return result
  } finally {
    client.release(!isDone)
  }
}

function ignore (): void {}
