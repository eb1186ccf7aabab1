/** The settings of the MCP server. */
export interface McpSettings {
  /** Whether tools may return secrets. */
  secrets: boolean
  /** The issuers of access tokens; empty if callers have keys alone. */
  authorizationServers: readonly string[]
  /** The identifier of a tenant's server, with `{tenant_slug}`; `null` for its address. */
  resource: string | null
  /** The origins of pages that may call it. */
  origins: readonly string[]
}
