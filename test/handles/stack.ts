import type { PgQueryable } from '../../src/postgres/index.js'

/** A library of which a host has a transaction. */
export interface Stack {
  /** A handle that has no transaction. */
  root: unknown
  /** Runs `work` in a transaction, which is rolled back if it rejects. */
  begin (work: (open: OpenTransaction) => Promise<void>): Promise<void>
  end (): Promise<unknown>
}

/** A transaction of the host. */
export interface OpenTransaction {
  /** The handle of the library. */
  handle: unknown
  /** What the host passes as `transaction`. */
  transaction: PgQueryable
  /** Runs a statement of the host, with the means of the library. */
  run (text: string): PromiseLike<unknown>
  /** Runs `work` in a savepoint, which is rolled back if it rejects; absent where the library has no means for it. */
  nest?: Stack['begin']
}

/** Imports a package of the version under test. */
export type Load = (name: string) => Promise<unknown>

export type OpenStack = (load: Load, url: string) => Promise<Stack>
