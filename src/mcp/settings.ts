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

/** Describes the tool of a route, in its config `mcp`. */
export interface ToolConfig {
  /**
   * The name: 1 to 64 letters, digits, `_` and `-`.
   * @default the `operationId`, as `list_candidates`
   */
  name?: string
  /**
   * When an agent should use it.
   * @default the summary and description of the route
   */
  description?: string
  /**
   * Whether it changes nothing.
   * @default true for GET
   */
  readOnly?: boolean
  /**
   * Whether it may change or delete what exists, not only add.
   * @default true unless it is read-only
   */
  destructive?: boolean
  /**
   * Whether calling it again with the same arguments changes nothing more.
   * @default true for PUT and DELETE, and if it is read-only
   */
  idempotent?: boolean
}
