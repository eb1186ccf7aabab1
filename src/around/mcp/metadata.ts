import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { hidden } from '../../core/http/document/operation.js'
import { prepareLoggers, type RequestIdSource } from '../../core/http/log.js'
import { limitOpenRequests, type Limits } from '../../core/http/limits.js'
import { assertOption } from '../../core/shared/read-options.js'
import { decodePart } from '../../core/shared/text.js'
import type { McpSettings } from './options.js'

export interface Place {
  publicUrl: string
  /** The prefix of the Fastify instance; empty for the root. */
  mount: string
  prefix: string
}

const wellKnown = '/.well-known/oauth-protected-resource'

export type ProtectedResource = NonNullable<ReturnType<typeof describeResource>>

/**
 * Returns a tenant's MCP server as a protected resource (RFC 9728), with parameters such as `{tenant_slug}`; `null`
 * without authorization servers. Throws `invalid_option` if its URL is unknown, or if clients would reject it: they
 * compare it with the address that they call.
 */
export function describeResource ({ authorizationServers, resource }: McpSettings, place: Place) {
  if (authorizationServers.length === 0) return null
  const [path, metadata] = [pathOf(place), metadataPathOf(place)].map((route) => route.replaceAll(/:(\w+)/g, '{$1}'))
  const { publicUrl } = place
  assertOption(
    resource !== null || publicUrl !== '', 'mcp.resource', 'a URL, or the option publicUrl', resource ?? undefined
  )
  const base = publicUrl === '' ? new URL(resource ?? '').origin : publicUrl
  const address = `${base}${path}`
  const identifier = resource ?? address
  assertOption(isParent(new URL(identifier), new URL(address)), 'mcp.resource',
    `the address of a tenant's server, ${address}, or a folder that contains it, because clients reject others`, resource)
  return { authorizationServers, identifier, metadata: `${base}${metadata}` }
}

function isParent (parent: URL, address: URL): boolean {
  const [one, other] = [parent.pathname, address.pathname]
  return parent.origin === address.origin && (one === other || other.startsWith(one.endsWith('/') ? one : `${one}/`))
}

function pathOf ({ mount, prefix }: Place): string {
  return `${mount}${prefix}/:tenant_slug/mcp`
}

function metadataPathOf (place: Place): string {
  return `${place.mount}${wellKnown}${pathOf(place)}`
}

/** Returns the value of `WWW-Authenticate` (RFC 6750, RFC 9728), with the missing scopes. */
export function challenge (
  resource: ProtectedResource | null, request: FastifyRequest, scopes: readonly string[] = []
): string {
  if (resource === null) return 'Bearer'
  const missing = scopes.length === 0 ? '' : `error="insufficient_scope", scope="${scopes.join(' ')}", `
  return `Bearer ${missing}resource_metadata="${fillIn(resource.metadata, request)}"`
}

const pathPart = /^[\w.~!$&'()*+,;=:@%-]+$/

/** Fills in parameters as the client's URL spells them, because clients compare addresses as text. */
function fillIn (template: string, { originalUrl, params }: FastifyRequest): string {
  const parts = originalUrl.split(/[/?#]/).filter((part) => pathPart.test(part))
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const value = String(Reflect.get(params as object, name))
    return parts.find((part) => decodePart(part) === value) ?? encodeURIComponent(value)
  })
}

export interface OpenRoutes {
  limits: Limits | null
  requestId: RequestIdSource | null
}

/** Serves the metadata. It exists for every slug, so that no one can probe tenants. */
export function metadataRoute (
  resource: ProtectedResource | null, place: Place, scopes: ReadonlySet<string>, { limits, requestId }: OpenRoutes
): FastifyPluginAsync {
  return async (app) => {
    if (resource === null) return
    prepareLoggers(app, requestId)
    if (limits !== null) limitOpenRequests(app, limits, requestId)
    // The instance adds its own prefix.
    const url = metadataPathOf(place).slice(place.mount.length)
    app.get(url, { schema: hidden, config: { recruitingApi: true } }, async (request, reply) => {
      reply.header('cache-control', 'no-cache')
      return {
        resource: fillIn(resource.identifier, request),
        authorization_servers: resource.authorizationServers,
        scopes_supported: [...scopes],
        bearer_methods_supported: ['header']
      }
    })
  }
}
