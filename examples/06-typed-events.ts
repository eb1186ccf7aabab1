// Types `app.recruiting.emit` with your own events: the compiler rejects the names and data that `emit` would reject.
//
// curl -X POST http://127.0.0.1:3000/offers/1/sign

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

// The vendor's data: all customers' offers.
const offers = [{ tenant: 'acme', id: 1, currency: 'EUR' }, { tenant: 'globex', id: 2, currency: 'USD' }]

const app = Fastify({ logger: true })
await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]), events })

// A route of the ATS itself, for acme. A real route takes the tenant from the session.
const tenantSlug = 'acme'
app.post<{ Params: { id: string } }>('/offers/:id/sign', async ({ params }, reply) => {
  const offer = offers.find(({ tenant, id }) => tenant === tenantSlug && id === Number(params.id))
  if (offer === undefined) return reply.code(404).send()
  return app.recruiting.emit({ tenantSlug, type: 'offer.signed', data: { id: offer.id, currency: offer.currency } })
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
