import type { EventFilters } from '../ports/index.js'
import { pagingQuery } from '../shared/paging.js'
import { DateTimeOf, Nullable, Type } from '../shared/typebox.js'
import { operation } from './operation.js'
import { filterRules, filtersExample, tokenQuery } from './parameters.js'

export const eventIdExample = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

const Deprecated = Type.Object(
  {
    since: DateTimeOf('When it was deprecated'),
    sunset: Nullable(DateTimeOf('When it will be removed; null if unknown')),
    link: Nullable(
      Type.String({ description: 'A page that describes the replacement', examples: ['https://example.com/changes'] })
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
        description: 'The description by language (BCP 47). Present only if the vendor sets it',
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
          description: 'An example of `data`, sent in test notifications; null if the schema has no valid example',
          additionalProperties: true,
          examples: [{ id: 1 }]
        }
      )
    ),
    deprecated: Type.Optional(Deprecated)
  },
  { title: 'EventType' }
)

const EventTypeQuery = Type.Object(pagingQuery(['name'], 'name'), { additionalProperties: false })

/** The query of the feed. An invalid token gets 410. */
const FeedQuery = Type.Object(
  {
    ...tokenQuery(
      '`next_token` of the previous page, with the same filter, or `events_token` of a sync. Omit it to begin with ' +
      'the oldest stored event, or send `now` to begin with new events',
      'now'
    ),
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Begins with the first event recorded at this time or later. Only without `token`',
        examples: ['2026-03-01T00:00:00Z']
      })
    ),
    'filter[event_type]': Type.Optional(
      Type.String({
        description: 'Only events of these types, separated by commas, at most 100',
        examples: ['application.created,application.hired']
      })
    ),
    'filter[data]': Type.Optional(
      Type.Unsafe<EventFilters>({
        type: 'object',
        ...filterRules,
        description: 'Only events whose data has these values, as JSON: the same object as `filters` of a webhook',
        examples: filtersExample
      })
    )
  },
  { additionalProperties: false }
)

/** A name in an event's `changed`. */
export const changedPattern = '^[^\\u0000-\\u001F\\u007F-\\u009F]{1,64}$'

export const Changed = Type.Optional(Type.Array(Type.String(), {
  description: 'The names of the fields of `data` that changed. Present only if the vendor names them',
  examples: [['stage_id']]
}))

export const Sequence = Type.String({
  description:
    'Compare it as text: of two events about the same record, the one with the greater sequence is newer. It stays the ' +
    'same in retries, in replays and after erasure',
  examples: ['1772357400000000']
})

export const Event = Type.Object(
  {
    id: Type.String({ description: 'The same as in webhook notifications', examples: [eventIdExample] }),
    type: Type.String({ examples: ['application.created'] }),
    timestamp: DateTimeOf('When it happened'),
    sequence: Sequence,
    tenant_slug: Type.String({ description: "The tenant's name when the event was recorded", examples: ['acme'] }),
    changed: Changed,
    data: Nullable(
      Type.Object(
        {},
        {
          description: "Described by the event type; null after the event's subject was erased",
          additionalProperties: true,
          examples: [{ id: 1 }]
        }
      )
    ),
    erased: Type.Optional(Type.Literal(true, { description: "Present only after the event's subject was erased" }))
  },
  { title: 'Event', description: 'An event as webhooks receive it' }
)

const description = [
  'Returns the events that webhooks receive. You need no webhook.',
  'Begin without `token` or with `now`. While `has_more` is true, send `next_token` as the next `token`. Store the ' +
    'last token to continue later: you get each event exactly once. A page can be empty.',
  'Events are in the order of their recording. Test notifications and replays are not listed.',
  'After a 410, begin again: the token is older than the oldest stored event, or not valid for this filter.'
].join(' ')

const common = {
  method: 'GET', tag: 'events', scopes: ['webhooks:read'], capabilities: ['bodies'], item: Event
} as const

export const eventOperations = {
  list: operation({
    ...common,
    operationId: 'listEvents',
    path: '/events',
    summary: 'Read the events, in order',
    description,
    input: FeedQuery,
    shape: 'follow',
    results: { 200: 'A page of events' }
  }),
  find: operation({
    ...common,
    operationId: 'getEvent',
    path: '/events/:id',
    summary: 'Get an event',
    description: 'Returns an event that is still stored, as `GET …/events` does.',
    params: Type.Object({ id: Type.String({ description: 'The id of the event', examples: [eventIdExample] }) }),
    shape: 'one',
    results: { 200: 'The event' },
    resource: 'event',
    hasBody: true
  })
}

/** Lists the catalogue. Not callable by code, because the host has the catalogue. */
export const eventTypeOperations = {
  listEventTypes: operation({
    operationId: 'listEventTypes',
    method: 'GET',
    path: '/event_types',
    tag: 'events',
    summary: 'List the event types',
    description:
      'Returns the events that a webhook can subscribe to, with the JSON Schema of their `data` and an example.',
    input: EventTypeQuery,
    item: EventType,
    shape: 'page',
    results: { 200: 'A page of event types' }
  })
}
