import { type Static, Type } from '@sinclair/typebox'
import { pagingQuery } from '../../shared/paging.js'
import { Nullable } from '../../shared/schemas.js'

/** An event that a webhook can subscribe to. */
export const EventType = Type.Object({
  name: Type.String({ examples: ['application.created'] }),
  description: Nullable(Type.String({ examples: ['An application was created'] })),
  schema: Type.Object({}, { description: 'The JSON Schema of `data`', additionalProperties: true, examples: [{ type: 'object' }] }),
  example: Nullable(Type.Object({}, { description: 'An example of `data`', additionalProperties: true, examples: [{ id: 1 }] }))
}, { title: 'EventType' })

/** The query of the list of event types. */
export const EventTypeQuery = Type.Object(pagingQuery(['name'], 'name'), { additionalProperties: false })

/** The query of the list of event types, with its defaults. */
export type EventTypeQuery = Static<typeof EventTypeQuery>
