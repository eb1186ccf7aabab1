import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'
import { expectHandle, expectOpen, hasMethods, isQueryable } from './checks.js'

/** `Transaction` of Sequelize. */
export interface SequelizeTransaction {
  commit (): PromiseLike<void>
  rollback (): PromiseLike<void>
  afterCommit (hook: never): unknown
}

/** Whether a value is a Sequelize instance or one of its transactions. */
export function isSequelize (value: unknown): boolean {
  return isTransaction(value) || hasMethods(value, 'query', 'define', 'transaction', 'authenticate')
}

function isTransaction (value: unknown): boolean {
  return hasMethods(value, 'commit', 'rollback', 'afterCommit')
}

/**
 * Makes a Sequelize transaction what `transaction` takes. Statements go to the connection that the transaction holds:
 * `sequelize.query` would read every `$` as a placeholder, and log the statement. Throws `invalid_event`.
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

/** A nested transaction also ends with the one that it is part of. */
function hasEnded (transaction: unknown): boolean {
  const parent = readField(transaction, 'parent')
  return readField(transaction, 'finished') !== undefined || (parent !== undefined && hasEnded(parent))
}
