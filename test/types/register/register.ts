import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import recruitingApi, { type KeyLookup, type RecruitingStorage, createRecruiting, defaultEvents } from 'fastify-recruiting-api'

/*
 * Compiled only with examples/06-typed-events.ts, because `Register` is global. Each @ts-expect-error fails unless the
 * next line is invalid.
 */

const Offer = Type.Object({ id: Type.Integer(), currency: Type.String() })

export async function registeredEvents ({ recruiting }: FastifyInstance): Promise<void> {
  await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, currency: 'EUR' } })
  // @ts-expect-error data of another shape
  await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 'one', currency: 'EUR' } })
  // @ts-expect-error only in the default catalogue
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
}

/** The plugin accepts only the registered catalogue. */
export async function registrations (
  app: FastifyInstance, storage: RecruitingStorage, keyLookup: KeyLookup
): Promise<void> {
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.signed': Offer } })
  // @ts-expect-error no catalogue, so the default one
  await app.register(recruitingApi, { storage, keyLookup })
  // @ts-expect-error the default catalogue
  await app.register(recruitingApi, { storage, keyLookup, events: defaultEvents })
  // @ts-expect-error another catalogue
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.sent': Offer } })
  // @ts-expect-error an additional event
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.signed': Offer, 'offer.sent': Offer } })
  // @ts-expect-error data of another shape
  await app.register(recruitingApi, { storage, keyLookup, events: { 'offer.signed': Type.Object({ id: Type.String(), currency: Type.String() }) } })
}

/** `createRecruiting` uses the catalogue that it gets. */
export async function standalone (storage: RecruitingStorage): Promise<void> {
  await createRecruiting({ storage }).emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await createRecruiting({ storage, events: { 'offer.signed': Offer } }).emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, currency: 'EUR' } })
  // @ts-expect-error not in the default catalogue
  await createRecruiting({ storage }).emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, currency: 'EUR' } })
}
