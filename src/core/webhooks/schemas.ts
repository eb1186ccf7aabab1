import type { Static } from '@sinclair/typebox'
import type {
  Delivery as PortDelivery, DeliverySortField, DeliveryWithAttempts as PortDeliveryWithAttempts, EventFilters,
  Webhook as PortWebhook, WebhookHealth, WebhookSortField
} from '../ports/index.js'
import { pagingQuery } from '../shared/paging.js'
import { CreatedBy, DateTime, DateTimeOf, Nullable, OneOf, Type } from '../shared/typebox.js'

export const eventIdExample = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

const bodyExample = JSON.stringify({
  id: eventIdExample,
  type: 'application.created',
  timestamp: '2026-03-01T09:30:00.000Z',
  tenant_slug: 'acme',
  data: { id: 1 }
})

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

export const EventTypeQuery = Type.Object(pagingQuery(['name'], 'name'), { additionalProperties: false })

/** The query for the list of event types, with its defaults. */
export type EventTypeQuery = Static<typeof EventTypeQuery>

const WebhookStatus = OneOf(['active', 'inactive', 'disabled'], {
  description: 'The service sets disabled if the endpoint failed for too long or returned 410; clients cannot set it'
})

const clientStatuses = ['active', 'inactive'] as const

const eventTypesExample = ['application.created', 'application.hired']

const representation = {
  id: Type.Integer({ examples: [1] }),
  name: Type.String({ examples: ['CRM sync'] }),
  status: WebhookStatus,
  target_url: Type.String({ examples: ['https://hooks.example.com/recruiting'] }),
  event_types: Type.Array(Type.String(), { examples: [eventTypesExample] })
}

const ShownHeaders = Type.Unsafe<Record<string, null> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'null' },
  description: 'The names of its headers, each with null: values are never returned. null if it has none',
  examples: [{ 'X-Api-Key': null }]
})

const filtersExample = [{ 'data.job_id': [1, 7], 'data.stage': ['offer'] }]

const valueTypes = ['string', 'number', 'boolean', 'null']

const ShownFilters = Type.Unsafe<EventFilters | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'array', items: { type: valueTypes } },
  description: 'Its filters as given. null if it has none',
  examples: filtersExample
})

export const Webhook = Type.Object(
  {
    ...representation,
    headers: ShownHeaders,
    filters: ShownFilters,
    created_by: CreatedBy,
    created_at: DateTime,
    updated_at: DateTime
  },
  { title: 'Webhook' }
)

export type Webhook = PortWebhook

const Health = Type.Object(
  {
    failing_since: Nullable(DateTimeOf('When the first attempt since the last success failed')),
    failed_deliveries: Type.Integer({ minimum: 0, description: 'Deliveries given up since then', examples: [3] }),
    paused_until: Nullable(DateTimeOf('When its other deliveries resume; null unless the endpoint is paused')),
    disabled_reason: Nullable(
      OneOf(['gone', 'failing'], {
        description: 'Why the service disabled it. gone: the endpoint returned 410; failing: it failed for too long'
      })
    ),
    held: Type.Optional(
      Type.Literal(true, {
        description: 'Present only while the service sends no notifications at all, for example in a test installation'
      })
    )
  },
  { title: 'WebhookHealth' }
)

const GraceEnd = Nullable(
  DateTimeOf('Deliveries are also signed with the previous secret until then; null without a grace period')
)

/** A webhook by its id: with its health, and the end of the grace period of its previous secret. */
export const WebhookWithHealth = Type.Object(
  {
    ...Webhook.properties,
    health: Health,
    previous_secret_expires_at: GraceEnd
  },
  { title: 'WebhookWithHealth' }
)

/** A webhook with its health and the end of its grace period, as storages return them. */
export interface WebhookWithHealth extends PortWebhook {
  health: WebhookHealth & { held?: true }
  previous_secret_expires_at: string | null
}

const Secret = Type.String({
  description: 'whsec_ and base64; shown only in this response',
  examples: ['whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=']
})

export const CreatedWebhook = Type.Object(
  { ...representation, headers: Type.Optional(ShownHeaders), filters: Type.Optional(ShownFilters), secret: Secret },
  { title: 'CreatedWebhook' }
)

export const RotatedWebhook = Type.Object(
  { ...CreatedWebhook.properties, previous_secret_expires_at: GraceEnd },
  { title: 'RotatedWebhook' }
)

const webhookSortFields: readonly WebhookSortField[] = ['id', 'name', 'created_at', 'updated_at']

export const WebhookQuery = Type.Object({
  ...pagingQuery(webhookSortFields, 'id'),
  'filter[status]': Type.Optional(WebhookStatus)
}, { additionalProperties: false })

const upTo100 = { minItems: 1, maxItems: 100, uniqueItems: true }

