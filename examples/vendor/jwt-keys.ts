import type { KeyLookup } from 'fastify-recruiting-api'
import { errors, jwtVerify } from 'jose'

/** Returns whether a token was revoked before it expired. */
export type IsRevoked = (tokenId: string) => Promise<boolean> | boolean

/**
 * Creates a key lookup for JWTs signed by the vendor: `aud` is the tenant, `jti` the key's id, `scope` its scopes. It
 * only queries whether a token was revoked.
 */
export function jwtKeyLookup (secret: Uint8Array, issuer: string, isRevoked: IsRevoked): KeyLookup {
  return async ({ tenantSlug, key }) => {
    const claims = await readClaims(key)
    // Compared here, because the library also accepts an array of audiences. A key is for exactly one tenant.
    if (claims === null || claims.aud !== tenantSlug || typeof claims.jti !== 'string') return null
    if (await isRevoked(claims.jti)) return null
    return { id: claims.jti, scopes: typeof claims.scope === 'string' ? claims.scope.split(' ').filter(Boolean) : [] }
  }

  // An invalid token is an unknown key. Other errors become a 500.
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
