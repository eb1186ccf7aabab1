import { RecruitingApiError } from '../../core/shared/errors.js'
import { kHandle, readField } from '../../core/shared/fields.js'
import type { PgQueryable } from './pool.js'
import { ask, type RunQuery, type Session } from './session.js'

/** Evaluates an SQL expression with parameters `$n` and returns its result as text, which is never empty. */
export type Call = (call: string, values: unknown[]) => Promise<string>

/**
 * Runs `work` in the host's transaction, or in a new one if `transaction` is `undefined`. Rejects with `invalid_event`,
 * without evaluating anything, for a handle outside a transaction.
 */
export function runInTransaction<Result> (
  session: Session, operation: string, transaction: unknown, work: (call: Call) => Promise<Result>
): Promise<Result> {
  if (transaction === undefined) return session.transaction(operation, (query) => work(callIn(query)))
  return work((call, values) => askInTransaction(transaction, `select case
    when pg_current_xact_id_if_assigned() is not null then ${call}::text
    when pg_current_xact_id() is not null then ''
  end as result`, values))
}

export function callIn (query: RunQuery): Call {
  return async (call, values) => {
    const [row] = await query<{ result: string }>(`select ${call}::text as result`, values)
    return String(row?.result)
  }
}

/**
 * Runs a statement in the host's transaction and returns its `result`. Throws `invalid_event` for a handle outside a
 * transaction.
 *
 * PostgreSQL assigns a transaction's id on first use. If there is none yet, the statement must only request one and
 * return an empty text. In autocommit mode every statement runs in a separate transaction, so the second call finds no
 * id either.
 */
export async function askInTransaction (transaction: unknown, text: string, values: unknown[]): Promise<string> {
  const client = parseTransaction(transaction)
  const askOnce = async (): Promise<string> => {
    const [row] = await ask<{ result: string }>(client, text, values)
    return String(row?.result)
  }
  return await askOnce() || await askOnce() || rejectAutocommit()
}

/** Returns the client of the host's transaction. Throws `invalid_event` for anything else. */
export function parseTransaction (transaction: unknown): PgQueryable {
  const [library, , wrapped] = libraries.find(([, isHandle]) => isHandle(transaction)) ?? []
  if (library !== undefined) rejectTransaction(`expected ${wrapped}, got the ${library} handle itself`)
  if (isQueryable(transaction)) return transaction
  const wrappers = libraries.map(([, , wrapped]) => wrapped).join(', ')
  return rejectTransaction(`expected a client with a method query(text, values), or one of ${wrappers}`)
}

/** Throws `invalid_event` for a client outside a transaction. */
export function rejectAutocommit (): never {
  rejectTransaction('expected a client inside a transaction, got one in autocommit mode')
}

function rejectTransaction (problem: string): never {
  throw new RecruitingApiError('invalid_event', `transaction: ${problem}`, 'transaction')
}

/** Throws `invalid_event` for a finished transaction, because its connection may be in use by another caller. */
function expectOpen (isOpen: boolean, library: string): asserts isOpen {
  if (!isOpen) rejectTransaction(`this ${library} transaction has ended, or has not begun`)
}

function hasMethods (value: unknown, ...names: string[]): boolean {
  return names.every((name) => typeof readField(value, name) === 'function')
}

const isQueryable = (value: unknown): value is PgQueryable => hasMethods(value, 'query')

// Each recognizes a library's handles, inside and outside a transaction. Some handles have a `query` that takes other
// arguments or runs outside the transaction.
const isPrisma = (value: unknown): boolean => hasMethods(value, '$queryRawUnsafe', '$executeRawUnsafe')
const isDrizzle = (value: unknown): boolean => hasMethods(value, 'execute', 'select', 'selectDistinct', 'transaction')
const isKysely = (value: unknown): boolean => hasMethods(value, 'executeQuery', 'selectFrom', 'withoutPlugins')
const isKnex = (value: unknown): boolean =>
  typeof value === 'function' && hasMethods(value, 'raw', 'batchInsert', 'transaction')
