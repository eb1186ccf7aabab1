import type { Static, TObject } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import { type Page, readPage } from '../../shared/paging.js'
import { type EventSchemas, splitEvent } from '../events/catalogue.js'
import type { EventType, EventTypeQuery } from '../schemas/event-type.js'

/** Lists the catalogue, as tenants see it. */
export interface EventTypes {
  listEventTypes (query: EventTypeQuery): Promise<Page<Static<typeof EventType>>>
}

/** Returns the list of a catalogue, which never changes. */
export function createEventTypes (events: EventSchemas): EventTypes {
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

function describeEvent ([name, declared]: [string, TObject]): Static<typeof EventType> {
  const { schema, deprecation, descriptions } = splitEvent(declared)
  const { description = null } = schema
  return { name, description, ...(descriptions === null ? {} : { descriptions }), schema, example: firstExample(schema), ...(deprecation === null ? {} : { deprecated: deprecation }) }
}

/** Returns the first example of an event's data; `null` without one. */
export function exampleOf (events: EventSchemas, type: string): object | null {
  const schema = events[type]
  return schema === undefined ? null : firstExample(schema)
}

function firstExample ({ examples: [example = null] = [] }: TObject): object | null {
  return example
}

/** Refuses an event type that is not in the catalogue. */
export function assertKnown (events: EventSchemas, field: string, type: string): void {
  if (!Object.hasOwn(events, type)) throw new Refusal(field, 'must be an event type of the catalogue')
}

/** Refuses a list with an event type that is not in the catalogue. */
export function assertAllKnown (events: EventSchemas, types: readonly string[]): void {
  for (const [index, type] of types.entries()) assertKnown(events, `event_types[${index}]`, type)
}
