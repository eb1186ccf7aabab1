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
  /** Without an `error` listener, a restart of the server crashes the process. */
  on?: (event: 'error', listener: () => void) => unknown
  /** Whether the host has called `end`. */
  readonly ending?: boolean
  /** The options of `pg.Pool`. */
  readonly options?: { max?: unknown, connectionTimeoutMillis?: unknown }
}