const isQueryRunner = (value: unknown): value is TypeOrmQueryRunner =>
  hasMethods(value, 'query', 'connect', 'startTransaction', 'commitTransaction')
const isTypeOrm = (value: unknown): boolean =>
  isQueryRunner(value) || hasMethods(value, 'query', 'getRepository', 'createQueryBuilder')
const isSequelizeTransaction = (value: unknown): boolean => hasMethods(value, 'commit', 'rollback', 'afterCommit')
const isSequelize = (value: unknown): boolean =>
  isSequelizeTransaction(value) || hasMethods(value, 'query', 'define', 'transaction', 'authenticate')
const isMikroOrm = (value: unknown): boolean => hasMethods(value, 'getTransactionContext', 'persist', 'flush')
const isPostgresJs = (value: unknown): boolean =>
  typeof value === 'function' && hasMethods(value, 'unsafe', 'typed', 'array')

// The functions below throw `invalid_event` for `undefined` and `null`. Calls reject anything else that is not the
// library's transaction with `invalid_event`, except those of a recorder.

const libraries: ReadonlyArray<[library: string, isHandle: (value: unknown) => boolean, wrapped: string]> = [
  ['Prisma', isPrisma, 'fromPrisma(tx)'],
  ['Drizzle', isDrizzle, 'fromDrizzle(tx)'],
  ['Kysely', isKysely, 'fromKysely(trx)'],
  ['Knex', isKnex, 'fromKnex(trx)'],
  ['TypeORM', isTypeOrm, 'fromTypeOrm(manager)'],
  ['Sequelize', isSequelize, 'fromSequelize(transaction)'],
  ['MikroORM', isMikroOrm, 'fromMikroOrm(em)'],
  ['postgres.js', isPostgresJs, 'fromPostgresJs(sql)']
]

/**
 * Returns a client with a library's handle, by which a recorder recognizes the transaction: it accepts anything, such
 * as a mock. Other storages reject with `invalid_event` unless the argument is the handle that the function expects.
 */
function convert (handle: object, isExpected: boolean, expected: string, query: PgQueryable['query']): PgQueryable {
  if (handle === undefined || handle === null) rejectTransaction(expected)
  return Object.assign({ query: isExpected ? query : async () => rejectTransaction(expected) }, { [kHandle]: handle })
}

/** A Drizzle statement. Drizzle's `sql` tag would expand an array into a list. */
export interface DrizzleStatement {
  getSQL (): { toQuery (config: never): { sql: string, params: unknown[] } }
}

/** Drizzle's `PgTransaction`, with any driver. */
export interface DrizzleTransaction {
  execute (query: string | DrizzleStatement): PromiseLike<unknown>
  rollback (): never
}

/** Converts a Drizzle transaction for the option `transaction`. */
export function fromDrizzle (tx: DrizzleTransaction): PgQueryable {
  const expected = 'fromDrizzle expects the transaction that db.transaction passes to its callback'
  return convert(tx, isDrizzle(tx) && hasMethods(tx, 'rollback'), expected, async (text, values = []) => {
    const statement = sendAsText(text, values)
    const answer = await tx.execute({
      getSQL: () => ({ toQuery: () => ({ sql: statement.text, params: statement.values }) })
    })
    // Some drivers return an array of rows.
    return Array.isArray(answer) ? { rows: answer } : answer as { rows: unknown[] }
  })
}

/** `Knex.Transaction`, from `knex.transaction`. */
export interface KnexTransaction {
  isCompleted (): boolean
  client: { acquireConnection (): PromiseLike<PgQueryable> }
}

/**
 * Converts a Knex transaction for the option `transaction`. Uses the transaction's connection directly: `trx.raw` would
 * treat `?` as a placeholder and pass the rows to the host's `postProcessResponse`.
 */
