import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { ApiKey, KeyLookup } from '../ports/index.js'
import { isTenantSlug } from '../tenant-slug.js'
import { HttpError } from './errors.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scopes that a key must have, all of them. */
    scopes?: readonly string[]
    /** Scopes of which a key must have one. */
    anyScope?: readonly string[]
  }
}

/** Where a request keeps the owner of its key. */
export const kApiKey = Symbol('api key')

/** A request of which the key may be known. */
export interface KeyedRequest extends FastifyRequest {
  [kApiKey]?: ApiKey
}

/** RFC 6750, section 2.1: the scheme in any letter case, then one token. */
const bearer = /^bearer +([A-Za-z0-9\-._~+/]{1,512}=*)$/i
const maxKeyLength = 512

/** A key, and the tenant that it must belong to. */
export type Credentials = Parameters<KeyLookup>[0]

/** What to look a key up by; `null` if no lookup could find it. */
export function readCredentials (request: FastifyRequest): Credentials | null {
  const tenantSlug = readTenantSlug(request)
  const key = readBearerToken(request)
  return key !== null && isTenantSlug(tenantSlug) ? { tenantSlug, key } : null
}

/** Refuses a key without the scopes that the route declares. */
export function authorize (key: ApiKey | undefined, { scopes = [], anyScope }: FastifyContextConfig): void {
  const owned = key?.scopes
  // Text has `includes` too, by which `jobs:readonly` would hold `jobs:read`.
  if (!Array.isArray(owned)) throw new TypeError('keyLookup: expected scopes to be an array')
  const isAllowed = scopes.every((scope) => owned.includes(scope)) &&
    (anyScope === undefined || anyScope.some((scope) => owned.includes(scope)))
  if (!isAllowed) throw new HttpError('forbidden')
}

/** The tenant as the path names it; empty if it names none. */
export function readTenantSlug (request: FastifyRequest): string {
  const { tenant_slug: tenantSlug = '' } = request.params as { tenant_slug?: string }
  return tenantSlug
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
