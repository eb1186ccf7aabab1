// Fastify's router rejects some requests before any plugin sees them. These lines respond in the API's error format.
//
// curl http://127.0.0.1:3000/api/v1/public/%zz/candidates

import Fastify, { type FastifyReply } from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const app = Fastify({
  logger: true,
  frameworkErrors (error, request, reply: FastifyReply) {
    if (!request.url.startsWith('/api/v1/public/')) return reply.send(error)
    const message = 'Validation failed for request payload'
    reply.code(400).send({ error: { code: 'bad_request', message, request_id: request.id } })
  }
})
await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]) })

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
