import { Refusal } from '../../errors.js'
import type { EventCatalogue } from '../events/catalogue.js'

/** Refuses an event type that is not in the catalogue. */
export function assertKnown (events: EventCatalogue, field: string, type: string): void {
  if (!Object.hasOwn(events, type)) throw new Refusal(field, 'must be an event type of the catalogue')
}

/** Refuses a list with an event type that is not in the catalogue. */
export function assertAllKnown (events: EventCatalogue, types: readonly string[]): void {
  for (const [index, type] of types.entries()) assertKnown(events, `event_types[${index}]`, type)
}
