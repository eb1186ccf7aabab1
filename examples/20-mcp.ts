// An MCP server for your customers' agents.
//
// npm install @modelcontextprotocol/server
// tsx examples/20-mcp.ts
//
// Clients connect to http://127.0.0.1:3000/api/v1/public/acme/mcp with the header Authorization: Bearer acme-secret-key.

import Fastify from 'fastify'
import { recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage: memoryStorage({ tenants: { acme: { jobs: [{ id: 1, name: 'Backend Engineer', status: 'published' }] } } }),
  keyLookup: memoryKeyLookup([
    { key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read', 'jobs:read'] }
  ]),
  // Agents read why an argument was rejected and try again.
  errorDetails: true,
  mcp: true
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
