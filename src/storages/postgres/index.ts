export { postgresStorage, type PostgresStorageOptions } from './storage.js'
export { postgresKeyLookup, type PostgresKeyLookupOptions } from './keys/key-lookup.js'
export { apiKeys, type ApiKeys, type ApiKeysOptions } from './keys/api-keys.js'
export type { ImportedApiKey, IssuedApiKey, NewApiKey, StoredApiKey } from './keys/api-keys.js'
export { watch, watchSql, type WatchEmit, type WatchOptions, type WatchSqlOptions } from './changes/watch.js'
export { migrate, type MigrateOptions } from './upgrade/migrate.js'
export type { PgClient, PgPool, PgQueryable } from './pool.js'
export {
  fromDrizzle, fromKnex, fromKysely, fromMikroOrm, fromPostgresJs, fromPrisma, fromSequelize, fromTypeOrm,
  type DrizzleStatement, type DrizzleTransaction, type KnexTransaction, type KyselyQuery, type KyselyTransaction,
  type MikroOrmManager, type PostgresJsTransaction, type PrismaTransaction, type SequelizeTransaction,
  type TypeOrmManager, type TypeOrmQueryRunner
} from './transactions.js'
