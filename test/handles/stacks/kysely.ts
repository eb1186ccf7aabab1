import type pg from 'pg'
import type * as kysely from 'kysely'
import { fromKysely } from '../../../src/storages/postgres/index.js'
import type { OpenStack } from '../stack.js'

/** With a plugin that renames columns. */
export const openKysely: OpenStack = async (load, url) => {
  const { CamelCasePlugin, CompiledQuery, Kysely, PostgresDialect } = await load('kysely') as typeof kysely
  const { default: { Pool } } = await load('pg') as { default: typeof pg }
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }), plugins: [new CamelCasePlugin()]
  })
  return {
    root: db,
    begin: (work) => db.transaction().execute((trx) => work({
      handle: trx, transaction: fromKysely(trx), run: (text) => trx.executeQuery(CompiledQuery.raw(text))
    })),
    end: () => db.destroy()
  }
}
