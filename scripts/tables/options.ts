/** A call takes one of these fields. */
export const tenantFields = [
  ['src/shared/tenants.ts', 'TenantBySlug'], ['src/shared/tenants.ts', 'TenantById']
] as const

/** The tables of options by name, with their interfaces and files. */
export const optionTables: Record<string, ReadonlyArray<readonly [path: string, name: string]>> = {
  'engine-options': [
    ['src/options.ts', 'EventsOption'],
    ['src/webhooks/options.ts', 'EngineOptions'],
    ['src/options.ts', 'SharedOptions']
  ],
  'api-options': [
    ['src/http/options.ts', 'HttpOptions'],
    ['src/options.ts', 'ApiOptions']
  ],
  'delivery-options': [['src/webhooks/options.ts', 'DeliveryOptions']],
  'proxy-options': [['src/webhooks/options.ts', 'ProxyOptions']],
  'rate-limit-options': [
    ['src/http/options.ts', 'RateLimitBudget'],
    ['src/http/options.ts', 'RateLimitOptions']
  ],
  'portal-options': [['src/portal/options.ts', 'PortalOptions']],
  'portal-keys': [['src/keys/options.ts', 'PortalKeysOptions']],
  'portal-theme': [['src/portal/options.ts', 'PortalTheme']],
  'portal-session': [...tenantFields, ['src/portal/session.ts', 'PortalSessionFields']],
  'mcp-options': [['src/mcp/options.ts', 'McpOptions']],
  'mcp-tool': [['src/mcp/tools.ts', 'ToolConfig']],
  'openapi-options': [['src/http/options.ts', 'OpenApiOptions']],
  'openapi-info': [['src/http/options.ts', 'OpenApiInfo']],
  'openapi-server': [['src/http/options.ts', 'OpenApiServer']],
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
