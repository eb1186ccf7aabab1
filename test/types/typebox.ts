import { Type as Type034 } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { FastifyPluginAsyncTypebox } from 'type-provider-typebox-6'
import { type Static, Type } from 'typebox'
import { type EventData, type RecruitingApiOptions, type RecruitingStorage, type WebhookEvent, createRecruiting, defineList } from '../../src/index.js'
import type { StaticOf } from '../../src/core/shared/typebox.js'
import { recordEvents } from '../../src/tools/testing/index.js'

/* Compiled by `npm run types`: each @ts-expect-error fails unless the next line is invalid. Both TypeBoxes fit. */

const old = { 'offer.signed': Type034.Object({ id: Type034.Integer(), note: Type034.Optional(Type034.String()) }) }
const events = { 'offer.signed': Type.Object({ id: Type.Integer(), note: Type.Optional(Type.String()) }) }
const signed = { tenantSlug: 'acme', type: 'offer.signed' } as const

/** `emit` and recorders infer the data. A catalogue can contain schemas of both packages. */
export async function emits (storage: RecruitingStorage): Promise<Array<[number, string?]>> {
  const recruiting = createRecruiting({ storage, events })
  await recruiting.emit({ ...signed, data: { id: 1 } })
  await recruiting.emit({ ...signed, data: { id: 1, note: 'x' } })
  // @ts-expect-error data of another type
  await recruiting.emit({ ...signed, data: { id: 'one' } })
  // @ts-expect-error no id
  await recruiting.emit({ ...signed, data: { note: 'x' } })
  // @ts-expect-error an optional field of another type
  await recruiting.emit({ ...signed, data: { id: 1, note: 2 } })
  const mixed = createRecruiting({ storage, events: { ...old, 'offer.sent': Type.Object({ to: Type.String() }) } })
  await mixed.emit({ ...signed, data: { id: 1 } })
  // @ts-expect-error the data of another event
  await mixed.emit({ ...signed, type: 'offer.sent', data: { id: 1 } })
  return recordEvents({ events }).of('offer.signed').map(({ data: { id, note } }) => note === undefined ? [id] : [id, note])
}

// @ts-expect-error not a schema of TypeBox
export const unmarked: RecruitingApiOptions['candidateFields'] = { type: 'object', properties: {} }
// @ts-expect-error not an object
export const text: RecruitingApiOptions['jobFields'] = Type.String()
// @ts-expect-error not an object
createRecruiting({ storage: {} as RecruitingStorage, events: { 'offer.signed': Type.String() } })

export const fields: Array<Pick<RecruitingApiOptions, 'candidateFields' | 'jobFields'>> = [
  {
    candidateFields: Type.Object({ email: Type.Optional(Type.String()) }),
    jobFields: Type034.Object({ city: Type034.String() })
  },
  { candidateFields: Type034.Object({ email: Type034.String() }), jobFields: Type.Object({ city: Type.String() }) }
]

const rows = defineList(Type.Object({ id: Type.Integer(), name: Type.String() }), {
  sort: ['id', 'name'],
  filters: { stage: Type.Enum(['applied', 'offer']), job_id: Type.Integer(), team: Type034.String() }
})

const handlers: FastifyPluginAsync = async (app) => {
  app.get('/rows', { config: { scopes: [] }, schema: { querystring: rows.query, response: { 200: rows.page } } }, (request, reply) => rows.read(request, reply, {
    async list (_tenantSlug: string, { filter: { stage, job_id: jobId, team } }) {
      const known: [stage?: 'applied' | 'offer', jobId?: number, team?: string] = [stage ?? 'offer', jobId ?? 1, team ?? '']
      return [{ id: 1, name: known.join() }]
    },
    count: async () => 1
  }))
  // @ts-expect-error rows without a name
  app.get('/ids', {}, (request, reply) => rows.read(request, reply, { list: async () => [{ id: 1 }], count: async () => 1 }))
}

/** A list also fits routes with the type provider of `typebox`. */
const typed: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/rows', { config: { scopes: [] }, schema: { querystring: rows.query, response: { 200: rows.page } } }, (request, reply) => rows.read(request, reply, {
    list: async () => [{ id: 1, name: '' }], count: async () => 1
  }))
}

/** `routes` accepts plugins with either type provider, and infers an inline plugin from schemas of both. */
export const options: Array<Pick<RecruitingApiOptions, 'routes'>> = [
  { routes: handlers },
  { routes: typed },
  {
    async routes (app) {
      const Next = Type.Object({ next: Type.Integer() })
      const schema = {
        params: Type034.Object({ id: Type034.Integer() }),
        querystring: Type.Object({ limit: Type.Integer() }),
        response: { 200: Next }
      }
      app.get('/a/:id', { config: { scopes: [] }, schema }, async ({ params, query }) => ({ next: params.id + query.limit }))
      // @ts-expect-error a response of another type
      app.get('/b/:id', { config: { scopes: [] }, schema }, async () => ({ next: 'x' }))
    }
  }
]

/** Receivers and handlers get the same types from both packages. */
export const received: WebhookEvent<typeof events> = {
  id: 'evt_1', type: 'offer.signed', timestamp: '2026-01-01T00:00:00.000Z', sequence: '1', tenant_slug: 'acme', data: { id: 1 } satisfies EventData<typeof old, 'offer.signed'>
}

const Address = Type.Object({ street: Type.String(), zip: Type.Optional(Type.Union([Type.String(), Type.Null()])) })

/** Every JSON type. */
export const Everything = Type.Object({
  any: Type.Unknown(),
  array: Type.Array(Address),
  boolean: Type.Boolean(),
  enum: Type.Enum(['a', 'b', 3]),
  integer: Type.Integer({ minimum: 1 }),
  intersect: Type.Intersect([Address, Type.Object({ city: Type.String() })]),
  literals: Type.Union([Type.Literal('a'), Type.Literal(2), Type.Literal(true)]),
  null: Type.Null(),
  number: Type.Number(),
  optional: Type.Optional(Type.Array(Type.String())),
  partial: Type.Partial(Address),
  picked: Type.Pick(Address, ['zip']),
  record: Type.Record(Type.String(), Type.Integer()),
  refined: Type.Refine(Type.String(), (value) => value !== ''),
  string: Type.String({ format: 'uuid' }),
  tuple: Type.Tuple([Type.String(), Type.Integer()]),
  unsafe: Type.Unsafe<'x' | 'y'>({ type: 'string' })
})

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false

/** The types equal those that `typebox` infers. */
export const everything: Same<StaticOf<typeof Everything>, Static<typeof Everything>> = true

/** `Type.Unsafe` of 1.1. */
export const unsafe: Same<StaticOf<{ '~kind': 'Unsafe', '~hint': 'x' }>, 'x'> = true

/** Non-JSON types and references are `unknown`: they accept every value. */
type Others = StaticOf<ReturnType<typeof Type.BigInt>> | StaticOf<ReturnType<typeof Type.Ref>>
export const others: Same<Others, unknown> = true
