import type { ApiKey, KeyCredentials, KeyLookup } from '../ports/index.js'
import { webhookScopes } from './routes/webhook-scopes.js'
import type { PortalCapability, Session, SessionOpener } from './sessions.js'
import { toInternalError } from './wire-errors.js'

/** Who sends a request: the owner of an API key, or the actor of a session of the portal, who has no key. */
export interface Caller {
  /** The id that the key lookup returned; `null` for a session. */
  keyId: string | null
  /** `null` for a key. */
  actor: string | null
  scopes: readonly string[]
  /** Everything that a session may do; `null` for a key, which only its scopes limit. */
  capabilities: readonly PortalCapability[] | null
}

/** Finds the owner of a key, or the session of a token. */
export type CallerLookup = (credentials: KeyCredentials) => Promise<Caller | null>

/** Returns a lookup that turns every error of the host's key lookup into a 500, and shows it no token of a session. */
export function createCallerLookup (keyLookup: KeyLookup, sessions: SessionOpener | null): CallerLookup {
  return async (credentials) => {
    if (sessions?.isToken(credentials.key) === true) return ofSession(sessions.open(credentials))
    try {
      return ofKey(await keyLookup(credentials))
    } catch (thrown) {
      throw toInternalError(thrown)
    }
  }
}

/** Copies the result of a key lookup, so later changes to it have no effect. Throws if the scopes are not an array. */
function ofKey (found: ApiKey | null | undefined): Caller | null {
  if (found === null || found === undefined) return null
  const { id, scopes } = found
  // Strings also have `includes`: `jobs:readonly` would match `jobs:read`.
  if (!Array.isArray(scopes)) throw new TypeError('keyLookup: expected scopes to be an array')
  return { keyId: id, actor: null, scopes: [...scopes], capabilities: null }
}

function ofSession (session: Session | null): Caller | null {
  if (session === null) return null
  return { keyId: null, actor: session.actor, scopes: webhookScopes, capabilities: session.capabilities }
}
