import type { Static } from '@sinclair/typebox'
import type {
  AttemptDetail as PortAttemptDetail, AttemptError as PortAttemptError, Delivery as PortDelivery, DeliverySortField,
  DeliveryWithAttempts as PortDeliveryWithAttempts, FilterValue
} from '../ports/index.js'
import { pagingQuery } from '../shared/paging.js'
import { DateTime, DateTimeOf, Nullable, OneOf, Type } from '../shared/typebox.js'
import { eventIdExample } from './events.js'
import { filterValueTypes } from './parameters.js'
import { NoBody, operation } from './operation.js'

const bodyExample = JSON.stringify({
  id: eventIdExample,
  type: 'application.created',
  timestamp: '2026-03-01T09:30:00.000Z',
  sequence: '1772357400000000',
  tenant_slug: 'acme',
  data: { id: 1 }
})

const DeliveryStatus = OneOf(['pending', 'delivered', 'failed', 'skipped', 'cancelled'], {
  description: 'failed: no attempts left; skipped: the webhook was not active; cancelled: the webhook was deleted'
})

export const AttemptError = Type.Unsafe<PortAttemptError | null>(Nullable(Type.String({
  description: 'timeout, connection, tls, blocked or http_status; null after a success',
  examples: ['http_status']
})))

/** The causes of `connection` and `tls`, as the end of a sentence. */
export const attemptDetails: Readonly<Record<PortAttemptDetail, string>> = {
  certificate_expired: 'the certificate has expired',
  certificate_not_yet_valid: "the certificate's start date is in the future",
  certificate_wrong_name: 'the certificate is for another name',
  certificate_self_signed: 'the certificate is self-signed',
  certificate_incomplete: 'an intermediate certificate is missing',
  certificate_untrusted: 'the certificate is not from a public authority, or not one for servers',
  client_certificate_required: 'the server asks for a client certificate',
  tls_version: 'the server only has a version of TLS before 1.2',
  tls_rejected: 'the server rejected the TLS handshake',
  tls_missing: 'the port answers without TLS',
  http2_only: 'the server does not accept HTTP/1.1',
  unknown_host: 'the host name cannot be resolved',
  refused: 'nothing listens on the port',
  reset: 'the server closed the connection before it answered',
  unreachable: 'there is no route to the address',
  invalid_response: 'the answer is not valid HTTP/1.1'
}

export const AttemptDetail = Type.Unsafe<PortAttemptDetail | null>(Nullable(Type.String({
  description:
    `The cause of tls or connection: ${Object.keys(attemptDetails).join(', ')}; null if it is unknown, and for other errors`,
  examples: [null]
})))

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
  detail: AttemptDetail,
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
  detail: AttemptDetail,
  response_excerpt: Nullable(Type.String({
    description: 'The beginning of the response, if the vendor stores it and it is uncompressed text',
    examples: ['{"error":"database is down"}']
  }))
}, { title: 'Attempt' })

/** A delivery with its body and its attempts. */
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

/** A delivery with its body and its attempts, as storages return it. */
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

export const explanations = [
  'delivered', 'failed', 'pending', 'paused', 'suspended', 'held', 'inactive', 'erased', 'unknown_event',
  'before_webhook', 'not_subscribed', 'about_itself', 'filtered', 'changed_since', 'unknown'
] as const

const valueTypes = ['string', 'number', 'boolean', 'null', 'missing', 'object', 'array'] as const

const Mismatch = Type.Object({
  path: Type.String({ examples: ['data.job_id'] }),
  expected: Type.Array(Type.Unsafe<FilterValue>({ type: filterValueTypes }), { examples: [[1, 7]] }),
  value: Type.Unsafe<FilterValue>({
    type: filterValueTypes,
    description: 'Up to 255 characters. null for an object or array, and for callers that cannot read bodies',
    examples: [3]
  }),
  value_type: OneOf(valueTypes)
}, { title: 'FilterMismatch' })

