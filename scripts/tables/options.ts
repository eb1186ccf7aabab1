/** A call takes one of these fields. */
export const tenantFields = [
  ['src/core/shared/tenants.ts', 'TenantBySlug'], ['src/core/shared/tenants.ts', 'TenantById']
] as const

/** The tables of options by name, with their interfaces and files. */
export const optionTables: Record<string, ReadonlyArray<readonly [path: string, name: string]>> = {
  'engine-options': [
    ['src/options.ts', 'EventsOption'],
    ['src/core/webhooks/options.ts', 'EngineOptions'],
    ['src/options.ts', 'SharedOptions']
  ],
  'api-options': [
    ['src/core/http/options.ts', 'HttpOptions'],
    ['src/options.ts', 'ApiOptions']
  ],
  'delivery-options': [['src/core/webhooks/options.ts', 'DeliveryOptions']],
  'proxy-options': [['src/core/webhooks/options.ts', 'ProxyOptions']],
  'rate-limit-options': [
    ['src/core/http/options.ts', 'RateLimitBudget'],
    ['src/core/http/options.ts', 'RateLimitOptions']
  ],
  'portal-options': [['src/around/portal/options.ts', 'PortalOptions']],
  'portal-keys': [['src/core/keys/options.ts', 'PortalKeysOptions']],
  'portal-theme': [['src/around/portal/options.ts', 'PortalTheme']],
  'portal-session': [...tenantFields, ['src/around/portal/session.ts', 'PortalSessionFields']],
  'mcp-options': [['src/around/mcp/options.ts', 'McpOptions']],
  'mcp-tool': [['src/around/mcp/tools.ts', 'ToolConfig']],
  'openapi-options': [['src/core/http/options.ts', 'OpenApiOptions']],
  'openapi-info': [['src/core/http/options.ts', 'OpenApiInfo']],
  'openapi-server': [['src/core/http/options.ts', 'OpenApiServer']],
  'cache-key-lookup-options': [['src/core/keys/cache.ts', 'CacheKeyLookupOptions']],
  'postgres-storage-options': [['src/storages/postgres/storage.ts', 'PostgresStorageOptions']],
  'postgres-key-lookup-options': [['src/storages/postgres/keys/key-lookup.ts', 'PostgresKeyLookupOptions']],
  'api-keys-options': [['src/storages/postgres/keys/api-keys.ts', 'ApiKeysOptions']],
  'new-api-key': [...tenantFields, ['src/storages/postgres/keys/api-keys.ts', 'NewApiKeyFields']],
  'migrate-options': [['src/storages/postgres/upgrade/migrate.ts', 'MigrateOptions']],
  'watch-options': [['src/storages/postgres/changes/watch.ts', 'WatchOptions']],
  'memory-storage-options': [['src/storages/memory/storage.ts', 'MemoryStorageOptions']],
  'from-rows-options': [['src/storages/memory/lists/from-rows.ts', 'FromRowsOptions']],
  'memory-changes-options': [['src/storages/memory/changes.ts', 'MemoryChangesOptions']],
  'memory-key-lookup-options': [['src/storages/memory/key-lookup.ts', 'MemoryKeyLookupOptions']],
  'run-options': [['src/tools/testing/report.ts', 'RunOptions']],
  'harness-options': [['src/tools/testing/support/harness.ts', 'HarnessOptions']],
  'record-events-options': [['src/tools/recorder/record-events.ts', 'RecordEventsOptions']],
  'list-options': [['src/core/http/define-list.ts', 'ListOptions']]
}
