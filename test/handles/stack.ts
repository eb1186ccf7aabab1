import type { PgQueryable } from '../../src/storages/postgres/index.js'

/** A library with transactions. */
export interface Stack {
  /** A handle without a transaction. */
  root: unknown
  /** Runs `work` in a transaction, which is rolled back if it rejects. */
  begin (work: (open: OpenTransaction) => Promise<void>): Promise<void>
  end (): Promise<unknown>
}

/** A transaction of the host. */
export interface OpenTransaction {
  /** The library's handle. */
  handle: unknown
  /** The value of the option `transaction`. */
  transaction: PgQueryable
  /** Runs a statement through the library. */
  run (text: string): PromiseLike<unknown>
  /** Runs `work` in a savepoint, which is rolled back if it rejects. Absent if the library has no savepoints. */
  nest?: Stack['begin']
}

/** Imports a package of the version under test. */
export type Load = (name: string) => Promise<unknown>

export type OpenStack = (load: Load, url: string) => Promise<Stack>
