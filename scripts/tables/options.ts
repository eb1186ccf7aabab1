/** A call takes one of these fields. */
export const tenantFields = [
  ['src/shared/tenants.ts', 'TenantBySlug'], ['src/shared/tenants.ts', 'TenantById']
] as const

/** The tables of options by name, with their interfaces and files. */
export const optionTables: Record<string, ReadonlyArray<readonly [path: string, name: string]>> = {
  'engine-options': [
    ['src/options/options.ts', 'EventsOption'],
    ['src/options/options.ts', 'EngineOptions'],
    ['src/options/options.ts', 'SharedOptions']
  ],
  'api-options': [
    ['src/options/options.ts', 'HttpOptions'],
    ['src/options/options.ts', 'ApiOptions']
  ],
  'delivery-options': [['src/options/options.ts', 'DeliveryOptions']],
  'proxy-options': [['src/options/options.ts', 'ProxyOptions']],
  'rate-limit-options': [
    ['src/options/options.ts', 'RateLimitBudget'],
    ['src/options/options.ts', 'RateLimitOptions']
  ],
  'portal-options': [['src/options/options.ts', 'PortalOptions']],
  'portal-keys': [['src/options/options.ts', 'PortalKeysOptions']],
  'portal-theme': [['src/options/options.ts', 'PortalTheme']],
  'portal-session': [...tenantFields, ['src/portal/session.ts', 'PortalSessionFields']],
  'mcp-options': [['src/options/options.ts', 'McpOptions']],
  'mcp-tool': [['src/mcp/tools.ts', 'ToolConfig']],
  'openapi-options': [['src/options/options.ts', 'OpenApiOptions']],
  'openapi-info': [['src/options/options.ts', 'OpenApiInfo']],
  'openapi-server': [['src/options/options.ts', 'OpenApiServer']],
  'cache-key-lookup-options': [['src/keys/cache.ts', 'CacheKeyLookupOptions']],
  'postgres-storage-options': [['src/postgres/storage.ts', 'PostgresStorageOptions']],
  'postgres-key-lookup-options': [['src/postgres/keys/key-lookup.ts', 'PostgresKeyLookupOptions']],
  'api-keys-options': [['src/postgres/keys/api-keys.ts', 'ApiKeysOptions']],
  'new-api-key': [...tenantFields, ['src/postgres/keys/api-keys.ts', 'NewApiKeyFields']],
  'migrate-options': [['src/postgres/upgrade/migrate.ts', 'MigrateOptions']],
  'end-sync-tokens-options': [['src/postgres/changes/changes.ts', 'EndSyncTokensOptions']],
  'watch-options': [['src/postgres/changes/watch.ts', 'WatchOptions']],
  'memory-storage-options': [['src/memory/storage.ts', 'MemoryStorageOptions']],
  'from-rows-options': [['src/memory/lists/from-rows.ts', 'FromRowsOptions']],
  'memory-changes-options': [['src/memory/changes.ts', 'MemoryChangesOptions']],
  'memory-key-lookup-options': [['src/memory/key-lookup.ts', 'MemoryKeyLookupOptions']],
  'run-options': [['src/testing/report.ts', 'RunOptions']],
  'harness-options': [['src/testing/support/harness.ts', 'HarnessOptions']],
  'record-events-options': [['src/recorder/record-events.ts', 'RecordEventsOptions']],
  'list-options': [['src/http/define-list.ts', 'ListOptions']]
}
