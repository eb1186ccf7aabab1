import { readField } from '../../shared/fields.js'
import type { PgQueryable } from '../pool.js'
import { expectHandle, expectOpen, formatValue, hasMethods, isQueryable, keepHandle, sendAsText } from './handle.js'

/** A statement as Drizzle accepts it. Its own `sql` tag would expand an array into a list. */
export interface DrizzleStatement {
  getSQL (): { toQuery (config: never): { sql: string, params: unknown[] } }
}

/** `PgTransaction` of Drizzle, with any driver. */
export interface DrizzleTransaction {
  execute (query: string | DrizzleStatement): PromiseLike<unknown>
  rollback (): never
}

/** Returns whether a value is a Drizzle database or transaction. */
export function isDrizzle (value: unknown): boolean {
  return hasMethods(value, 'execute', 'select', 'selectDistinct', 'transaction')
}

/** Converts a Drizzle transaction for the option `transaction`. Throws `invalid_event`. */
export function fromDrizzle (tx: DrizzleTransaction): PgQueryable {
  expectHandle(
    isDrizzle(tx) && hasMethods(tx, 'rollback'),
    'fromDrizzle',
    'the transaction that db.transaction gives to its callback'
  )
  return keepHandle(tx, {
    async query (text, values = []) {
      const statement = sendAsText(text, values)
      const answer = await tx.execute({
        getSQL: () => ({ toQuery: () => ({ sql: statement.text, params: statement.values }) })
      })
      // Some drivers return an array of rows.
      return Array.isArray(answer) ? { rows: answer } : answer as { rows: unknown[] }
    }
  })
}

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
  expectHandle(
    isKnex(trx) && readField(trx, 'isTransaction') === true,
    'fromKnex',
    'the transaction that knex.transaction gives'
  )
  return keepHandle(trx, {
    async query (text, values) {
      const connection = await trx.client.acquireConnection()
      expectOpen(!trx.isCompleted(), 'Knex')
      return connection.query(text, values)
    }
  })
}

/** A compiled statement of Kysely. */
export interface KyselyQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly query: {
    readonly kind: 'RawNode'
    readonly sqlFragments: readonly string[]
    readonly parameters: readonly []
  }
  readonly queryId: { readonly queryId: string }
}

/** `Transaction` or `ControlledTransaction` of Kysely. */
export interface KyselyTransaction {
  readonly isTransaction: true
  withoutPlugins (): { executeQuery (query: KyselyQuery): PromiseLike<{ rows: unknown[] }> }
}

/** Returns whether a value is a Kysely instance or transaction. */
export function isKysely (value: unknown): boolean {
  return hasMethods(value, 'executeQuery', 'selectFrom', 'withoutPlugins')
}

/**
 * Converts a Kysely transaction for the option `transaction`. Throws `invalid_event`. Runs without plugins, because
 * `CamelCasePlugin` would rename our columns.
 */
export function fromKysely (trx: KyselyTransaction): PgQueryable {
  expectHandle(
    isKysely(trx) && readField(trx, 'isTransaction') === true,
    'fromKysely',
    'the transaction that db.transaction().execute gives'
  )
  return keepHandle(trx, {
    async query (text, values = []) {
      // `withoutPlugins` returns a transaction that does not check whether it has ended.
      expectOpen(readField(trx, 'isCommitted') !== true && readField(trx, 'isRolledBack') !== true, 'Kysely')
      const statement = sendAsText(text, values)
      return await trx.withoutPlugins().executeQuery({
        sql: statement.text,
        parameters: statement.values,
        query: { kind: 'RawNode', sqlFragments: [statement.text], parameters: [] },
        queryId: { queryId: 'fastify-recruiting-api' }
      })
    }
  })
}

/** `TransactionSql` of postgres.js, from `sql.begin`. */
export interface PostgresJsTransaction {
  savepoint (work: never): unknown
  typed (value: string | null, type: number): unknown
  unsafe (text: string, values?: never[]): PromiseLike<readonly unknown[]>
}

// The type `unknown`, with which PostgreSQL infers the type of the parameter.
const inferred = 705

/** Returns whether a value is a postgres.js instance or transaction. */
export function isPostgresJs (value: unknown): boolean {
  return typeof value === 'function' && hasMethods(value, 'unsafe', 'typed', 'array')
}

/**
 * Converts a postgres.js transaction for the option `transaction`. Throws `invalid_event`. postgres.js converts values
 * by their PostgreSQL type and would encode JSON twice; values of the type `unknown` are sent unchanged.
 */
export function fromPostgresJs (sql: PostgresJsTransaction): PgQueryable {
  expectHandle(
    isPostgresJs(sql) && hasMethods(sql, 'savepoint'),
    'fromPostgresJs',
    'the sql that sql.begin gives to its callback'
  )
  return keepHandle(sql, {
    async query (text, values = []) {
      const parameters = values.map((value) => sql.typed(formatValue(value), inferred))
      return { rows: [...await sql.unsafe(text, parameters as never[])] }
    }
  })
}

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
