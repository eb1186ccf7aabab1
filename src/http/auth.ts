import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiKey, KeyLookup } from '../ports/index.js'
import { isTenantSlug } from '../shared/text.js'
import { HttpError } from './errors.js'

/** Where a request keeps the owner of its key. */
export const kApiKey = Symbol('api key')

const kTenantSlug = Symbol('tenant slug')

/** A request of which the key may be known. */
export interface KeyedRequest extends FastifyRequest {
  [kApiKey]?: ApiKey
  [kTenantSlug]?: string | null
}

/** Lets the requests to a scope keep their tenant and the owner of their key. */
export function decorateKey (scope: FastifyInstance): void {
  scope.decorateRequest(kApiKey)
  scope.decorateRequest(kTenantSlug, null)
}

/** RFC 6750, section 2.1: the scheme in any letter case, then one token. */
const bearer = /^bearer +([A-Za-z0-9\-._~+/]{1,512}=*)$/i
const maxKeyLength = 512

/** A key, and the tenant that it must belong to. */
export type Credentials = Parameters<KeyLookup>[0]

/** What to look a key up by; `null` if no lookup could find it. From here on the request is this tenant's. */
export function readCredentials (request: KeyedRequest): Credentials | null {
  const tenantSlug = readTenantSlug(request)
  request[kTenantSlug] = tenantSlug
  const key = readBearerToken(request)
  return key !== null && isTenantSlug(tenantSlug) ? { tenantSlug, key } : null
}

/** Copies what a key lookup has answered, so that nothing else of it is ever read. Throws if the scopes are no array. */
export function readKey (found: ApiKey | null | undefined): ApiKey | null {
  if (found === null || found === undefined) return null
  const { id, scopes } = found
  // Strings also have `includes`: `jobs:readonly` would match `jobs:read`.
  if (!Array.isArray(scopes)) throw new TypeError('keyLookup: expected scopes to be an array')
  return { id, scopes: [...scopes] }
}

/** Refuses a key without the scopes that the route declares. */
export function authorize ({ scopes: owned }: ApiKey, { scopes = [], anyScope }: FastifyContextConfig): void {
  const isAllowed = scopes.every((scope) => owned.includes(scope)) &&
    (anyScope === undefined || anyScope.some((scope) => owned.includes(scope)))
  if (!isAllowed) throw new HttpError('forbidden')
}

/** The tenant as the path names it, whatever hooks of the host made of the path since; empty if it names none. */
export function readTenantSlug (request: KeyedRequest): string {
  const { tenant_slug: tenantSlug = '' } = request.params as { tenant_slug?: string }
  return request[kTenantSlug] ?? tenantSlug
}

function readBearerToken ({ raw }: FastifyRequest): string | null {
  if (!hasOneAuthorization(raw.rawHeaders)) return null
  const token = bearer.exec(String(raw.headers.authorization))?.[1]
  return token !== undefined && token.length <= maxKeyLength ? token : null
}

/** Node keeps the first of several and drops the others, so a proxy before us may have checked another one. */
function hasOneAuthorization (rawHeaders: readonly string[]): boolean {
  const isAuthorization = (text: string, index: number): boolean => {
    return index % 2 === 0 && text.length === 13 && text.toLowerCase() === 'authorization'
  }
  return rawHeaders.filter(isAuthorization).length === 1
}
