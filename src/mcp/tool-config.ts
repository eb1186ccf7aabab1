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
  /**
   * Whether it sends requests to other systems.
   * @default false
   */
  openWorld?: boolean
}
