export { postgresStorage, type PostgresStorageOptions } from './storage.js'
export { postgresKeyLookup, type PostgresKeyLookupOptions } from './key-lookup.js'
export { issueApiKey, revokeApiKey, type IssueApiKeyOptions, type IssuedApiKey } from './api-keys.js'
export { migrate, type MigrateOptions } from './migrate.js'
export type { PgClient, PgPool, PgQueryable } from './pool.js'
export {
  fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm,
  type DrizzleStatement, type DrizzleTransaction, type KnexTransaction, type KyselyQuery, type KyselyTransaction,
  type MikroOrmManager, type PostgresJsTransaction, type PrismaTransaction, type SequelizeTransaction, type TypeOrmManager,
  type TypeOrmQueryRunner
} from './handles/index.js'
