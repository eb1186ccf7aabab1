// Events of the vendor's own, with the shape of their data: `emit` is checked by the compiler, and again when it runs.
//
// curl http://127.0.0.1:3000/interviews -H 'Content-Type: application/json' \
//   -d '{"id":1,"candidate_id":2,"starts_at":"2026-05-04T09:00:00Z"}'

import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { type EventData, createRecruiting, isRecruitingApiError, recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const events = {
  'interview.scheduled': Type.Object({
    id: Type.Integer(),
    candidate_id: Type.Integer(),
    starts_at: Type.String({ format: 'date-time' })
  }, { description: 'An interview was scheduled' }),
  'offer.signed': Type.Object({
    id: Type.Integer(),
    salary: Type.Object({ amount: Type.Number({ minimum: 0 }), currency: Type.String() })
  }, { description: 'An offer was signed' })
}

// The compiler checks the option `events` and `app.recruiting.emit` by this catalogue, throughout the program.
declare module 'fastify-recruiting-api' {
  interface Register { events: typeof events }
}

// What the vendor has: candidates of all its customers.
const candidates = [{ tenant: 'acme', id: 2 }, { tenant: 'globex', id: 3 }]

const storage = memoryStorage()

// The server: takes webhooks for these events and delivers them.
const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage,
  events,
  keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['webhooks:read', 'webhooks:write'] }]),
  errorDetails: true,
  // So that a receiver on this machine can be tried. Leave it out in production.
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
})

// What emits need not be what serves and delivers. With a storage that processes share, this part is one of its own.
const recruiting = createRecruiting({ storage, events, delivery: false, logger: app.log })

// A route of the ATS itself, where a recruiter of acme schedules an interview. A real one takes the tenant from who is
// signed in, and looks up every id of the request within that tenant.
const tenantSlug = 'acme'
app.post<{ Body: EventData<typeof events, 'interview.scheduled'> }>('/interviews', async (request, reply) => {
  const isKnown = candidates.some(({ tenant, id }) => tenant === tenantSlug && id === request.body.candidate_id)
  if (!isKnown) return reply.code(422).send({ field: 'candidate_id', message: 'candidate_id: must be the id of a candidate' })
  try {
    return await recruiting.emit({
      tenantSlug,
      type: 'interview.scheduled',
      data: request.body,
      // Somebody who sends the form twice schedules one interview.
      idempotencyKey: `interview-${request.body.id}`
    })
  } catch (error) {
    if (!isRecruitingApiError(error)) throw error
    return reply.code(422).send({ code: error.code, field: error.field, message: error.message })
  }
})

app.addHook('onClose', () => recruiting.close())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
