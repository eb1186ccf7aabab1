// An MCP server for assistants that sign in with OAuth: it accepts access tokens of your authorization server and API
// keys.
//
// npm install @modelcontextprotocol/server jose
// ISSUER=https://auth.example.com PUBLIC_URL=https://api.example.com tsx examples/21-mcp-oauth.ts

import Fastify from 'fastify'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { type KeyLookup, recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const {
  ISSUER: issuer = 'https://auth.example.com',
  PUBLIC_URL: publicUrl = 'https://api.example.com',
  PORT = '3000'
} = process.env
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
const findKey = memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['jobs:read'] }])

/** Accepts API keys, and access tokens (RFC 9068) that the issuer created for this tenant's server. */
const keyLookup: KeyLookup = async (credentials) => {
  const { tenantSlug, key } = credentials
  // A JWT has three parts.
  if (key.split('.').length !== 3) return findKey(credentials)
  try {
    const { payload } = await jwtVerify(key, keys, {
      issuer,
      // Without this, a token for one customer's server would work for every other.
      audience: [tenantSlug, encodeURIComponent(tenantSlug)].map((slug) => `${publicUrl}/api/v1/public/${slug}/mcp`),
      algorithms: ['RS256', 'ES256'],
      requiredClaims: ['sub', 'exp']
    })
    return { id: `user:${payload.sub}`, scopes: String(payload.scope ?? '').split(' ') }
  } catch (error) {
    // If the issuer's keys cannot be fetched, the response is 500: the token may be valid.
    if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) throw error
    return null
  }
}

const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage: memoryStorage({ tenants: { acme: { jobs: [{ id: 1, name: 'Backend Engineer', status: 'published' }] } } }),
  keyLookup,
  publicUrl,
  errorDetails: true,
  mcp: { authorizationServers: [issuer] }
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
await app.listen({ host: '127.0.0.1', port: Number(PORT) })
