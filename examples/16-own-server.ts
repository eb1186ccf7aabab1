// The API in a server with its own routes. The server's hook checks sessions and skips the API's requests.
//
// curl http://127.0.0.1:3000/dashboard -H 'Cookie: session=secret-session'
// curl http://127.0.0.1:3000/api/v1/public/acme/candidates -H 'Authorization: Bearer acme-secret-key'

import Fastify, { type FastifyRequest } from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

async function authenticate ({ headers }: FastifyRequest): Promise<void> {
  if (headers.cookie !== 'session=secret-session') throw Object.assign(new Error('Log in first'), { statusCode: 401 })
}

const app = Fastify({ logger: true })

app.addHook('onRequest', async (request) => {
  if (request.routeOptions.config.recruitingApi) return
  await authenticate(request)
})

app.get('/dashboard', async () => ({ welcome: true }))

await app.register(recruitingApi, {
  storage: memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ada Lovelace' }] } } }),
  keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read'] }])
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
