import { readField } from '../../shared/fields.js'
import type { PgQueryable } from '../pool.js'
import {
  fromKnex,
  fromKysely,
  isKnex,
  isKysely,
  type KnexTransaction,
  type KyselyTransaction
} from './query-builders.js'
import { expectHandle, expectOpen, hasMethods, isQueryable, keepHandle, sendAsText } from './handle.js'

/** `EntityManager` of MikroORM, from `em.transactional`. */
export interface MikroOrmManager {
  getTransactionContext (): unknown
}

/** Returns whether a value is an `EntityManager` of MikroORM. */
export function isMikroOrm (value: unknown): boolean {
  return hasMethods(value, 'getTransactionContext', 'persist', 'flush')
}

/**
 * Converts an `EntityManager` of MikroORM for the option `transaction`. Throws `invalid_event`. Up to version 6 it
 * holds a transaction of Knex, later one of Kysely.
 */
export function fromMikroOrm (em: MikroOrmManager): PgQueryable {
  const context = isMikroOrm(em) ? em.getTransactionContext() : undefined
  if (isKysely(context)) return keepHandle(em, fromKysely(context as KyselyTransaction))
  expectHandle(isKnex(context), 'fromMikroOrm', 'the entity manager that em.transactional gives to its callback')
  return keepHandle(em, fromKnex(context as KnexTransaction))
}

/** `Prisma.TransactionClient`, from an interactive `prisma.$transaction`. */
export interface PrismaTransaction {
  $queryRawUnsafe (text: string, ...values: unknown[]): PromiseLike<unknown>
}

/** Returns whether a value is a Prisma client or transaction. */
export function isPrisma (value: unknown): boolean {
  return hasMethods(value, '$queryRawUnsafe', '$executeRawUnsafe')
}

/**
 * Converts the client of an interactive Prisma transaction for the option `transaction`. Throws `invalid_event`. Prisma
 * rolls such a transaction back after its `timeout`, 5 seconds by default.
 */
export function fromPrisma (tx: PrismaTransaction): PgQueryable {
  expectHandle(
    isPrisma(tx) && !hasMethods(tx, '$connect'),
    'fromPrisma',
    'the client that prisma.$transaction gives to its callback'
  )
  return keepHandle(tx, {
    async query (text, values = []) {
      const statement = sendAsText(text, values)
      return { rows: await tx.$queryRawUnsafe(statement.text, ...statement.values) as unknown[] }
    }
  })
}

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
  return keepHandle(transaction, {
    async query (text, values) {
      const connection = readField(transaction, 'connection')
      expectOpen(isQueryable(connection) && !hasEnded(transaction), 'Sequelize')
      return connection.query(text, values)
    }
  })
}

// A nested transaction ends with its parent.
function hasEnded (transaction: unknown): boolean {
  const parent = readField(transaction, 'parent')
  return readField(transaction, 'finished') !== undefined || (parent !== undefined && hasEnded(parent))
}

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
  return keepHandle(handle, {
    async query (text, values) {
      // Without a transaction, `connect` would take another connection from the pool.
      expectOpen(runner.isTransactionActive && !runner.isReleased, 'TypeORM')
      const connection = await runner.connect()
      return connection.query(text, values)
    }
  })
}
