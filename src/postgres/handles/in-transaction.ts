import type { Session } from '../session.js'
import { callInTransaction } from './transaction.js'

/** Calls one of our SQL functions, with `$n` for the values, and returns its result as text, which is never empty. */
export type Call = (call: string, values: unknown[]) => Promise<string>

/** Runs `work` in the host's transaction; in one of its own if `transaction` is `undefined`. */
export function runInTransaction<Result> (
  session: Session,
  operation: string,
  transaction: unknown,
  work: (call: Call) => Promise<Result>
): Promise<Result> {
  if (transaction !== undefined) return work((call, values) => callInTransaction(transaction, call, values))
  return session.transaction(operation, (query) => work(async (call, values) => {
    const [row] = await query<{ result: string }>(`select ${call}::text as result`, values)
    return String(row?.result)
  }))
}