export function fromKnex (trx: KnexTransaction): PgQueryable {
  const isTransaction = isKnex(trx) && readField(trx, 'isTransaction') === true
  return convert(trx, isTransaction, 'fromKnex expects a transaction from knex.transaction', async (text, values) => {
    const connection = await trx.client.acquireConnection()
    expectOpen(!trx.isCompleted(), 'Knex')
    return connection.query(text, values)
  })
}

/** A compiled Kysely statement. */
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

/** Kysely's `Transaction` or `ControlledTransaction`. */
export interface KyselyTransaction {
  readonly isTransaction: true
  withoutPlugins (): { executeQuery (query: KyselyQuery): PromiseLike<{ rows: unknown[] }> }
}

/**
 * Converts a Kysely transaction for the option `transaction`. Runs without plugins, because `CamelCasePlugin` would
 * rename our columns.
 */
export function fromKysely (trx: KyselyTransaction): PgQueryable {
  const isTransaction = isKysely(trx) && readField(trx, 'isTransaction') === true
  const expected = 'fromKysely expects the transaction that db.transaction().execute passes to its callback'
  return convert(trx, isTransaction, expected, async (text, values = []) => {
    // The result of `withoutPlugins` does not check whether the transaction has ended.
    expectOpen(readField(trx, 'isCommitted') !== true && readField(trx, 'isRolledBack') !== true, 'Kysely')
    const statement = sendAsText(text, values)
    return await trx.withoutPlugins().executeQuery({
      sql: statement.text,
      parameters: statement.values,
      query: { kind: 'RawNode', sqlFragments: [statement.text], parameters: [] },
      queryId: { queryId: 'fastify-recruiting-api' }
    })
  })
}

/** postgres.js's `TransactionSql`, from `sql.begin`. */
export interface PostgresJsTransaction {
  savepoint (work: never): unknown
  typed (value: string | null, type: number): unknown
  unsafe (text: string, values?: unknown[]): PromiseLike<readonly unknown[]>
}

// The type `unknown`, for which PostgreSQL infers the parameter's type.
const inferred = 705

/**
 * Converts a postgres.js transaction for the option `transaction`. postgres.js converts values by their PostgreSQL type
 * and would encode JSON twice; values of the type `unknown` are sent unchanged.
 */
export function fromPostgresJs (sql: PostgresJsTransaction): PgQueryable {
  const expected = 'fromPostgresJs expects the sql that sql.begin passes to its callback'
  return convert(sql, isPostgresJs(sql) && hasMethods(sql, 'savepoint'), expected, async (text, values = []) => {
    const parameters = values.map((value) => sql.typed(formatValue(value), inferred))
    return { rows: [...await sql.unsafe(text, parameters)] }
  })
}

/** MikroORM's `EntityManager`, from `em.transactional`. */
export interface MikroOrmManager {
  getTransactionContext (): unknown
}

/**
 * Converts a MikroORM `EntityManager` for the option `transaction`. Up to version 6 it wraps a Knex transaction, later
 * a Kysely transaction.
 */
export function fromMikroOrm (em: MikroOrmManager): PgQueryable {
  const context = isMikroOrm(em) ? em.getTransactionContext() : undefined
  const expected = 'fromMikroOrm expects the entity manager that em.transactional passes to its callback'
  if (isKysely(context)) return convert(em, true, expected, fromKysely(context as KyselyTransaction).query)
  return convert(em, isKnex(context), expected, (text, values) =>
    fromKnex(context as KnexTransaction).query(text, values))
}

/** `Prisma.TransactionClient`, from an interactive `prisma.$transaction`. */
export interface PrismaTransaction {
  $queryRawUnsafe (text: string, ...values: unknown[]): PromiseLike<unknown>
}

/**
 * Converts the client of an interactive Prisma transaction for the option `transaction`. Prisma rolls such a
 * transaction back after its `timeout`, 5 seconds by default.
 */
