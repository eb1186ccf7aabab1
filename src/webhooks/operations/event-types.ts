import type { Static, TObject } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import { type Page, readPage } from '../../shared/paging.js'
import type { EventCatalogue } from '../events/catalogue.js'
import type { EventType, EventTypeQuery } from '../schemas/event-type.js'

/** Lists the catalogue, as tenants see it. */
export interface EventTypes {
  listEventTypes (query: EventTypeQuery): Promise<Page<Static<typeof EventType>>>
}

/** Returns the list of a catalogue, which never changes. */
export function createEventTypes (events: EventCatalogue): EventTypes {
  // Names are ASCII, so this is the order of code points.
  const ascending = Object.entries(events).sort(([one], [other]) => one < other ? -1 : 1).map(describeEvent)
  return {
    listEventTypes: (query) => readPage<Static<typeof EventType>, null, 'name'>({
      async list ({ sort: [first], offset, limit }) {
        const sorted = first?.direction === 'desc' ? ascending.toReversed() : ascending
        return sorted.slice(offset, offset + limit)
      },
      count: async () => ascending.length
    }, query, null)
  }
}

function describeEvent ([name, schema]: [string, TObject]): Static<typeof EventType> {
  const { description = null, examples: [example = null] = [] } = schema
  return { name, description, schema, example }
}

/** Refuses an event type that is not in the catalogue. */
export function assertKnown (events: EventCatalogue, field: string, type: string): void {
  if (!Object.hasOwn(events, type)) throw new Refusal(field, 'must be an event type of the catalogue')
}

/** Refuses a list with an event type that is not in the catalogue. */
export function assertAllKnown (events: EventCatalogue, types: readonly string[]): void {
  for (const [index, type] of types.entries()) assertKnown(events, `event_types[${index}]`, type)
}
