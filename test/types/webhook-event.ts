import { type Static, Type } from '@sinclair/typebox'
import type { WebhookEvent } from '../../src/index.js'

/* Compiled by `npm run types`: each @ts-expect-error fails unless the next line is invalid. */

export const events = {
  'offer.signed': Type.Object({ amount: Type.Integer() }),
  'offer.sent': Type.Object({ to: Type.String() })
}

/** After a check for tombstones, the type determines the data. */
export function handle (event: WebhookEvent<typeof events>): number | string {
  // @ts-expect-error a tombstone has no data
  event.data.amount.toFixed()
  if (event.erased) return event.id
  return event.type === 'offer.signed' ? event.data.amount : event.data.to
}

const head = { id: 'evt_1', timestamp: '2026-01-01T00:00:00.000Z', sequence: '1', tenant_slug: 'acme' }

export const bodies: Array<WebhookEvent<typeof events>> = [
  { ...head, type: 'offer.signed', data: { amount: 1 } },
  { ...head, type: 'offer.sent', data: { to: 'x' } satisfies Static<typeof events['offer.sent']> },
  { ...head, type: 'offer.sent', data: { to: 'x' }, test: true },
  { ...head, type: 'offer.sent', data: null, erased: true },
  // @ts-expect-error the data of another event
  { ...head, type: 'offer.sent', data: { amount: 1 } },
  // @ts-expect-error the data of a test fits the schema
  { ...head, type: 'offer.sent', data: {}, test: true },
  // @ts-expect-error null without `erased`
  { ...head, type: 'offer.sent', data: null }
]

export const ofTheDefaultCatalogue: WebhookEvent = { ...head, type: 'application.created', data: { anything: 1 } }
// @ts-expect-error not in the catalogue
export const ofNoCatalogue: WebhookEvent = { ...head, type: 'application.eaten', data: {} }
