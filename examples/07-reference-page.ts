// A reference page for your customers' developers, at http://127.0.0.1:3000/reference: Swagger UI shows the plugin's
// document. Its files come from the npm package swagger-ui-dist, so browsers load nothing from other servers.
//
// npm install swagger-ui-dist @fastify/static

import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import Fastify from 'fastify'
import { recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const app = Fastify({ logger: true })

await app.register(recruitingApi, {
  storage: memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ada Lovelace' }] } } }),
  keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read', 'jobs:read'] }])
})

// The page and its settings are in reference/; all other files belong to Swagger UI.
const files = [new URL('reference', import.meta.url), new URL('.', import.meta.resolve('swagger-ui-dist/package.json'))]
await app.register(fastifyStatic, {
  root: files.map((url) => fileURLToPath(url)),
  prefix: '/reference',
  redirect: true
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
