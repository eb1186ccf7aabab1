import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'
import { expectHandle, expectOpen, hasMethods } from './checks.js'

/** `Knex.Transaction`, as `knex.transaction` gives it. */
export interface KnexTransaction {
  isCompleted (): boolean
  client: { acquireConnection (): PromiseLike<PgQueryable> }
}

/** Whether a value is a Knex instance or one of its transactions. */
export function isKnex (value: unknown): boolean {
  return typeof value === 'function' && hasMethods(value, 'raw', 'batchInsert', 'transaction')
}

/**
 * Makes a Knex transaction what `transaction` takes. Statements go to the connection that the transaction holds: `trx.raw`
 * would read `?` as a placeholder, and hand the rows to the host's `postProcessResponse`. Throws `invalid_event`.
 */
export function fromKnex (trx: KnexTransaction): PgQueryable {
  expectHandle(isKnex(trx) && readField(trx, 'isTransaction') === true, 'fromKnex', 'the transaction that knex.transaction gives')
  return {
    async query (text, values) {
      const connection = await trx.client.acquireConnection()
      expectOpen(!trx.isCompleted(), 'Knex')
      return connection.query(text, values)
    }
  }
}
