import { RecruitingApiError } from '../../errors.js'
import { readField } from '../../shared/fields.js'
import { kHandle } from '../../shared/handle.js'
import type { PgQueryable } from '../pool.js'
import { ask, type Session } from '../session.js'
import { isDrizzle, isKnex, isKysely, isPostgresJs } from './query-builders.js'
import { isMikroOrm, isPrisma, isSequelize, isTypeOrm } from './orms.js'

/** Throws `invalid_event` for the argument `transaction`. */
function refuseTransaction (problem: string): never {
  throw new RecruitingApiError('invalid_event', `transaction: ${problem}`, 'transaction')
}

/** Throws `invalid_event` unless the argument is the handle that a function expects. */
export function expectHandle (condition: boolean, name: string, expected: string): asserts condition {
  if (!condition) refuseTransaction(`${name} expects ${expected}`)
}

/** Throws `invalid_event` if a transaction has ended, because its connection may be in use by another caller. */
export function expectOpen (isOpen: boolean, library: string): asserts isOpen {
  if (!isOpen) refuseTransaction(`this ${library} transaction has ended, or has not begun`)
}

/** Returns whether a value has all of these methods. */
export function hasMethods (value: unknown, ...names: string[]): boolean {
  return names.every((name) => typeof readField(value, name) === 'function')
}

/** Returns whether a value has a method `query`, like a client of `pg`. */
export function isQueryable (value: unknown): value is PgQueryable {
  return hasMethods(value, 'query')
}

/** Adds the handle of the library to the client that it was converted to, so that a recorder knows the transaction by it. */
export function keepHandle (handle: object, client: PgQueryable): PgQueryable {
  return Object.assign(client, { [kHandle]: handle })
}

/** A statement and its values. */
interface Statement {
  text: string
  values: unknown[]
}

// Matches quoted text, names and comments, where `$1` is not a parameter, and parameters with an optional cast.
const tokens = /'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$(\d+)(::)?/gs

/**
 * Sends parameters with a cast as text: `$1::jsonb` becomes `$1::text::jsonb`. Otherwise some libraries type a
 * parameter by its JavaScript value, and some drivers convert it by its PostgreSQL type: text would become a JSON
 * string or `bytea`.
 */
export function sendAsText (text: string, values: readonly unknown[]): Statement {
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
 * Runs a statement in the host's transaction and returns its `result`. Throws `invalid_event` for a handle outside a transaction.
 *
 * PostgreSQL gives a transaction an id on first use. If the transaction has none, the statement must do nothing but request
 * one, and return an empty text. In autocommit mode every statement runs in a separate transaction, so the second call finds no
 * id either.
 */
export async function askInTransaction (transaction: unknown, text: string, values: unknown[]): Promise<string> {
  const client = parseTransaction(transaction)
  return await askOnce(client, text, values) || await askOnce(client, text, values) ||
    refuseTransaction('expected a client inside a transaction, got one in autocommit mode')
}

async function askOnce (client: PgQueryable, text: string, values: unknown[]): Promise<string> {
  const [row] = await ask<ResultRow>(client, text, values)
  return String(row?.result)
}

function parseTransaction (transaction: unknown): PgQueryable {
  const [library, , wrapped] = libraries.find(([, isHandle]) => isHandle(transaction)) ?? []
  if (library !== undefined) refuseTransaction(`expected ${wrapped}, got the ${library} handle itself`)
  return isQueryable(transaction) ? transaction : refuseTransaction(`expected a client with a method query(text, values), or one of ${wrappers}`)
}
