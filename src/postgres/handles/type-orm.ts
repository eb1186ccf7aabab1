import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'
import { expectHandle, expectOpen, hasMethods } from './checks.js'

/** `QueryRunner` of TypeORM. */
export interface TypeOrmQueryRunner {
  readonly isReleased: boolean
  readonly isTransactionActive: boolean
  connect (): PromiseLike<PgQueryable>
  startTransaction (): PromiseLike<void>
}

/** `EntityManager` of TypeORM, from `dataSource.transaction`. */
export interface TypeOrmManager {
  readonly queryRunner?: TypeOrmQueryRunner | undefined
}

/** Returns whether a value is an `EntityManager`, a `DataSource` or a `QueryRunner` of TypeORM. */
export function isTypeOrm (value: unknown): boolean {
  return isQueryRunner(value) || hasMethods(value, 'query', 'getRepository', 'createQueryBuilder')
}

function isQueryRunner (value: unknown): value is TypeOrmQueryRunner {
  return hasMethods(value, 'query', 'connect', 'startTransaction', 'commitTransaction')
}

/**
 * Converts an `EntityManager` or `QueryRunner` of TypeORM for the option `transaction`. Throws `invalid_event`. Uses
 * the connection of the transaction.
 */
export function fromTypeOrm (handle: TypeOrmManager | TypeOrmQueryRunner): PgQueryable {
  const runner = isQueryRunner(handle) ? handle : readField(handle, 'queryRunner')
  expectHandle(isQueryRunner(runner), 'fromTypeOrm',
    'the manager that dataSource.transaction gives to its callback, or a query runner with a transaction')
  return {
    async query (text, values) {
      // Without a transaction, `connect` would take another connection from the pool.
      expectOpen(runner.isTransactionActive && !runner.isReleased, 'TypeORM')
      const connection = await runner.connect()
      return connection.query(text, values)
    }
  }
}
