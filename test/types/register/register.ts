import type { FastifyInstance } from 'fastify'
import 'fastify-recruiting-api'

/* Compiled together with examples/06-typed-events.ts alone, for `Register` is one for a whole program. */

export async function registeredEvents ({ recruiting }: FastifyInstance): Promise<void> {
  await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1, currency: 'EUR' } })
  // @ts-expect-error data of another shape
  await recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 'one', currency: 'EUR' } })
  // @ts-expect-error an event of the catalogue that was replaced
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
}
