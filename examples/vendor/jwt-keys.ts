import type { KeyLookup } from 'fastify-recruiting-api'
import { errors, jwtVerify } from 'jose'

/** What tells a token that was revoked before it expired. */
export type IsRevoked = (tokenId: string) => Promise<boolean> | boolean

/**
 * Takes for an API key a JWT that the vendor signs: `aud` is the tenant, `jti` the key's id, `scope` its scopes. Nothing
 * is looked up but whether it was revoked.
 */
export function jwtKeyLookup (secret: Uint8Array, issuer: string, isRevoked: IsRevoked): KeyLookup {
  return async ({ tenantSlug, key }) => {
    const claims = await readClaims(key)
    // The library takes an array of audiences too, and of these any: a key is for exactly one tenant.
    if (claims === null || claims.aud !== tenantSlug || typeof claims.jti !== 'string') return null
    if (await isRevoked(claims.jti)) return null
    return { id: claims.jti, scopes: typeof claims.scope === 'string' ? claims.scope.split(' ').filter(Boolean) : [] }
  }

  // Whatever is wrong with a token makes it no key. Anything else is a failure: 500.
  async function readClaims (token: string) {
    try {
      const { payload } = await jwtVerify(token, secret, { issuer, algorithms: ['HS256'], requiredClaims: ['exp'] })
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }
}
