/** Runs one statement. `pg.Pool`, `pg.Client` and `pg.PoolClient` do. */
export interface PgQueryable {
  /** `$1` and so on in `text` stand for the values. */
  query (text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/**
 * A connection of its own, such as `pg.PoolClient`. A `query` that is declared with a third parameter, as that of `pg` is,
 * may be given a callback there, and then answer by it in the place of a promise.
 */
export interface PgClient extends PgQueryable {
  /** Gives the connection back; with `true` it is closed instead. */
  release (destroy?: boolean): void
  /** Where there is no such method, nothing is listened for: deliveries recorded elsewhere are found by polling. */
  on?: (event: 'error' | 'end' | 'notification', listener: () => void) => unknown
  /** Takes away what `on` added. */
  removeListener?: (event: 'error' | 'end' | 'notification', listener: () => void) => unknown
}

/** What this package needs of a connection pool: `pg.Pool` has it. The pool stays the host's, which ends it. */
export interface PgPool extends PgQueryable {
  /**
   * Lends a connection, which `release` gives back. Declared with a parameter, it may be given a callback there, and then
   * answer by it in the place of a promise.
   */
  connect (): Promise<PgClient>
  /** A pool whose errors nobody listens for ends the process when the server restarts. */
  on?: (event: 'error', listener: () => void) => unknown
}
