import type {
  Delivery as PortDelivery,
  DeliverySortField,
  DeliveryWithAttempts as PortDeliveryWithAttempts
} from '../../ports/index.js'
import { pagingQuery } from '../../shared/paging.js'
import { DateTime, Nullable, OneOf } from '../../shared/schemas.js'
import { bodyExample, eventIdExample } from './event-type.js'
import { Type } from '../../shared/typebox.js'

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

/** An item of the delivery log. */
export const Delivery = Type.Object(fields, { title: 'Delivery' })

/** A delivery as storages return it. */
export type Delivery = PortDelivery

const Attempt = Type.Object({
  started_at: DateTime,
  duration_ms: Type.Integer({ minimum: 0, examples: [87] }),
  response_status: Nullable(Type.Integer({ examples: [503] })),
  error: AttemptError,
  response_excerpt: Nullable(Type.String({
    description: 'The beginning of the response, if the vendor keeps it and it is text that is not compressed',
    examples: ['{"error":"database is down"}']
  }))
}, { title: 'Attempt' })

/** A delivery with its body and its attempts. */
export const DeliveryWithAttempts = Type.Object({
  ...fields,
  body: Type.String({
    description: 'The exact text that is sent. Once the subject of the event was erased, its data is null',
    examples: [bodyExample]
  }),
  attempts: Type.Array(Attempt, { description: 'Oldest first' })
}, { title: 'DeliveryWithAttempts' })

/** The same for an API that also has sessions of the portal. */
export const DeliveryForSessions = Type.Object(
  {
    ...DeliveryWithAttempts.properties,
    body: Nullable(
      Type.String({
        description: `${DeliveryWithAttempts.properties.body.description}. null only for sessions of the portal without the capability \`bodies\``,
        examples: [bodyExample]
      })
    )
  },
  { title: 'DeliveryWithAttempts' }
)

/** A delivery with its body and its attempts, as storages return it. */
export type DeliveryWithAttempts = PortDeliveryWithAttempts

/** Fields that `sort` accepts. */
const deliverySortFields: readonly DeliverySortField[] = ['id', 'created_at']

/** The query of the delivery log. */
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
