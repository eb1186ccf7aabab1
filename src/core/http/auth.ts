import type { FastifyReply, FastifyRequest } from 'fastify'
import { manageKeysScope, webhookScopes } from '../api/scopes.js'
import { hashApiKey, keyLimitReaders } from '../keys/api-key.js'
import type { ApiKey, KeyCredentials, KeyLookup, Tenant } from '../ports/index.js'
import { LruMap } from '../shared/cached.js'
import { isTenantSlug } from '../shared/text.js'
import type { Tenants } from '../shared/tenants.js'
import { createAddressCheck } from './client-address.js'
import { logOf } from './log.js'
import { type Access, findState, readTenantSlug, type VisibleFields } from './request.js'
import { type DeclaredRoute, requiredCapabilities, type Session, type SessionOpener } from './sessions.js'
import { toPortError } from './wire-errors.js'

/** RFC 6750, section 2.1: the scheme in any letter case, then one token. */
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

/** The slug in the path, and the key or session token of a client. */
interface Credentials {
  tenantSlug: string
  key: string
}

/** Returns the credentials of a request; `null` if they cannot be valid. */
function readCredentials (
  { raw }: FastifyRequest, tenantSlug: string, maxKeyLength: number
): Credentials | null {
  if (!hasOneAuthorization(raw.rawHeaders) || !isTenantSlug(tenantSlug)) return null
  const key = bearer.exec(String(raw.headers.authorization))?.[1]
  return key !== undefined && key.length <= maxKeyLength ? { tenantSlug, key } : null
}

/** Node keeps only the first of several headers, while a proxy may have checked another one. */
function hasOneAuthorization (rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 13 && name.toLowerCase() === 'authorization') count++
  }
  return count === 1
}

/** Finds the owner of a key or session token; `null` if it is not valid for the tenant. */
export type AccessLookup = (credentials: Credentials, request: FastifyRequest) => Promise<Access | null>

/** The same, for lookups that can reject a request and set headers. */
export type RequestAccessLookup =
  (credentials: Credentials, request: FastifyRequest, reply: FastifyReply) => ReturnType<AccessLookup>

/** Finds a request's caller; `null` without a valid key or session. */
export type AccessCheck = (request: FastifyRequest, reply: FastifyReply) => Promise<Access | null> | null

interface KeyCheckDependencies {
  tenants: Tenants
  keyLookup: KeyLookup
  sessions: SessionOpener | null
  /** Whether callers can choose the address of their requests. */
  isAddressForgeable: boolean
}

const forgeable = 'trustProxy trusts every address, so clients can fake theirs and bypass allowedIps of keys: ' +
  'name your proxies instead'

/** An id that no tenant has, because ids contain no control characters. */
const idOfNobody = (tenantSlug: string): string => `\u0001${tenantSlug}`

/**
 * Returns a lookup that converts errors of the host's lookups. A key used from a forbidden address gets `null`. Keys of
 * unknown tenants are looked up too, so that response times do not reveal which tenants exist.
 */
function createKeyCheck (
  { tenants, keyLookup, isAddressForgeable }: Omit<KeyCheckDependencies, 'sessions'>
): AccessLookup {
  const isAllowed = createAddressCheck()
  let isWarned = !isAddressForgeable

  function isUsable ({ allowedIps }: ApiKey, request: FastifyRequest): boolean {
    if (allowedIps === null || allowedIps === undefined) return true
    if (!isWarned) logOf(request).warn({}, forgeable)
    isWarned = true
    return isAllowed(allowedIps, request.ip)
  }

  async function lookUpNobody (credentials: KeyCredentials): Promise<null> {
    try {
      await keyLookup(credentials)
    } catch (thrown) {
      // The lookup may fail for this id. Only a 429 or 503, which any request can get, is passed on.
      if (toPortError(thrown).code !== 'internal_error') throw thrown
    }
    return null
  }

  return async ({ tenantSlug, key }, request) => {
    try {
      const tenant = await tenants.find(tenantSlug)
      if (tenant === null) return await lookUpNobody({ tenantSlug, tenantId: idOfNobody(tenantSlug), key })
      const found = await keyLookup({ tenantSlug, tenantId: tenant.id, key })
      if (found === null || found === undefined) return null
      const access = ofKey(tenant, found)
      if (isUsable(found, request)) return access
      const state = findState(request)
      if (state !== null) state.stranger = access.caller
      logOf(request).info({ keyId: access.caller.keyId }, 'the key is not allowed from the address of the request')
      return null
    } catch (thrown) {
      throw toPortError(thrown)
    }
  }
}

