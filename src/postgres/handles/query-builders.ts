import { readField } from '../../shared/fields.js'
import type { PgQueryable } from '../pool.js'
import { expectHandle, expectOpen, formatValue, hasMethods, keepHandle, sendAsText } from './handle.js'

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
