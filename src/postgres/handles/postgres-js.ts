import type { PgQueryable } from '../pool.js'
import { formatValue } from './as-text.js'
import { expectHandle, hasMethods } from './checks.js'

/** `TransactionSql` of postgres.js, as `sql.begin` gives it. */
export interface PostgresJsTransaction {
  savepoint (work: never): unknown
  typed (value: string | null, type: number): unknown
  unsafe (text: string, values?: never[]): PromiseLike<readonly unknown[]>
}

// The type `unknown`: PostgreSQL infers the type of the parameter.
const inferred = 705

/** Whether a value is a postgres.js instance or one of its transactions. */
export function isPostgresJs (value: unknown): boolean {
  return typeof value === 'function' && hasMethods(value, 'unsafe', 'typed', 'array')
}

/**
 * Makes a postgres.js transaction what `transaction` takes. postgres.js converts values by their types in PostgreSQL, and
 * would encode JSON twice; a value of the type `unknown` goes as it is. Throws `invalid_event`.
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
