import type { PgQueryable } from '../pool.js'
import { ask, type Session } from '../session.js'
import { isQueryable, refuseTransaction } from './handle.js'
import { isDrizzle, isKnex, isKysely, isMikroOrm, isPostgresJs, isPrisma, isSequelize, isTypeOrm } from './libraries.js'

/** Calls one of our SQL functions, with `$n` for the values, and returns its result as text, which is never empty. */
export type Call = (call: string, values: unknown[]) => Promise<string>

/** Runs `work` in the host's transaction; in a new one if `transaction` is `undefined`. */
export function runInTransaction<Result> (
  session: Session,
  operation: string,
  transaction: unknown,
  work: (call: Call) => Promise<Result>
): Promise<Result> {
  if (transaction !== undefined) return work((call, values) => callInTransaction(transaction, call, values))
  return session.transaction(operation, (query) => work(async (call, values) => {
    const [row] = await query<{ result: string }>(`select ${call}::text as result`, values)
    return String(row?.result)
  }))
}

// Some of these handles have a `query` that takes other arguments or runs outside the transaction.
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
const wrappers = libraries.map(([, , wrapped]) => wrapped).join(', ')

interface ResultRow {
  result: string
}

/**
 * Calls one of our SQL functions in the host's transaction and returns its result as text, which is never empty. Throws
 * `invalid_event`, without calling the function, for a handle outside a transaction.
 */
export function callInTransaction (transaction: unknown, call: string, values: unknown[]): Promise<string> {
  return askInTransaction(transaction, `select case
    when pg_current_xact_id_if_assigned() is not null then ${call}::text
    when pg_current_xact_id() is not null then ''
  end as result`, values)
}

/**
 * Runs a statement in the host's transaction and returns its `result`. Throws `invalid_event` for a handle outside a
 * transaction.
 *
 * PostgreSQL gives a transaction an id on first use. If the transaction has none, the statement must do nothing but
 * request one, and return an empty text. In autocommit mode every statement runs in a separate transaction, so the
 * second call finds no id either.
 */
export async function askInTransaction (transaction: unknown, text: string, values: unknown[]): Promise<string> {
  const client = parseTransaction(transaction)
  return await askOnce(client, text, values) || await askOnce(client, text, values) ||
    refuseAutocommit()
}

/** Throws `invalid_event` for a client that is in no transaction. */
export function refuseAutocommit (): never {
  refuseTransaction('expected a client inside a transaction, got one in autocommit mode')
}

async function askOnce (client: PgQueryable, text: string, values: unknown[]): Promise<string> {
  const [row] = await ask<ResultRow>(client, text, values)
  return String(row?.result)
}

/** Returns the client of a transaction of the host. Throws `invalid_event` for anything else. */
export function parseTransaction (transaction: unknown): PgQueryable {
  const [library, , wrapped] = libraries.find(([, isHandle]) => isHandle(transaction)) ?? []
  if (library !== undefined) refuseTransaction(`expected ${wrapped}, got the ${library} handle itself`)
  return isQueryable(transaction)
    ? transaction
    : refuseTransaction(`expected a client with a method query(text, values), or one of ${wrappers}`)
}
