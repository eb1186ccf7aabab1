import { Type } from '@sinclair/typebox'
import type { DeliverySortField } from '../../ports/index.js'
import { DateTime, Nullable, OneOf, pagingQuery } from './common.js'

export const DeliveryStatus = OneOf(['pending', 'delivered', 'failed', 'skipped', 'cancelled'], { description: 'failed: given up; skipped: the webhook was not active; cancelled: the webhook was deleted' })

const AttemptError = Nullable(Type.String({ description: 'timeout, connection, tls, blocked or http_status' }))

const fields = {
  id: Type.Integer(),
  event_id: Type.String(),
  event_type: Type.String(),
  status: DeliveryStatus,
  attempt_count: Type.Integer(),
  response_status: Nullable(Type.Integer()),
  error: AttemptError,
  next_attempt_at: Nullable(DateTime),
  created_at: DateTime,
  delivered_at: Nullable(DateTime)
}

export const Delivery = Type.Object(fields)

export const DeliveryWithAttempts = Type.Object({
  ...fields,
  attempts: Type.Array(Type.Object({
    started_at: DateTime,
    duration_ms: Type.Integer(),
    response_status: Nullable(Type.Integer()),
    error: AttemptError
  }))
})

export const deliverySortFields: readonly DeliverySortField[] = ['id', 'created_at']

export const DeliveryQuery = Type.Object({
  ...pagingQuery(deliverySortFields, '-id'),
  'filter[status]': Type.Optional(DeliveryStatus),
  'filter[event_type]': Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  'filter[event_id]': Type.Optional(Type.String({ minLength: 1, maxLength: 64 }))
}, { additionalProperties: false })
