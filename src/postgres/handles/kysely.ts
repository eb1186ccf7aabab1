import { readField } from '../../shared/read-field.js'
import type { PgQueryable } from '../pool.js'
import { sendAsText } from './as-text.js'
import { expectHandle, expectOpen, hasMethods } from './checks.js'

/** A compiled statement of Kysely. */
export interface KyselyQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly query: { readonly kind: 'RawNode', readonly sqlFragments: readonly string[], readonly parameters: readonly [] }
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
  expectHandle(isKysely(trx) && readField(trx, 'isTransaction') === true, 'fromKysely', 'the transaction that db.transaction().execute gives')
  return {
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
  }
}
