import type { FastifyPluginAsync, FastifySchema } from 'fastify'
import { prepareLoggers, type RequestIdSource } from '../http/log.js'
import { limitOpenRequests, type Limits } from '../http/limits/limits.js'
import { assertOption } from '../shared/read-options.js'
import type { McpSettings } from '../options/options.js'

/** A tenant's MCP server as clients of OAuth see it (RFC 9728). */
export interface ProtectedResource {
  authorizationServers: readonly string[]
  /** The identifier, with `{tenant_slug}`. */
  identifier: string
  /** The address of the metadata, with `{tenant_slug}`. */
  metadata: string
}

/** Where the plugin is mounted. */
export interface Place {
  publicUrl: string
  /** The prefix of the Fastify instance; empty for the root. */
  mount: string
  /** The prefix of the API. */
  prefix: string
}

const wellKnown = '/.well-known/oauth-protected-resource'

/**
 * Returns the resource of the settings; `null` without authorization servers. Throws `invalid_option` if nothing says
 * how clients reach it.
 */
export function describeResource (
  { authorizationServers, resource }: McpSettings,
  { publicUrl, mount, prefix }: Place
): ProtectedResource | null {
  if (authorizationServers.length === 0) return null
  const path = `${mount}${prefix}/{tenant_slug}/mcp`
  assertOption(
    resource !== null || publicUrl !== '',
    'mcp.resource',
    'a URL, or the option publicUrl',
    resource ?? undefined
  )
  const identifier = resource ?? `${publicUrl}${path}`
  const base = publicUrl === '' ? new URL(identifier).origin : publicUrl
  return { authorizationServers, identifier, metadata: `${base}${mount}${wellKnown}${path}` }
}

/** Returns the value of `WWW-Authenticate` (RFC 6750, RFC 9728), with the scopes that are missing. */
export function challenge (
  resource: ProtectedResource | null,
  tenantSlug: string,
  scopes: readonly string[] = []
): string {
  if (resource === null) return 'Bearer'
  const missing = scopes.length === 0 ? '' : `error="insufficient_scope", scope="${scopes.join(' ')}", `
  return `Bearer ${missing}resource_metadata="${forTenant(resource.metadata, tenantSlug)}"`
}

function forTenant (template: string, tenantSlug: string): string {
  return template.replaceAll('{tenant_slug}', () => encodeURIComponent(tenantSlug))
}

// A host without @fastify/swagger has no type for it.
const hidden: FastifySchema & { hide: true } = { hide: true }

/** What routes that need no key share. */
export interface OpenRoutes {
  limits: Limits | null
  requestId: RequestIdSource | null
}

/** Serves the metadata. It exists for every slug, so that no one can probe tenants. */
export function metadataRoute (
  resource: ProtectedResource | null,
  { mount, prefix }: Place,
  scopes: ReadonlySet<string>,
  { limits, requestId }: OpenRoutes
): FastifyPluginAsync {
  return async (app) => {
    if (resource === null) return
    prepareLoggers(app, requestId)
    if (limits !== null) limitOpenRequests(app, limits, requestId)
    const url = `${wellKnown}${mount}${prefix}/:tenant_slug/mcp`
    app.get<{ Params: { tenant_slug: string } }>(
      url,
      { schema: hidden, config: { recruitingApi: true } },
      async ({ params }, reply) => {
        reply.header('cache-control', 'no-cache')
        return {
          resource: forTenant(resource.identifier, params.tenant_slug),
          authorization_servers: resource.authorizationServers,
          scopes_supported: [...scopes],
          bearer_methods_supported: ['header']
        }
      }
    )
  }
}
