/** Runs one statement. `pg.Pool`, `pg.Client` and `pg.PoolClient` do. */
export interface PgQueryable {
  /** `$1` and so on in `text` stand for the values. */
  query (text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** A connection of its own, such as `pg.PoolClient`. */
export interface PgClient extends PgQueryable {
  /** Gives the connection back; with `true` it is closed instead. */
  release (destroy?: boolean): void
  /** Without it deliveries recorded by other processes are found by polling. */
  on?: (event: 'error' | 'end' | 'notification', listener: (value?: unknown) => void) => unknown
  /** Removes a listener. */
  removeListener?: (event: 'error' | 'end' | 'notification', listener: (value?: unknown) => void) => unknown
}

/** What this package needs of a connection pool: `pg.Pool` has it. The pool stays the host's, which ends it. */
export interface PgPool extends PgQueryable {
  /** Lends a connection, which `release` gives back. */
  connect (): Promise<PgClient>
  /** A pool whose errors nobody listens for ends the process when the server restarts. */
  on?: (event: 'error', listener: () => void) => unknown
  /** As `pg.Pool` was made with. */
  readonly options?: { max?: unknown, connectionTimeoutMillis?: unknown }
}
