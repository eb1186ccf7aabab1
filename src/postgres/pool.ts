import { readField } from '../shared/fields.js'
import { assertOption } from '../shared/read-options.js'

/** Runs one statement. `pg.Pool`, `pg.Client` and `pg.PoolClient` do. */
export interface PgQueryable {
  /** `$1` and so on in `text` stand for the values. */
  query (text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** A connection checked out of a pool, for example `pg.PoolClient`. */
export interface PgClient extends PgQueryable {
  /** Returns the connection to the pool, or closes it if `destroy` is `true`. */
  release (destroy?: boolean): void
  /** Without it, deliveries recorded by other processes are found by polling. */
  on?: (event: 'error' | 'end' | 'notification', listener: (value?: unknown) => void) => unknown
  /** Removes a listener. */
  removeListener?: (event: 'error' | 'end' | 'notification', listener: (value?: unknown) => void) => unknown
}

/** The methods of a connection pool that this package uses; `pg.Pool` has them. The host ends its pool. */
export interface PgPool extends PgQueryable {
  /** Checks out a connection. */
  connect (): Promise<PgClient>
  /** Without `error` listeners of the pool and its connections, a restart of the server may crash the process. */
  on?: (event: 'error' | 'acquire', listener: (client: PgClient) => void) => unknown
  /** Whether the host has called `end`. */
  readonly ending?: boolean
  /** The options of `pg.Pool`. */
  readonly options?: { max?: unknown, connectionTimeoutMillis?: unknown }
}

/** Methods of the clients of `pg` that no pool has. */
const clientMethods = ['release', 'escapeIdentifier']

/** Throws `invalid_option` unless the value has the methods of a pool. */
export function assertPool (pool: unknown): asserts pool is PgPool {
  const isClient = clientMethods.some((name) => typeof readField(pool, name) === 'function')
  assertOption(
    !isClient,
    'pool',
    'a pool such as new pg.Pool(), not a client, because calls need connections of their own',
    pool
  )
  for (const method of ['query', 'connect']) {
    const isMethod = typeof pool === 'object' && pool !== null && typeof Reflect.get(pool, method) === 'function'
    assertOption(isMethod, 'pool', `a pool with a method ${method}`, pool)
  }
}

/** The settings that our statements need, which the role of the host may change. */
export const neededSettings = [
  // A statement must see what others commit.
  {
    name: 'default_transaction_isolation',
    needed: "= 'read committed'",
    begin: 'begin isolation level read committed'
  },
  { name: 'quote_all_identifiers', needed: "= 'off'", begin: 'set local quote_all_identifiers to off' },
  // With less than 1, numbers in text lose digits.
  { name: 'extra_float_digits', needed: '::integer > 0', begin: 'set local extra_float_digits to 1' }
]

/** Begins our own transaction, with the settings that it needs. */
export const begin = neededSettings.map((setting) => setting.begin).join('; ')

// A pool may serve several storages.
const watched = new WeakSet<PgPool | PgClient>()

/**
 * Keeps broken connections of a pool from crashing the process: Node exits at an `error` that has no listener. Queries
 * on such a connection still reject.
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
  pool: PgPool,
  work: (client: PgClient) => Promise<Result>
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
