import type postgres from 'postgres'
import { fromPostgresJs } from '../../../src/storages/postgres/index.js'
import type { OpenStack, OpenTransaction } from '../stack.js'

export const openPostgresJs: OpenStack = async (load, url) => {
  const { default: connect } = await load('postgres') as { default: typeof postgres }
  const db = connect(url, { onnotice () {} })
  const open = (sql: postgres.TransactionSql): OpenTransaction => ({
    handle: sql,
    transaction: fromPostgresJs(sql),
    run: (text) => sql.unsafe(text),
    nest: async (work) => { await sql.savepoint((inner) => work(open(inner))) }
  })
  return { root: db, begin: async (work) => { await db.begin((sql) => work(open(sql))) }, end: () => db.end() }
}
