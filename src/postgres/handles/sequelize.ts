import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'
import { expectHandle, expectOpen, hasMethods, isQueryable } from './checks.js'

/** `Transaction` of Sequelize. */
export interface SequelizeTransaction {
  commit (): PromiseLike<void>
  rollback (): PromiseLike<void>
  afterCommit (hook: never): unknown
}

/** Returns whether a value is a Sequelize instance or transaction. */
export function isSequelize (value: unknown): boolean {
  return isTransaction(value) || hasMethods(value, 'query', 'define', 'transaction', 'authenticate')
}

function isTransaction (value: unknown): boolean {
  return hasMethods(value, 'commit', 'rollback', 'afterCommit')
}

/**
 * Converts a Sequelize transaction for the option `transaction`. Throws `invalid_event`. Uses the connection of the
 * transaction directly: `sequelize.query` would treat every `$` as a placeholder and log the statement.
 */
export function fromSequelize (transaction: SequelizeTransaction): PgQueryable {
  expectHandle(isTransaction(transaction), 'fromSequelize', 'the transaction that sequelize.transaction gives')
  return {
    async query (text, values) {
      const connection = readField(transaction, 'connection')
      expectOpen(isQueryable(connection) && !hasEnded(transaction), 'Sequelize')
      return connection.query(text, values)
    }
  }
}

// A nested transaction ends with its parent.
function hasEnded (transaction: unknown): boolean {
  const parent = readField(transaction, 'parent')
  return readField(transaction, 'finished') !== undefined || (parent !== undefined && hasEnded(parent))
}
