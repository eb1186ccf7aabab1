import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiKey, KeyLookup } from '../ports/index.js'
import { isTenantSlug } from '../shared/text.js'
import { HttpError } from './wire-errors.js'

/** Stores the owner of a request's key on the request. */
export const kApiKey = Symbol('api key')

const kTenantSlug = Symbol('tenant slug')

/** A request whose key may have been checked. */
export interface KeyedRequest extends FastifyRequest {
  [kApiKey]?: ApiKey
  [kTenantSlug]?: string | null
}

/** Decorates the requests of a scope with their tenant and the owner of their key. */
export function decorateKey (scope: FastifyInstance): void {
  scope.decorateRequest(kApiKey)
  scope.decorateRequest(kTenantSlug, null)
}

/** RFC 6750, section 2.1: the scheme in any letter case, then one token. */
const bearer = /^bearer +([A-Za-z0-9\-._~+/]{1,512}=*)$/i
const maxKeyLength = 512

/** A key, and the tenant that it must be valid for. */
export type Credentials = Parameters<KeyLookup>[0]

/** Returns the arguments of a key lookup; `null` if no key could match. Fixes the tenant of the request. */
export function readCredentials (request: KeyedRequest): Credentials | null {
  const tenantSlug = readTenantSlug(request)
  request[kTenantSlug] = tenantSlug
  const key = readBearerToken(request)
  return key !== null && isTenantSlug(tenantSlug) ? { tenantSlug, key } : null
}

/** Copies the result of a key lookup, so later changes to it have no effect. Throws if the scopes are not an array. */
export function readKey (found: ApiKey | null | undefined): ApiKey | null {
  if (found === null || found === undefined) return null
  const { id, scopes } = found
  // Strings also have `includes`: `jobs:readonly` would match `jobs:read`.
  if (!Array.isArray(scopes)) throw new TypeError('keyLookup: expected scopes to be an array')
  return { id, scopes: [...scopes] }
}

/** Throws a 403 for a key without the scopes that the route declares. */
export function authorize ({ scopes: owned }: ApiKey, { scopes = [], anyScope }: FastifyContextConfig): void {
  const isAllowed = scopes.every((scope) => owned.includes(scope)) &&
    (anyScope === undefined || anyScope.some((scope) => owned.includes(scope)))
  if (!isAllowed) throw new HttpError('forbidden')
}

/** Returns the tenant in the path, even if hooks of the host have changed the parameters; empty if there is none. */
export function readTenantSlug (request: KeyedRequest): string {
  const { tenant_slug: tenantSlug = '' } = request.params as { tenant_slug?: string }
  return request[kTenantSlug] ?? tenantSlug
}

function readBearerToken ({ raw }: FastifyRequest): string | null {
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
