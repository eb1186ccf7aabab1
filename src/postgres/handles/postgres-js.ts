import type { PgQueryable } from '../pool.js'
import { formatValue } from './as-text.js'
import { expectHandle, hasMethods } from './checks.js'

/** `TransactionSql` of postgres.js, from `sql.begin`. */
export interface PostgresJsTransaction {
  savepoint (work: never): unknown
  typed (value: string | null, type: number): unknown
  unsafe (text: string, values?: never[]): PromiseLike<readonly unknown[]>
}

// The type `unknown`, with which PostgreSQL infers the type of the parameter.
const inferred = 705

/** Returns whether a value is a postgres.js instance or transaction. */
export function isPostgresJs (value: unknown): boolean {
  return typeof value === 'function' && hasMethods(value, 'unsafe', 'typed', 'array')
}

/**
 * Converts a postgres.js transaction for the option `transaction`. Throws `invalid_event`. postgres.js converts values
 * by their PostgreSQL type and would encode JSON twice; values of the type `unknown` are sent unchanged.
 */
export function fromPostgresJs (sql: PostgresJsTransaction): PgQueryable {
  expectHandle(isPostgresJs(sql) && hasMethods(sql, 'savepoint'), 'fromPostgresJs', 'the sql that sql.begin gives to its callback')
  return {
    async query (text, values = []) {
      const parameters = values.map((value) => sql.typed(formatValue(value), inferred))
      return { rows: [...await sql.unsafe(text, parameters as never[])] }
    }
  }
}