const writable = {
  name: Type.String({
    minLength: 1,
    description: '1 to 255 characters after trimming, without control characters',
    examples: ['CRM sync']
  }),
  target_url: Type.String({
    maxLength: 2048,
    description: 'An absolute https URL on a public host name',
    examples: ['https://hooks.example.com/recruiting']
  }),
  event_types: Type.Array(Type.String(), {
    ...upTo100,
    description: 'Event types of the catalogue',
    examples: [eventTypesExample]
  })
}

const headers = Type.Optional(
  Type.Unsafe<Record<string, string> | null>({
    type: ['object', 'null'],
    maxProperties: 10,
    propertyNames: { pattern: '^[A-Za-z0-9-]{1,64}$' },
    additionalProperties: { type: 'string', maxLength: 1024, pattern: '^[!-~](?:[ -~]*[!-~])?$' },
    description:
      'Additional headers of each notification, such as those that a gateway in front of the endpoint needs: at most 10. ' +
      'Names are letters, digits and hyphens. Headers that the notification sets, such as Host, Content-Type or Webhook-Id, are rejected. ' +
      'Values are 1 to 1024 visible ASCII characters and spaces. New headers replace all existing ones; null removes them. ' +
      'Send them again with a new target_url, which otherwise removes them',
    examples: [{ 'X-Api-Key': 'key-of-your-gateway' }]
  })
)

const maxNumber = Number.MAX_SAFE_INTEGER

const filters = Type.Optional(
  Type.Unsafe<EventFilters | null>({
    type: ['object', 'null'],
    maxProperties: 10,
    propertyNames: {
      pattern: '^data(?:\\.[^.\\u0000-\\u001F\\u007F-\\u009F]{1,64}){1,4}$',
      description: 'data and 1 to 4 names joined by dots, such as data.job_id'
    },
    additionalProperties: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: { type: valueTypes, maxLength: 255, minimum: -maxNumber, maximum: maxNumber }
    },
    description:
      'Sends only events whose data has these values: an object of at most 10 paths, each with 1 to 50 values. The data must have one ' +
      'of the values, of the same type, at every path. A path is data and the names of up to 4 nested fields, such as data.job_id. Paths do not ' +
      'lead into arrays. A missing field counts as null. New filters replace all existing ones; null removes them',
    examples: filtersExample
  })
)

/** The options of `failing`, which the API does not offer. */
export const FailingQuery = Type.Object(
  { limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }) },
  { additionalProperties: false }
)

/** The body that creates a webhook. `WebhookOperations` checks the address. */
export const CreateWebhook = Type.Object({
  ...writable,
  status: OneOf(clientStatuses, { default: 'active' }),
  headers,
  filters
}, { title: 'CreateWebhook', additionalProperties: false })

/** A webhook to create with an existing secret, which the API does not offer. */
export const ImportWebhook = Type.Object(
  { ...CreateWebhook.properties, secret: Type.String() },
  { additionalProperties: false }
)

/** The body that updates a webhook, with at least one field. */
export const UpdateWebhook = Type.Partial(
  Type.Object({ ...writable, status: OneOf(clientStatuses), headers, filters }),
  {
    title: 'UpdateWebhook',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ status: 'inactive' }]
  }
)

export const RotateSecret = Type.Object({
  grace_period_seconds: Type.Integer({
    minimum: 0,
    maximum: 604800,
    default: 86400,
    description: 'Seconds for which deliveries are also signed with the previous secret'
  })
}, { title: 'RotateSecret', additionalProperties: false })

export const DispatchTest = Type.Object(
  {
    event_type: Type.Optional(
      Type.String({
        description: 'Default: the first type that the webhook subscribes to',
        examples: ['application.created']
      })
    )
  },
  { title: 'DispatchTest', additionalProperties: false }
)

export const TestResult = Type.Object(
  {
    id: Type.String({ description: "The event's id, which is not in the delivery log", examples: [eventIdExample] }),
    event_type: Type.String({ examples: ['application.created'] }),
    status: OneOf(['delivered', 'failed']),
    response_status: Nullable(Type.Integer({ examples: [204] })),
    duration_ms: Type.Integer({ minimum: 0, examples: [87] }),
    error: Nullable(
      Type.String({
        description:
          'timeout, connection, tls, blocked or http_status; held if the service sends nothing now; unavailable if the ' +
          'service could reach no endpoint, so try again later; null after a success',
        examples: [null]
      })
    )
  },
  { title: 'TestResult' }
)

export const PreviewWebhook = Type.Object(
  { event_types: writable.event_types, filters },
  { title: 'PreviewWebhook', additionalProperties: false }
)

