/** The tables of options by name, with the interfaces that they list and their files. */
export const optionTables: Record<string, ReadonlyArray<readonly [path: string, name: string]>> = {
  'engine-options': [['src/options/recruiting.ts', 'EventsOption'], ['src/options/recruiting.ts', 'EngineOptions']],
  'api-options': [['src/options/api.ts', 'ApiOptions']],
  'delivery-options': [['src/options/delivery.ts', 'DeliveryOptions']],
  'proxy-options': [['src/options/proxy.ts', 'ProxyOptions']],
  'rate-limit-options': [['src/options/rate-limit.ts', 'RateLimitBudget'], ['src/options/rate-limit.ts', 'RateLimitOptions']],
  'openapi-options': [['src/options/openapi.ts', 'OpenApiOptions']],
  'openapi-info': [['src/options/openapi.ts', 'OpenApiInfo']],
  'openapi-server': [['src/options/openapi.ts', 'OpenApiServer']],
  'cache-key-lookup-options': [['src/keys/cache.ts', 'CacheKeyLookupOptions']],
  'postgres-storage-options': [['src/postgres/storage.ts', 'PostgresStorageOptions']],
  'postgres-key-lookup-options': [['src/postgres/keys/key-lookup.ts', 'PostgresKeyLookupOptions']],
  'api-keys-options': [['src/postgres/keys/api-keys.ts', 'ApiKeysOptions']],
  'new-api-key': [['src/postgres/keys/stored-key.ts', 'NewApiKey']],
  'migrate-options': [['src/postgres/migrate.ts', 'MigrateOptions']],
  'watch-options': [['src/postgres/changes/watch.ts', 'WatchOptions']],
  'memory-storage-options': [['src/memory/storage.ts', 'MemoryStorageOptions']],
  'from-rows-options': [['src/memory/lists/from-rows.ts', 'FromRowsOptions']],
  'memory-changes-options': [['src/memory/changes.ts', 'MemoryChangesOptions']],
  'memory-key-lookup-options': [['src/memory/key-lookup.ts', 'MemoryKeyLookupOptions']],
  'run-options': [['src/testing/report/run.ts', 'RunOptions']]
}
