import { Type } from '@sinclair/typebox'
import type { Delivery as PortDelivery, DeliverySortField, DeliveryWithAttempts as PortDeliveryWithAttempts } from '../../ports/index.js'
import { pagingQuery } from './parameters.js'
import { DateTime, Nullable, OneOf, eventIdExample } from './types.js'

const DeliveryStatus = OneOf(['pending', 'delivered', 'failed', 'skipped', 'cancelled'], { description: 'failed: given up; skipped: the webhook was not active; cancelled: the webhook was deleted' })

const AttemptError = Nullable(Type.String({ description: 'timeout, connection, tls, blocked or http_status; null if it went well', examples: ['http_status'] }))

const fields = {
  id: Type.Integer({ examples: [1] }),
  event_id: Type.String({ description: 'The same at every retry and replay', examples: [eventIdExample] }),
  event_type: Type.String({ examples: ['application.created'] }),
  status: DeliveryStatus,
  attempt_count: Type.Integer({ minimum: 0, examples: [1] }),
  response_status: Nullable(Type.Integer({ description: 'Of the last attempt; null if it got no answer', examples: [503] })),
  error: AttemptError,
  next_attempt_at: Nullable(DateTime),
  created_at: DateTime,
  delivered_at: Nullable(Type.String({ format: 'date-time', examples: [null] }))
}

/** An item of the log of a webhook. */
export const Delivery = Type.Object(fields, { title: 'Delivery' })

/** A delivery as storages hand it out: what the schema of the same name describes. */
export type Delivery = PortDelivery

const Attempt = Type.Object({
  started_at: DateTime,
  duration_ms: Type.Integer({ minimum: 0, examples: [87] }),
  response_status: Nullable(Type.Integer({ examples: [503] })),
  error: AttemptError
}, { title: 'Attempt' })

/** One delivery of the log, with its attempts. */
export const DeliveryWithAttempts = Type.Object({
  ...fields,
  attempts: Type.Array(Attempt, { description: 'The first one first' })
}, { title: 'DeliveryWithAttempts' })

/** As storages hand it out. */
export type DeliveryWithAttempts = PortDeliveryWithAttempts

/** What `sort` may name. */
export const deliverySortFields: readonly DeliverySortField[] = ['id', 'created_at']

/** The query of the log of a webhook. */
export const DeliveryQuery = Type.Object({
  ...pagingQuery(deliverySortFields, '-id'),
  'filter[status]': Type.Optional(DeliveryStatus),
  'filter[event_type]': Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Only deliveries of events of this type', examples: ['application.created'] })),
  'filter[event_id]': Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Only deliveries of this event', examples: [eventIdExample] }))
}, { additionalProperties: false })
