import type pg from 'pg'
import type postgres from 'postgres'
import type * as nodePostgres from 'drizzle-orm/node-postgres'
import type * as postgresJs from 'drizzle-orm/postgres-js'
import { type DrizzleTransaction, fromDrizzle } from '../../../src/storages/postgres/index.js'
import type { OpenStack, OpenTransaction } from '../stack.js'

interface Transaction extends DrizzleTransaction {
  transaction (work: (tx: Transaction) => Promise<void>): Promise<void>
}

function open (tx: Transaction): OpenTransaction {
  return {
    handle: tx,
    transaction: fromDrizzle(tx),
    run: (text) => tx.execute({ getSQL: () => ({ toQuery: () => ({ sql: text, params: [] }) }) }),
    nest: (work) => tx.transaction((inner) => work(open(inner)))
  }
}

export const openDrizzlePg: OpenStack = async (load, connectionString) => {
  const { drizzle } = await load('drizzle-orm/node-postgres') as typeof nodePostgres
  const { default: { Pool } } = await load('pg') as { default: typeof pg }
  const pool = new Pool({ connectionString })
  const db = drizzle(pool)
  return { root: db, begin: (work) => db.transaction((tx) => work(open(tx))), end: () => pool.end() }
}

export const openDrizzlePostgresJs: OpenStack = async (load, url) => {
  const { drizzle } = await load('drizzle-orm/postgres-js') as typeof postgresJs
  const { default: connect } = await load('postgres') as { default: typeof postgres }
  const sql = connect(url, { onnotice () {} })
  const db = drizzle(sql)
  return { root: db, begin: (work) => db.transaction((tx) => work(open(tx))), end: () => sql.end() }
}