export const Explanation = Type.Object({
  event_id: Type.String({ examples: [eventIdExample] }),
  event_type: Nullable(Type.String({ description: 'null for an unknown event', examples: ['application.created'] })),
  reason: OneOf(explanations, {
    description:
      'delivered, failed: the state of `delivery`; pending: waits for its next attempt; paused, suspended, held: waits ' +
      'with the other deliveries; inactive: the webhook was not active, or the delivery was skipped; erased: the data ' +
      'of its subject was erased; unknown_event: no event with this id is stored; before_webhook: older than the ' +
      'webhook; not_subscribed: the webhook does not subscribe to its type; about_itself: the event is about this ' +
      'webhook; filtered: `filter` does not match; changed_since: it matches now, but the webhook was changed after ' +
      'the event; unknown: none of these'
  }),
  filter: Nullable(Mismatch),
  until: Nullable(DateTimeOf(
    'When the delivery is attempted, or its pause ends; null if it does not wait or that is unknown'
  )),
  delivery: Nullable(Delivery)
}, { title: 'Explanation' })

export type Explanation = Static<typeof Explanation>

export const ExplainQuery = Type.Object({
  event_id: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the event', examples: [eventIdExample] })
}, { additionalProperties: false })

/** The operations on deliveries by their names in `app.recruiting.webhooks`. */
export const deliveryOperations = {
  /** Lists a webhook's deliveries, like `GET /webhooks/:id/deliveries`. Throws `not_found` for an unknown webhook. */
  listDeliveries: operation({
    operationId: 'listWebhookDeliveries',
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    tag: 'deliveries',
    summary: 'List the deliveries of a webhook',
    description:
      'Returns the delivery log, newest first unless `sort` is given. It does not contain test notifications.',
    input: DeliveryQuery,
    item: Delivery,
    shape: 'log',
    results: { 200: 'A page of deliveries' },
    resource: 'webhook'
  }),
  /**
   * Returns a delivery with its attempts, like `GET /webhooks/:id/deliveries/:delivery_id`; `null` if it does not
   * exist.
   */
  findDelivery: operation({
    operationId: 'getWebhookDelivery',
    method: 'GET',
    path: '/webhooks/:id/deliveries/:delivery_id',
    tag: 'deliveries',
    summary: 'Get a delivery with its body and its attempts',
    description: "Attempts show the beginning of your endpoint's response only if the vendor stores it.",
    item: DeliveryWithAttempts,
    shape: 'one',
    results: { 200: 'The delivery' },
    withoutBodies: { item: DeliveryForSessions, hide: hideBodies },
    resource: 'delivery',
    hasBody: true
  }),
  /**
   * Explains why a webhook got an event or not, like `GET /webhooks/:id/explain`; `null` if the webhook does not exist.
   */
  explain: operation({
    operationId: 'explainWebhookDelivery',
    method: 'GET',
    path: '/webhooks/:id/explain',
    tag: 'deliveries',
    summary: 'Explain why a webhook got an event or not',
    description: 'Compares the event with the webhook as it is now.',
    input: ExplainQuery,
    item: Explanation,
    shape: 'one',
    results: { 200: 'The reason' },
    withoutBodies: { hide: hideValue },
    resource: 'webhook'
  }),
  /** Retries a delivery, like `POST /webhooks/:id/deliveries/:delivery_id/retry`. */
  retryDelivery: operation({
    operationId: 'retryWebhookDelivery',
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery_id/retry',
    tag: 'deliveries',
    summary: 'Retry a delivery',
    description:
      'Sends a finished delivery again, as a new delivery. A pending delivery becomes due now, and uses an attempt ' +
      'of its schedule. A delivery in flight does not change.',
    input: NoBody,
    item: Delivery,
    shape: 'one',
    results: { 202: 'The delivery that will be attempted' },
    capabilities: ['replay'],
    resource: 'delivery',
    hints: { destructive: false, openWorld: true },
    isAtomic: true
  })
}

function hideValue (item: unknown): Explanation {
  const { filter, ...explanation } = item as Explanation
  return { ...explanation, filter: filter && { ...filter, value: null } }
}

function hideBodies (item: unknown): Static<typeof DeliveryForSessions> {
  const delivery = item as DeliveryWithAttempts
  const attempts = delivery.attempts.map((attempt) => ({ ...attempt, response_excerpt: null }))
  return { ...delivery, body: null, attempts }
}
