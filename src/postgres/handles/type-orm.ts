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

/** `EntityManager` of TypeORM, as `dataSource.transaction` gives it. */
export interface TypeOrmManager {
  readonly queryRunner?: TypeOrmQueryRunner | undefined
}

/** Whether a value is an `EntityManager`, a `DataSource` or a `QueryRunner` of TypeORM. */
export function isTypeOrm (value: unknown): boolean {
  return isQueryRunner(value) || hasMethods(value, 'query', 'getRepository', 'createQueryBuilder')
}

function isQueryRunner (value: unknown): value is TypeOrmQueryRunner {
  return hasMethods(value, 'query', 'connect', 'startTransaction', 'commitTransaction')
}

/**
 * Makes an `EntityManager` or a `QueryRunner` of TypeORM what `transaction` takes. Statements go to the connection that the
 * transaction holds. Throws `invalid_event`.
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
