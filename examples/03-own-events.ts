// Your own events with schemas. The compiler checks each `emit`, and so does the plugin at run time.
//
// npm install typebox
// curl http://127.0.0.1:3000/interviews -H 'Content-Type: application/json' \
//   -d '{"id":1,"candidate_id":2,"starts_at":"2026-05-04T09:00:00Z"}'

import Fastify from 'fastify'
import { Type } from 'typebox'
import { type EventData, createRecruiting, isRecruitingApiError, recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const events = {
  'interview.scheduled': Type.Object(
    {
      id: Type.Integer(),
      candidate_id: Type.Integer(),
      starts_at: Type.String({ format: 'date-time' })
    },
    { description: 'An interview was scheduled' }
  ),
  'offer.signed': Type.Object(
    {
      id: Type.Integer(),
      salary: Type.Object({ amount: Type.Number({ minimum: 0 }), currency: Type.String() })
    },
    { description: 'An offer was signed' }
  ),
  // The document and the portal mark it as deprecated. It is still sent until you remove it.
  'offer.accepted': Type.Object(
    { id: Type.Integer() },
    { description: 'Use offer.signed', deprecated: { since: '2026-03-01', sunset: '2027-03-01' } }
  )
}

// The compiler checks the option `events` and `app.recruiting.emit` against this catalogue, in the whole program.
declare module 'fastify-recruiting-api' {
  interface Register { events: typeof events }
}

// The vendor's data: all customers' candidates.
const candidates = [{ tenant: 'acme', id: 2 }, { tenant: 'globex', id: 3 }]

const storage = memoryStorage()

// The server accepts webhooks for these events and delivers them.
const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage,
  events,
  keyLookup: memoryKeyLookup([
    { key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['webhooks:read', 'webhooks:write'] }
  ]),
  errorDetails: true,
  // Allows a receiver on this machine. Remove it in production.
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
})

// Another process could emit: with a shared storage, this part can run anywhere.
const recruiting = createRecruiting({ storage, events, delivery: false, logger: app.log })

// A route of the ATS itself: a recruiter of acme schedules an interview. A real route takes the tenant from the session
// and looks up every id within that tenant.
const tenantSlug = 'acme'
app.post<{ Body: EventData<typeof events, 'interview.scheduled'> }>('/interviews', async (request, reply) => {
  const isKnown = candidates.some(({ tenant, id }) => tenant === tenantSlug && id === request.body.candidate_id)
  if (!isKnown) {
    return reply.code(422).send({ field: 'candidate_id', message: 'candidate_id: must be the id of a candidate' })
  }
  try {
    return await recruiting.emit({
      tenantSlug,
      type: 'interview.scheduled',
      data: request.body,
      // Sending the form twice schedules one interview.
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
