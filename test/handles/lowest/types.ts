import type { SqlEntityManager } from '@mikro-orm/postgresql'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Knex } from 'knex'
import type { Transaction as KyselyTransaction } from 'kysely'
import type postgres from 'postgres'
import type { Transaction as SequelizeTransaction } from 'sequelize'
import type { EntityManager, QueryRunner } from 'typeorm'
import type { Prisma } from './generated/client.js'
import {
  type PgQueryable,
  fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm
} from '../../../src/storages/postgres/index.js'

/* Compiled by `npm run check:handles`: transactions of the lowest versions fit. */

type DrizzleTransaction<Database extends { transaction: (work: never) => unknown }> =
  Parameters<Parameters<Database['transaction']>[0]>[0]

export function fits (
  prisma: Prisma.TransactionClient,
  drizzlePg: DrizzleTransaction<NodePgDatabase>,
  drizzlePostgresJs: DrizzleTransaction<PostgresJsDatabase>,
  kysely: KyselyTransaction<unknown>,
  knex: Knex.Transaction,
  manager: EntityManager,
  runner: QueryRunner,
  sequelize: SequelizeTransaction,
  mikroOrm: SqlEntityManager,
  sql: postgres.TransactionSql
): PgQueryable[] {
  return [
    fromPrisma(prisma), fromDrizzle(drizzlePg), fromDrizzle(drizzlePostgresJs), fromKysely(kysely), fromKnex(knex),
    fromTypeOrm(manager), fromTypeOrm(runner), fromSequelize(sequelize), fromMikroOrm(mikroOrm), fromPostgresJs(sql)
  ]
}
