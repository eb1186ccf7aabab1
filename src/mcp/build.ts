import type { FastifyPluginAsync } from 'fastify'
import type { AgentServer } from '../http/agents.js'
import { readField } from '../shared/fields.js'
import { assertSdk, createAgentServer } from './endpoint.js'
import { describeResource, metadataRoute, type Place } from './metadata.js'
import type { McpSettings } from '../options/options.js'

/** The parts of the MCP server that the plugin mounts. */
export interface Mcp {
  server: AgentServer
  /**
   * Serves the metadata of the protected resource, if there are authorization servers. Register it outside the
   * prefix.
   */
  metadata (scopes: readonly string[]): FastifyPluginAsync
}

/**
 * Builds the MCP server, with the vendor's texts from the document, if there is one. Throws `invalid_option` if the
 * SDK is not installed.
 */
export function buildMcp (settings: McpSettings, place: Place, document: { info: object } | null): Mcp {
  const resource = describeResource(settings, place)
  assertSdk()
  const server = createAgentServer(settings, {
    name: 'recruiting-api',
    title: String(readField(document?.info, 'title') ?? 'Recruiting API'),
    version: String(readField(document?.info, 'version') ?? 'v1')
  }, resource)
  return { server, metadata: (scopes) => metadataRoute(resource, place, scopes) }
}
