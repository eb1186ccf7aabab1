import type { RouteOptions } from 'fastify'
import type { ToolConfig } from './tool-config.js'

/** How clients may use a tool (MCP, ToolAnnotations). */
export interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  /** Whether it sends requests to other systems. */
  openWorldHint: boolean
}

/** Hints of our own operations that differ from those of their method. */
const known: Record<string, Partial<Hints>> = {
  createWebhook: { destructiveHint: false },
  updateWebhook: { idempotentHint: true },
  previewWebhook: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  dispatchWebhookTest: { destructiveHint: false, openWorldHint: true },
  replayWebhook: { destructiveHint: false, openWorldHint: true },
  retryWebhookDelivery: { destructiveHint: false, openWorldHint: true }
}

/** Returns the hints of a tool: as declared, otherwise by its operation and method. */
export function hintsOf (
  { method }: RouteOptions,
  operationId: string | null,
  { readOnly = method === 'GET', destructive = !readOnly, idempotent }: ToolConfig
): Hints {
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent ?? (readOnly || method === 'PUT' || method === 'DELETE'),
    openWorldHint: false,
    ...known[String(operationId)]
  }
}
