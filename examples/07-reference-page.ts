// A reference page for your customers' developers, at http://127.0.0.1:3000/reference/: Swagger UI over the document
// that the plugin serves. Its files come from the npm package swagger-ui-dist, so the page asks for nothing elsewhere.
//
// npm install swagger-ui-dist @fastify/static

import { dirname } from 'node:path'
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

// These three are the page: the files of Swagger UI, and in the place of its own settings the address of the document.
const files = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
await app.register(fastifyStatic, { root: files, prefix: '/reference/' })
app.get('/reference/swagger-initializer.js', (_request, reply) => reply.type('text/javascript').send(
  "SwaggerUIBundle({ dom_id: '#swagger-ui', url: '/api/v1/public/openapi.json', validatorUrl: null })"
))

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
