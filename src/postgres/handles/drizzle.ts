import type { PgQueryable } from '../pool.js'
import { sendAsText } from './as-text.js'
import { expectHandle, hasMethods } from './checks.js'

/** A statement as Drizzle accepts it. Its own `sql` tag would expand an array into a list. */
export interface DrizzleStatement {
  getSQL (): { toQuery (config: never): { sql: string, params: unknown[] } }
}

/** `PgTransaction` of Drizzle, with any driver. */
export interface DrizzleTransaction {
  execute (query: string | DrizzleStatement): PromiseLike<unknown>
  rollback (): never
}

/** Returns whether a value is a Drizzle database or transaction. */
export function isDrizzle (value: unknown): boolean {
  return hasMethods(value, 'execute', 'select', 'selectDistinct', 'transaction')
}

/** Converts a Drizzle transaction for the option `transaction`. Throws `invalid_event`. */
export function fromDrizzle (tx: DrizzleTransaction): PgQueryable {
  expectHandle(isDrizzle(tx) && hasMethods(tx, 'rollback'), 'fromDrizzle', 'the transaction that db.transaction gives to its callback')
  return {
    async query (text, values = []) {
      const statement = sendAsText(text, values)
      const answer = await tx.execute({
        getSQL: () => ({ toQuery: () => ({ sql: statement.text, params: statement.values }) })
      })
      // Some drivers return an array of rows.
      return Array.isArray(answer) ? { rows: answer } : answer as { rows: unknown[] }
    }
  }
}
