// `app.recruiting.emit` typed by the vendor's own events: the compiler refuses a name or data that it would refuse.
//
// curl http://127.0.0.1:3000/offers -H 'Content-Type: application/json' -d '{"id":1,"currency":"EUR"}'

import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const events = {
  'offer.signed': Type.Object({ id: Type.Integer(), currency: Type.String() })
}

declare module 'fastify-recruiting-api' {
  interface Register { events: typeof events }
}

const app = Fastify({ logger: true })
await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]), events })

app.post<{ Body: { id: number, currency: string } }>('/offers', async ({ body: { id, currency } }) => {
  return app.recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id, currency } })
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
