import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import recruitingApi, { type KeyLookup, type RecruitingStorage, createRecruiting, defaultEvents } from 'fastify-recruiting-api'

/*
 * Compiled together with examples/06-typed-events.ts alone, for `Register` is one for a whole program. Each
 * @ts-expect-error fails if what follows is no error.
 */

const Offer = Type.Object({ id: Type.Integer(), currency: Type.String() })

export async function registeredEvents ({ recruiting }: FastifyInstance): Promise<void> {
  await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, currency: 'EUR' } })
  // @ts-expect-error data of another shape
  await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 'one', currency: 'EUR' } })
  // @ts-expect-error an event of the catalogue that was replaced
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
}

/** The plugin takes the registered catalogue alone. */
export async function registrations (
  app: FastifyInstance, storage: RecruitingStorage, keyLookup: KeyLookup
): Promise<void> {
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.signed': Offer } })
  // @ts-expect-error no catalogue, which would be the default one
  await app.register(recruitingApi, { storage, keyLookup })
  // @ts-expect-error the default catalogue
  await app.register(recruitingApi, { storage, keyLookup, events: defaultEvents })
  // @ts-expect-error another catalogue
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.sent': Offer } })
  // @ts-expect-error one more event
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.signed': Offer, 'offer.sent': Offer } })
  // @ts-expect-error data of another shape
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.signed': Type.Object({ id: Type.String(), currency: Type.String() }) } })
}

/** An engine without a server has the catalogue that it is given. */
export async function standalone (storage: RecruitingStorage): Promise<void> {
  await createRecruiting({ storage }).emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await createRecruiting({ storage, events: { 'offer.signed': Offer } }).emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, currency: 'EUR' } })
  // @ts-expect-error an event that its catalogue, the default one, does not have
  await createRecruiting({ storage }).emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, currency: 'EUR' } })
}
