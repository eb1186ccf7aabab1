import type { Static } from '@sinclair/typebox'
import { pagingQuery } from '../../shared/paging.js'
import { DateTimeOf, Nullable } from '../../shared/schemas.js'
import { Type } from '../../shared/typebox.js'

/** An event id for examples in the document. */
export const eventIdExample = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

/** The body of a notification for examples in the document. */
export const bodyExample = JSON.stringify({
  id: eventIdExample,
  type: 'application.created',
  timestamp: '2026-03-01T09:30:00.000Z',
  tenant_slug: 'acme',
  data: { id: 1 }
})

const Deprecated = Type.Object(
  {
    since: DateTimeOf('Since when it should no longer be used'),
    sunset: Nullable(DateTimeOf('When it will be gone; null if that is not known')),
    link: Nullable(
      Type.String({ description: 'A page that says what to use instead', examples: ['https://example.com/changes'] })
    )
  },
  { title: 'DeprecatedEventType', description: 'Present only if the event is deprecated' }
)

/** An event that a webhook can subscribe to. */
export const EventType = Type.Object(
  {
    name: Type.String({ examples: ['application.created'] }),
    description: Nullable(Type.String({ examples: ['An application was created'] })),
    descriptions: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        description: 'Present only if the vendor sets them: the description by language (BCP 47)',
        additionalProperties: { type: 'string' },
        examples: [{ de: 'Eine Bewerbung wurde angelegt' }]
      })
    ),
    schema: Type.Object(
      {},
      { description: 'The JSON Schema of `data`', additionalProperties: true, examples: [{ type: 'object' }] }
    ),
    example: Nullable(
      Type.Object(
        {},
        {
          description: 'An example of `data`, which test notifications send; null if the schema has none that fits',
          additionalProperties: true,
          examples: [{ id: 1 }]
        }
      )
    ),
    deprecated: Type.Optional(Deprecated)
  },
  { title: 'EventType' }
)

/** The query of the list of event types. */
export const EventTypeQuery = Type.Object(pagingQuery(['name'], 'name'), { additionalProperties: false })

/** The query of the list of event types, with its defaults. */
export type EventTypeQuery = Static<typeof EventTypeQuery>
