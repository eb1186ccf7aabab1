import type { ControlledTransaction, Kysely } from 'kysely'
import type { Knex } from 'knex'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Sequelize } from 'sequelize'
import type postgres from 'postgres'
import { fromDrizzle, fromKnex, fromKysely, fromPostgresJs, fromSequelize } from '../../src/storages/postgres/index.js'

/* Compiled by `npm run check:handles`. The handles below have no transaction. */

export const fits = (trx: ControlledTransaction<unknown>) => fromKysely(trx)

// @ts-expect-error an instance
export const kysely = (db: Kysely<unknown>) => fromKysely(db)
// @ts-expect-error an instance
export const knex = (db: Knex) => fromKnex(db)
// @ts-expect-error a database
export const drizzle = (db: NodePgDatabase) => fromDrizzle(db)
// @ts-expect-error an instance
export const sequelize = (db: Sequelize) => fromSequelize(db)
// @ts-expect-error an instance
export const postgresJs = (sql: postgres.Sql) => fromPostgresJs(sql)
