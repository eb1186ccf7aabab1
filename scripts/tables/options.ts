/** The fields of which a call takes one. */
export const tenantFields = [
  ['src/shared/tenant-reference.ts', 'TenantBySlug'], ['src/shared/tenant-reference.ts', 'TenantById']
] as const

/** The tables of options by name, with the interfaces that they list and their files. */
export const optionTables: Record<string, ReadonlyArray<readonly [path: string, name: string]>> = {
  'engine-options': [
    ['src/options/recruiting.ts', 'EventsOption'],
    ['src/webhooks/options/engine.ts', 'EngineOptions'],
    ['src/options/recruiting.ts', 'SharedOptions']
  ],
  'api-options': [
    ['src/http/options/api.ts', 'HttpOptions'],
    ['src/options/api.ts', 'ApiOptions']
  ],
  'delivery-options': [['src/webhooks/options/delivery.ts', 'DeliveryOptions']],
  'proxy-options': [['src/webhooks/options/proxy.ts', 'ProxyOptions']],
  'rate-limit-options': [
    ['src/http/options/rate-limit.ts', 'RateLimitBudget'],
    ['src/http/options/rate-limit.ts', 'RateLimitOptions']
  ],
  'portal-options': [['src/portal/options.ts', 'PortalOptions']],
  'portal-theme': [['src/portal/look.ts', 'PortalTheme']],
  'portal-session': [...tenantFields, ['src/portal/session.ts', 'PortalSessionFields']],
  'mcp-options': [['src/mcp/options.ts', 'McpOptions']],
  'mcp-tool': [['src/mcp/tool-config.ts', 'ToolConfig']],
  'openapi-options': [['src/http/options/openapi.ts', 'OpenApiOptions']],
  'openapi-info': [['src/http/options/openapi.ts', 'OpenApiInfo']],
  'openapi-server': [['src/http/options/openapi.ts', 'OpenApiServer']],
  'cache-key-lookup-options': [['src/keys/cache.ts', 'CacheKeyLookupOptions']],
  'postgres-storage-options': [['src/postgres/storage.ts', 'PostgresStorageOptions']],
  'postgres-key-lookup-options': [['src/postgres/keys/key-lookup.ts', 'PostgresKeyLookupOptions']],
  'api-keys-options': [['src/postgres/keys/api-keys.ts', 'ApiKeysOptions']],
  'new-api-key': [...tenantFields, ['src/postgres/keys/stored-key.ts', 'NewApiKeyFields']],
  'migrate-options': [['src/postgres/migrate.ts', 'MigrateOptions']],
  'end-sync-tokens-options': [['src/postgres/changes/watched-tables.ts', 'EndSyncTokensOptions']],
  'watch-options': [['src/postgres/changes/watch.ts', 'WatchOptions']],
  'memory-storage-options': [['src/memory/storage.ts', 'MemoryStorageOptions']],
  'from-rows-options': [['src/memory/lists/from-rows.ts', 'FromRowsOptions']],
  'memory-changes-options': [['src/memory/changes.ts', 'MemoryChangesOptions']],
  'memory-key-lookup-options': [['src/memory/key-lookup.ts', 'MemoryKeyLookupOptions']],
  'run-options': [['src/testing/report/run.ts', 'RunOptions']],
  'record-events-options': [['src/recorder/record-events.ts', 'RecordEventsOptions']],
  'list-options': [['src/http/define-list.ts', 'ListOptions']]
}
