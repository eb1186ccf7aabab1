import type { FastifyRequest } from 'fastify'
import { keyLimitReaders } from '../keys/key-limits.js'
import { webhookScopes } from '../keys/scopes.js'
import type { ApiKey, KeyLookup, Tenant } from '../ports/index.js'
import type { Tenants } from '../shared/tenants.js'
import { createAddressCheck } from './client-address.js'
import { logOf } from './log.js'
import type { PortalCapability, Session, SessionOpener } from './sessions.js'
import { toPortError } from './wire-errors.js'

/** The published fields that a caller sees besides `id`; `null` for all of them. */
export interface VisibleFields {
  candidate: readonly string[] | null
  job: readonly string[] | null
}

/** Who sends a request: the owner of an API key, or the actor of a session of the portal, who has no key. */
export interface Caller {
  tenant: Tenant
  /** The id that the key lookup returned; `null` for a session. */
  keyId: string | null
  /** `null` for a key. */
  actor: string | null
  scopes: readonly string[]
  /** Everything that a session may do; `null` for a key, which only its scopes limit. */
  capabilities: readonly PortalCapability[] | null
  fields: VisibleFields
}

/** The slug in the path, and the key or session token of a client. */
export interface Credentials {
  tenantSlug: string
  key: string
}

/** Finds the owner of a key. */
export type CallerLookup = (credentials: Credentials, request: FastifyRequest) => Promise<Caller | null>

interface Dependencies {
  tenants: Tenants
  keyLookup: KeyLookup
  sessions: SessionOpener | null
  /** Whether callers can choose the address of their requests. */
  isAddressForgeable: boolean
}

/**
 * Returns a lookup that converts errors of the host's lookups and never passes them a session token. A key used from
 * a forbidden address looks unknown.
 */
export function createCallerLookup ({ tenants, keyLookup, sessions, isAddressForgeable }: Dependencies): CallerLookup {
  const isAllowed = createAddressCheck()
  let isWarned = !isAddressForgeable

  function isUsable ({ allowedIps }: ApiKey, request: FastifyRequest): boolean {
    if (allowedIps === null || allowedIps === undefined) return true
    if (!isWarned) logOf(request).warn({}, 'trustProxy trusts every address, so callers choose their own, which defeats allowedIps of keys: name your proxies instead')
    isWarned = true
    return isAllowed(allowedIps, request.ip)
  }

  return async ({ tenantSlug, key }, request) => {
    if (sessions?.isToken(key) === true) return null
    try {
      const tenant = await tenants.find(tenantSlug)
      const found = tenant && await keyLookup({ tenantSlug, tenantId: tenant.id, key })
      if (tenant === null || found === null || found === undefined) return null
      const caller = ofKey(tenant, found)
      if (isUsable(found, request)) return caller
      logOf(request).info({ keyId: caller.keyId }, 'the key is not allowed from the address of the request')
      return null
    } catch (thrown) {
      throw toPortError(thrown)
    }
  }
}

/** Opens a session token; `null` if the key is not a valid one. */
export async function openSession ({ tenants, sessions }: Pick<Dependencies, 'tenants' | 'sessions'>, { tenantSlug, key }: Credentials): Promise<Caller | null> {
  if (sessions?.isToken(key) !== true) return null
  try {
    const tenant = await tenants.find(tenantSlug)
    return tenant && ofSession(tenant, sessions.open({ tenantSlug, tenantId: tenant.id, key }))
  } catch (thrown) {
    throw toPortError(thrown)
  }
}

/** Copies the result of a key lookup, so later changes to it have no effect. Throws if the scopes are not an array. */
function ofKey (tenant: Tenant, found: ApiKey): Caller {
  const { id, scopes } = found
  // Strings also have `includes`: `jobs:readonly` would match `jobs:read`.
  if (!Array.isArray(scopes)) throw new TypeError('keyLookup: expected scopes to be an array')
  return { tenant, keyId: id, actor: null, scopes: [...scopes], capabilities: null, fields: readFields(found) }
}

function readFields ({ candidateFields, jobFields }: ApiKey): VisibleFields {
  return {
    candidate: keyLimitReaders.candidateFields(candidateFields, 'keyLookup: candidateFields'),
    job: keyLimitReaders.jobFields(jobFields, 'keyLookup: jobFields')
  }
}

function ofSession (tenant: Tenant, session: Session | null): Caller | null {
  if (session === null) return null
  return { tenant, keyId: null, actor: session.actor, scopes: webhookScopes, capabilities: session.capabilities, fields: { candidate: null, job: null } }
}