/** Returns a lookup for session tokens. It opens the token before looking up the tenant. */
function createSessionCheck (tenants: Tenants, sessions: SessionOpener): AccessLookup {
  return async ({ tenantSlug, key }) => {
    const session = sessions.open(key)
    if (session === null) return null
    try {
      const tenant = await tenants.find(tenantSlug)
      const isOwner = session.isOf(tenant?.id ?? idOfNobody(tenantSlug))
      return tenant !== null && isOwner ? ofSession(tenant, session) : null
    } catch (thrown) {
      throw toPortError(thrown)
    }
  }
}

export const maxKeyLength = 512

export function createAccessCheck (lookUp: RequestAccessLookup, maxKeyLength: number): AccessCheck {
  return (request, reply) => {
    const credentials = readCredentials(request, readTenantSlug(request), maxKeyLength)
    return credentials && lookUp(credentials, request, reply)
  }
}

/** Maximum number of remembered tokens that were used for another tenant. */
const maxStrays = 1000

/** Returns a function that finds a request's caller by its key or session. `guard` limits invalid keys. */
export function createLookup (
  dependencies: KeyCheckDependencies, guard: (check: AccessLookup) => RequestAccessLookup
): RequestAccessLookup {
  const { tenants, sessions } = dependencies
  const checkKey = createKeyCheck(dependencies)
  if (sessions === null) return guard(checkKey)
  const checkSession = createSessionCheck(tenants, sessions)
  const check = guard((credentials, request) => {
    return sessions.isToken(credentials.key) ? checkSession(credentials, request) : checkKey(credentials, request)
  })
  const strays = new LruMap<true>(maxStrays)
  // Invalid keys from an address do not lock out sessions there, unless a session tries other tenants.
  return async (credentials, request, reply) => {
    const { key } = credentials
    const name = sessions.isToken(key) && sessions.open(key) !== null ? hashApiKey(key) : null
    if (name === null || strays.get(name) === true) return check(credentials, request, reply)
    const access = await checkSession(credentials, request)
    if (access !== null) return access
    strays.set(name, true)
    return check(credentials, request, reply)
  }
}

/** Copies the result of a key lookup, so that later changes have no effect. Throws unless the scopes are an array. */
function ofKey ({ slug: tenantSlug, id: tenantId }: Tenant, found: ApiKey): Access {
  const { id, scopes } = found
  // Strings also have `includes`: `jobs:readonly` would match `jobs:read`.
  if (!Array.isArray(scopes)) throw new TypeError('keyLookup: expected scopes to be an array')
  return {
    caller: { tenantSlug, tenantId, keyId: id, actor: null, scopes: [...scopes], fields: readFields(found) },
    allowedIps: found.allowedIps ?? null,
    key: { name: found.name ?? null, expiresAt: found.expiresAt ?? null },
    capabilities: null
  }
}

function readFields ({ candidateFields, jobFields }: ApiKey): VisibleFields | null {
  const candidate = keyLimitReaders.candidateFields(candidateFields, 'keyLookup: candidateFields')
  const job = keyLimitReaders.jobFields(jobFields, 'keyLookup: jobFields')
  return candidate === null && job === null ? null : { candidate, job }
}

/** The scopes of a session with all capabilities. */
export const sessionScopes: readonly string[] = [...webhookScopes, manageKeysScope]

function ofSession ({ slug: tenantSlug, id: tenantId }: Tenant, { actor, capabilities }: Session): Access {
  const scopes = capabilities.includes('keys') ? sessionScopes : webhookScopes
  const caller = { tenantSlug, tenantId, keyId: null, actor, scopes, fields: null }
  return { caller, allowedIps: null, key: null, capabilities }
}

/** Returns whether the caller has the scopes and capabilities of a route. Keys need no capabilities. */
export function isAuthorized ({ caller, capabilities }: Access, route: DeclaredRoute): boolean {
  const { scopes = [], anyScope } = route.config ?? {}
  return scopes.every((scope) => caller.scopes.includes(scope)) &&
    (anyScope === undefined || anyScope.some((scope) => caller.scopes.includes(scope))) &&
    (capabilities === null || requiredCapabilities(route).every((name) => capabilities.includes(name)))
}
