export {
  type DrizzleStatement, type DrizzleTransaction, fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs,
  fromPrisma, fromSequelize, fromTypeOrm, type KnexTransaction, type KyselyQuery, type KyselyTransaction,
  type MikroOrmManager, type PostgresJsTransaction, type PrismaTransaction, type SequelizeTransaction,
  type TypeOrmManager, type TypeOrmQueryRunner
} from './libraries.js'
