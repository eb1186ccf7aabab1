import type { FastifyContextConfig, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Tenant } from '../ports/index.js'
import { isTenantSlug } from '../shared/text.js'
import type { Caller, Credentials } from './callers.js'
import { type PortalCapability, requiredCapabilities } from './sessions.js'
import { HttpError } from './wire-errors.js'

/** Stores on a request who sends it. */
export const kCaller = Symbol('caller')

const kTenantSlug = Symbol('tenant slug')

/** A request whose key may have been checked. */
export interface KeyedRequest extends FastifyRequest {
  [kCaller]?: Caller
  [kTenantSlug]?: string | null
}

/** Decorates the requests of a scope with their tenant and their caller. */
export function decorateKey (scope: FastifyInstance): void {
  scope.decorateRequest(kCaller)
  scope.decorateRequest(kTenantSlug, null)
}

/** RFC 6750, section 2.1: the scheme in any letter case, then one token. */
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i
const usualKeyLength = 512

/** Returns the credentials of the request; `null` if no key could match. Fixes the slug of the request. */
export function readCredentials (request: KeyedRequest, maxKeyLength = usualKeyLength): Credentials | null {
  const tenantSlug = readTenantSlug(request)
  request[kTenantSlug] = tenantSlug
  const key = readBearerToken(request, maxKeyLength)
  return key !== null && isTenantSlug(tenantSlug) ? { tenantSlug, key } : null
}

/** The part of a route that says who may use it. */
export interface DeclaredRoute {
  config: FastifyContextConfig
  method: RouteOptions['method']
}

/**
 * Throws a 403 for a caller without the scopes that the route declares, and for a session without the capabilities that
 * its request needs.
 */
export function authorize (request: KeyedRequest, route: DeclaredRoute): void {
  if (!isAuthorized(request, route)) throw new HttpError('forbidden')
}

/** Returns whether the caller has the scopes and capabilities of a route. Keys need no capabilities. */
export function isAuthorized (request: KeyedRequest, route: DeclaredRoute): boolean {
  const { scopes = [], anyScope } = route.config
  const { scopes: owned, capabilities } = readCaller(request)
  return scopes.every((scope) => owned.includes(scope)) &&
    (anyScope === undefined || anyScope.some((scope) => owned.includes(scope))) &&
    (capabilities === null || requiredCapabilities(route).every((name) => capabilities.includes(name)))
}

/** Returns whether the caller may do this. Keys may, because only sessions of the portal have capabilities. */
export function isCapable (request: KeyedRequest, capability: PortalCapability): boolean {
  const { capabilities } = readCaller(request)
  return capabilities === null || capabilities.includes(capability)
}

/** Returns who sends a request that was let in. */
export function readCaller (request: KeyedRequest): Caller {
  return request[kCaller] as Caller
}

/** Returns the tenant of a request that was let in. */
export function readTenant (request: KeyedRequest): Tenant {
  return readCaller(request).tenant
}

/** Returns the slug in the path, even if hooks of the host have changed the parameters; empty if there is none. */
export function readTenantSlug (request: KeyedRequest): string {
  const { tenant_slug: tenantSlug = '' } = request.params as { tenant_slug?: string }
  return request[kTenantSlug] ?? tenantSlug
}

function readBearerToken ({ raw }: FastifyRequest, maxKeyLength: number): string | null {
  if (!hasOneAuthorization(raw.rawHeaders)) return null
  const token = bearer.exec(String(raw.headers.authorization))?.[1]
  return token !== undefined && token.length <= maxKeyLength ? token : null
}

/** Node keeps only the first of several headers, while a proxy may have checked another one. */
function hasOneAuthorization (rawHeaders: readonly string[]): boolean {
  const isAuthorization = (text: string, index: number): boolean => {
    return index % 2 === 0 && text.length === 13 && text.toLowerCase() === 'authorization'
  }
  return rawHeaders.filter(isAuthorization).length === 1
}
