import { refuseBareHandle, wrappedHandles } from './known.js'
import { refuseTransaction } from './refuse.js'
import { isQueryable } from './shape.js'
import type { PgQueryable } from '../pool.js'
import { ask } from '../session.js'

interface ResultRow {
  result: string
}

/**
 * Calls a function of ours in the host's own transaction and returns its result as text, which is never empty. Throws
 * `invalid_event` for a handle that is not in a transaction; the function was not called then.
 *
 * PostgreSQL decides: it gives a transaction an id on first use. The statement calls the function only if there was an id
 * before it, and otherwise asks for one. Without a transaction every statement is one by itself, so that there is no id
 * the second time either.
 */
export async function callInTransaction (transaction: unknown, call: string, values: unknown[]): Promise<string> {
  const client = parseTransaction(transaction)
  const text = `select case
    when pg_current_xact_id_if_assigned() is not null then ${call}::text
    else left(pg_current_xact_id()::text, 0)
  end as result`
  return await callOnce(client, text, values) || await callOnce(client, text, values) ||
    refuseTransaction('expected a client within a transaction, got one on which every statement commits by itself')
}

async function callOnce (client: PgQueryable, text: string, values: unknown[]): Promise<string> {
  const [row] = await ask<ResultRow>(client, text, values)
  return String(row?.result)
}

function parseTransaction (transaction: unknown): PgQueryable {
  refuseBareHandle(transaction)
  return isQueryable(transaction) ? transaction : refuseTransaction(`expected a client with a method query(text, values), or ${wrappedHandles}`)
}