export function fromPrisma (tx: PrismaTransaction): PgQueryable {
  const expected = 'fromPrisma expects the client that prisma.$transaction passes to its callback'
  return convert(tx, isPrisma(tx) && !hasMethods(tx, '$connect'), expected, async (text, values = []) => {
    const statement = sendAsText(text, values)
    return { rows: await tx.$queryRawUnsafe(statement.text, ...statement.values) as unknown[] }
  })
}

/** Sequelize's `Transaction`. */
export interface SequelizeTransaction {
  commit (): PromiseLike<void>
  rollback (): PromiseLike<void>
  afterCommit (hook: never): unknown
}

/**
 * Converts a Sequelize transaction for the option `transaction`. Uses the transaction's connection directly:
 * `sequelize.query` would treat every `$` as a placeholder and log the statement.
 */
export function fromSequelize (transaction: SequelizeTransaction): PgQueryable {
  const expected = 'fromSequelize expects a transaction from sequelize.transaction'
  return convert(transaction, isSequelizeTransaction(transaction), expected, async (text, values) => {
    const connection = readField(transaction, 'connection')
    expectOpen(isQueryable(connection) && !hasEnded(transaction), 'Sequelize')
    return connection.query(text, values)
  })
}

// A nested transaction ends with its parent.
function hasEnded (transaction: unknown): boolean {
  const parent = readField(transaction, 'parent')
  return readField(transaction, 'finished') !== undefined || (parent !== undefined && hasEnded(parent))
}

/** TypeORM's `QueryRunner`. */
export interface TypeOrmQueryRunner {
  readonly isReleased: boolean
  readonly isTransactionActive: boolean
  connect (): PromiseLike<PgQueryable>
  startTransaction (): PromiseLike<void>
}

/** TypeORM's `EntityManager`, from `dataSource.transaction`. */
export interface TypeOrmManager {
  readonly queryRunner?: TypeOrmQueryRunner | undefined
}

/** Converts a TypeORM `EntityManager` or `QueryRunner` for the option `transaction`. Uses its connection. */
export function fromTypeOrm (handle: TypeOrmManager | TypeOrmQueryRunner): PgQueryable {
  const runner = isQueryRunner(handle) ? handle : readField(handle, 'queryRunner')
  const expected = 'fromTypeOrm expects the manager that dataSource.transaction passes to its callback, or a query ' +
    'runner with a transaction'
  return convert(handle, isQueryRunner(runner), expected, async (text, values) => {
    // Without a transaction, `connect` would take another connection from the pool.
    expectOpen(isQueryRunner(runner) && runner.isTransactionActive && !runner.isReleased, 'TypeORM')
    const connection = await runner.connect()
    return connection.query(text, values)
  })
}

// Matches quoted text, names and comments, where `$1` is not a parameter, and parameters with an optional cast.
const tokens = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$(\d+)(::)?/gs

/**
 * Sends parameters with a cast as text: `$1::jsonb` becomes `$1::text::jsonb`. Otherwise some libraries type a
 * parameter by its JavaScript value, and some drivers convert it by its PostgreSQL type: text would become a JSON
 * string or `bytea`.
 */
export function sendAsText (text: string, values: readonly unknown[]): { text: string, values: unknown[] } {
  const bare = new Set<string>()
  for (const [, position, cast] of text.matchAll(tokens)) {
    if (position !== undefined && cast === undefined) bare.add(position)
  }
  const isText = (position: string): boolean => !bare.has(position)
  return {
    text: text.replace(tokens, (token, position?: string, cast?: string) =>
      position !== undefined && cast !== undefined && isText(position) ? `$${position}::text::` : token),
    values: values.map((value, index) => isText(String(index + 1)) ? formatValue(value) : value)
  }
}

/** Formats a value as PostgreSQL text input. */
export function formatValue (value: unknown): string | null {
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? `{${value.map(formatItem).join(',')}}` : String(value)
}

function formatItem (item: unknown): string {
  if (Array.isArray(item)) return String(formatValue(item))
  if (item === null || item === undefined) return 'null'
  return `"${String(item).replace(/["\\]/g, '\\$&')}"`
}
