import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'
import { expectHandle, expectOpen, hasMethods } from './checks.js'

/** `Knex.Transaction`, from `knex.transaction`. */
export interface KnexTransaction {
  isCompleted (): boolean
  client: { acquireConnection (): PromiseLike<PgQueryable> }
}

/** Returns whether a value is a Knex instance or transaction. */
export function isKnex (value: unknown): boolean {
  return typeof value === 'function' && hasMethods(value, 'raw', 'batchInsert', 'transaction')
}

/**
 * Converts a Knex transaction for the option `transaction`. Throws `invalid_event`. Uses the connection of the
 * transaction directly: `trx.raw` would treat `?` as a placeholder and pass the rows to the host's
 * `postProcessResponse`.
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
