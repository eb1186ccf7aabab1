import type { PgQueryable } from '../pool.js'
import { sendAsText } from './as-text.js'
import { expectHandle, hasMethods } from './checks.js'

/** What Drizzle asks of a statement that is not built with its `sql` tag, which would take an array for a list. */
export interface DrizzleStatement {
  getSQL (): { toQuery (config: never): { sql: string, params: unknown[] } }
}

/** `PgTransaction` of Drizzle, with any driver. */
export interface DrizzleTransaction {
  execute (query: string | DrizzleStatement): PromiseLike<unknown>
  rollback (): never
}

/** Whether a value is a Drizzle database or one of its transactions. */
export function isDrizzle (value: unknown): boolean {
  return hasMethods(value, 'execute', 'select', 'selectDistinct', 'transaction')
}

/** Makes a Drizzle transaction what `transaction` takes. Throws `invalid_event`. */
export function fromDrizzle (tx: DrizzleTransaction): PgQueryable {
  expectHandle(isDrizzle(tx) && hasMethods(tx, 'rollback'), 'fromDrizzle', 'the transaction that db.transaction gives to its callback')
  return {
    async query (text, values = []) {
      const statement = sendAsText(text, values)
      const answer = await tx.execute({
        getSQL: () => ({ toQuery: () => ({ sql: statement.text, params: statement.values }) })
      })
      // Some drivers return the rows themselves.
      return Array.isArray(answer) ? { rows: answer } : answer as { rows: unknown[] }
    }
  }
}