export const WebhookPreview = Type.Object(
  {
    events: Type.Integer({ minimum: 0, maximum: 100, description: 'Recent events of these types', examples: [100] }),
    matching: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'How many of them match the filters',
      examples: [12]
    })
  },
  { title: 'WebhookPreview' }
)

const replayInclude = ['undelivered', 'all'] as const

export const Replay = Type.Object(
  {
    since: Type.Optional(DateTimeOf('Start of the period in which the events were recorded; default: 24 hours ago')),
    until: Type.Optional(DateTimeOf('End of the period; default: now')),
    event_types: Type.Optional(
      Type.Array(Type.String(), {
        ...upTo100,
        description: 'Only events of these types'
      })
    ),
    event_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        ...upTo100,
        description: 'Only these events; cannot be combined with since and until'
      })
    ),
    include: OneOf(replayInclude, {
      default: 'undelivered',
      description:
        'undelivered: events whose delivery failed or was skipped; all: every event that the webhook subscribes to'
    }),
    dry_run: Type.Boolean({
      default: false,
      description: 'true: returns 200 with the number of events that would be queued, and queues none'
    })
  },
  {
    title: 'Replay',
    additionalProperties: false,
    examples: [{ since: '2026-03-01T00:00:00.000Z', include: 'undelivered' }]
  }
)

export const ReplayResult = Type.Object(
  {
    webhook_id: Type.Integer({ examples: [1] }),
    include: OneOf(replayInclude),
    since: Nullable(DateTime),
    until: Nullable(DateTime),
    queued: Type.Integer({
      minimum: 0,
      description: 'Events that were queued, or would be without dry_run',
      examples: [3]
    }),
    truncated: Type.Boolean({
      description:
        'Whether more events may match: a call queues up to 10,000 events and reads up to 200,000, oldest first. ' +
        'Call again with a later `since`',
      examples: [false]
    })
  },
  { title: 'ReplayResult' }
)

const DeliveryStatus = OneOf(['pending', 'delivered', 'failed', 'skipped', 'cancelled'], {
  description: 'failed: no attempts left; skipped: the webhook was not active; cancelled: the webhook was deleted'
})

const AttemptError = Nullable(
  Type.String({
    description: 'timeout, connection, tls, blocked or http_status; null after a success',
    examples: ['http_status']
  })
)

const fields = {
  id: Type.Integer({ examples: [1] }),
  event_id: Type.String({ description: 'The same for every retry and replay', examples: [eventIdExample] }),
  event_type: Type.String({ examples: ['application.created'] }),
  status: DeliveryStatus,
  attempt_count: Type.Integer({ minimum: 0, examples: [1] }),
  response_status: Nullable(
    Type.Integer({ description: 'HTTP status of the last attempt; null without a response', examples: [503] })
  ),
  error: AttemptError,
  next_attempt_at: Nullable(DateTime),
  created_at: DateTime,
  delivered_at: Nullable(Type.String({ format: 'date-time', examples: [null] }))
}

export const Delivery = Type.Object(fields, { title: 'Delivery' })

export type Delivery = PortDelivery

const Attempt = Type.Object({
  started_at: DateTime,
  duration_ms: Type.Integer({ minimum: 0, examples: [87] }),
  response_status: Nullable(Type.Integer({ examples: [503] })),
  error: AttemptError,
  response_excerpt: Nullable(Type.String({
    description: 'The beginning of the response, if the vendor stores it and it is uncompressed text',
    examples: ['{"error":"database is down"}']
  }))
}, { title: 'Attempt' })

export const DeliveryWithAttempts = Type.Object({
  ...fields,
  body: Type.String({
    description: "The exact text that is sent. Its data is null after the event's subject was erased",
    examples: [bodyExample]
  }),
  attempts: Type.Array(Attempt, { description: 'Oldest first' })
}, { title: 'DeliveryWithAttempts' })

/** The same for an API with portal sessions. */
export const DeliveryForSessions = Type.Object(
  {
    ...DeliveryWithAttempts.properties,
    body: Nullable(
      Type.String({
        description: `${DeliveryWithAttempts.properties.body.description}. ` +
          'null only for portal sessions without the capability `bodies`',
        examples: [bodyExample]
      })
    )
  },
  { title: 'DeliveryWithAttempts' }
)

export type DeliveryWithAttempts = PortDeliveryWithAttempts

const deliverySortFields: readonly DeliverySortField[] = ['id', 'created_at']

export const DeliveryQuery = Type.Object(
  {
    ...pagingQuery(deliverySortFields, '-id'),
    'filter[status]': Type.Optional(DeliveryStatus),
    'filter[event_type]': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only deliveries of events of this type',
        examples: ['application.created']
      })
    ),
    'filter[event_id]': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Only deliveries of this event',
        examples: [eventIdExample]
      })
    )
  },
  { additionalProperties: false }
)
